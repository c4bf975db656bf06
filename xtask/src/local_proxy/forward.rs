//! Forwards a request and returns the answer unchanged: method, path, query, headers, body, status.

use super::request::Request;
use anyhow::Result;
use std::io::Write;
use std::time::Duration;
use ureq::http::{self, HeaderMap, HeaderName, Response, StatusCode};
use ureq::{Agent, Body};

/// Timeout of API Gateway, whatever the function does.
pub(super) const PATIENCE: Duration = Duration::from_secs(30);

/// Limit of an answer, above Lambda's own (6 MB).
const ANSWER_LIMIT: u64 = 64 * 1024 * 1024;

/// Hop-by-hop headers, which are not forwarded; each connection has its own.
const HOP_BY_HOP: [&str; 8] =
    ["connection", "content-length", "expect", "keep-alive", "proxy-connection", "te", "transfer-encoding", "upgrade"];

/// The destination of requests.
pub(crate) struct Upstream {
    base: String,
    /// Routes with another destination, the most specific first: see [`Upstream::with_route`].
    routes: Vec<(String, String)>,
    agent: Agent,
}

impl Upstream {
    /// Forwards everything below `base`. Each answer must arrive within `patience`.
    pub(crate) fn new(base: String, patience: Duration) -> Self {
        let config = Agent::config_builder()
            .proxy(None)
            .http_status_as_error(false)
            .max_redirects(0)
            .max_redirects_will_error(false)
            .allow_non_standard_methods(true)
            .timeout_global(Some(patience))
            .max_idle_connections_per_host(32)
            .user_agent("")
            .accept("")
            .accept_encoding("")
            .build();
        Self { base, routes: Vec::new(), agent: Agent::new_with_config(config) }
    }

    /// Forwards requests that match `pattern` (`GET /api/jobs/{jobId}`, as in template.yaml) below `base` instead of
    /// the default.
    pub(crate) fn with_route(mut self, pattern: &str, base: String) -> Self {
        self.routes.push((pattern.to_owned(), base));
        // A literal segment takes precedence over a variable one, as in API Gateway.
        self.routes.sort_by_key(|(pattern, _)| (pattern == "$default", pattern.matches('{').count()));
        self
    }

    /// Returns the complete answer to a request; `502` if the upstream does not answer.
    pub(super) fn forward(&self, request: &Request) -> Vec<u8> {
        self.try_forward(request).unwrap_or_else(|error| {
            eprintln!("{} {}: {error:#}", request.method, request.target);
            let body = br#"{"message":"Service Unavailable"}"#;
            let json = HeaderMap::from_iter([(
                http::header::CONTENT_TYPE,
                http::HeaderValue::from_static("application/json"),
            )]);
            write_answer(StatusCode::BAD_GATEWAY, &json, body).unwrap_or_default()
        })
    }

    fn try_forward(&self, request: &Request) -> Result<Vec<u8>> {
        let url = format!("{}{}", self.base_for(request), request.target);
        let mut outgoing = http::Request::builder().method(request.method.as_str()).uri(url);
        for (name, value) in &request.headers {
            if !HOP_BY_HOP.contains(&name.as_str()) {
                outgoing = outgoing.header(name, value);
            }
        }
        let mut answer = self.send(request, outgoing)?;
        let bodiless = request.method == "HEAD" || matches!(answer.status().as_u16(), 204 | 304);
        let body =
            if bodiless { Vec::new() } else { answer.body_mut().with_config().limit(ANSWER_LIMIT).read_to_vec()? };
        write_answer(answer.status(), answer.headers(), &body)
    }

    /// Sends a body only with methods that have one. No call of our API has a body with another method.
    fn send(&self, request: &Request, outgoing: http::request::Builder) -> Result<Response<Body>> {
        if matches!(request.method.as_str(), "POST" | "PUT" | "PATCH") {
            return Ok(self.agent.run(outgoing.body(request.body.as_slice())?)?);
        }
        Ok(self.agent.run(outgoing.body(())?)?)
    }

    fn base_for(&self, request: &Request) -> &str {
        let path = request.target.split('?').next().unwrap_or_default();
        let call = format!("{} {path}", request.method);
        self.routes.iter().find(|(pattern, _)| matches(pattern, &call)).map_or(&self.base, |(_, base)| base)
    }
}

/// Returns true if a call matches a pattern, as `POST /api/jobs/7` matches `POST /api/jobs/{jobId}`. `$default`
/// matches only calls without another match.
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

fn write_answer(status: StatusCode, headers: &HeaderMap, body: &[u8]) -> Result<Vec<u8>> {
    let mut answer = Vec::with_capacity(body.len() + 512);
    let reason = status.canonical_reason().unwrap_or("Unknown");
    write!(answer, "HTTP/1.1 {} {reason}\r\n", status.as_u16())?;
    for (name, value) in headers {
        if !is_hop_by_hop(name) {
            write!(answer, "{name}: ")?;
            answer.extend_from_slice(value.as_bytes());
            answer.extend_from_slice(b"\r\n");
        }
    }
    if !matches!(status.as_u16(), 204 | 304) {
        write!(answer, "content-length: {}\r\n", body.len())?;
    }
    answer.extend_from_slice(b"\r\n");
    answer.extend_from_slice(body);
    Ok(answer)
}

fn is_hop_by_hop(name: &HeaderName) -> bool {
    HOP_BY_HOP.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::matches;

    #[test]
    fn patterns_match_as_in_the_template() {
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
