//! Selects the destination of a request by its route.

use hyper::Request;

/// Routes of an API, each with a base URL.
pub(super) struct Routes {
    default: String,
    /// Routes with another destination, the most specific first.
    others: Vec<(String, String)>,
}

impl Routes {
    /// Creates routes that send all requests to one base URL.
    pub(super) fn new(default: String) -> Self {
        Self { default, others: Vec::new() }
    }

    /// Adds a route with another destination.
    pub(super) fn add(&mut self, pattern: &str, base: String) {
        self.others.push((pattern.to_owned(), base));
        // A literal segment takes precedence over a variable one, as in API Gateway.
        self.others.sort_by_key(|(pattern, _)| (pattern == "$default", pattern.matches('{').count()));
    }

    /// Returns the base URL for a request.
    pub(super) fn base_for<B>(&self, request: &Request<B>) -> &str {
        let call = format!("{} {}", request.method(), request.uri().path());
        self.others.iter().find(|(pattern, _)| matches(pattern, &call)).map_or(&self.default, |(_, base)| base)
    }
}

/// Returns true if a call matches a pattern, as `POST /api/jobs/7` matches `POST /api/jobs/{jobId}`. `$default` matches
/// every call.
fn matches(pattern: &str, call: &str) -> bool {
    if pattern == "$default" {
        return true;
    }
    let (mut pattern, mut call) = (pattern.split('/'), call.split('/'));
    loop {
        match (pattern.next(), call.next()) {
            (None, None) => return true,
            (Some(variable), Some(value)) if variable.starts_with('{') && !value.is_empty() => {}
            (Some(literal), Some(value)) if literal == value => {}
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_in_api_gateway() {
        for (pattern, call, expected) in [
            ("POST /api/jobs", "POST /api/jobs", true),
            ("POST /api/jobs", "GET /api/jobs", false),
            ("GET /api/jobs/{jobId}", "GET /api/jobs/7", true),
            ("GET /api/jobs/{jobId}", "GET /api/jobs/", false),
            ("GET /api/jobs/{jobId}", "GET /api/jobs/7/output", false),
            ("$default", "GET /", true),
        ] {
            assert_eq!(matches(pattern, call), expected, "{pattern} {call}");
        }
    }
}
