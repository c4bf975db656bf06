//! The parameters that every list has, `limit` and `cursor`, and the link to its next page.

use std::ops::RangeInclusive;

use super::QueryText;
use crate::problem::FieldError;

/// Reads `limit`: a whole number within `range`, or `default` if there is none. What is wrong goes into `errors`.
pub fn limit(query: &QueryText, range: RangeInclusive<usize>, default: usize, errors: &mut Vec<FieldError>) -> usize {
    let Some(text) = query.get("limit") else { return default };
    if let Some(limit) = text.parse().ok().filter(|limit| range.contains(limit)) {
        return limit;
    }
    let detail = format!("limit is a whole number from {} to {}", range.start(), range.end());
    errors.push(FieldError::new("/limit", "invalid_limit", detail));
    default
}

/// A cursor that no page of the list gave.
pub fn bad_cursor() -> FieldError {
    let detail = "the cursor is none that a page of this list gave; start again without one";
    FieldError::new("/cursor", "invalid_cursor", detail)
}

/// `Link` (RFC 8288) to the next page: the same list with these parameters. Their values hold nothing to be escaped.
pub fn next_link(path: &str, parameters: &[(&str, &str)]) -> String {
    let query: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("<{path}?{}>; rel=\"next\"", query.join("&"))
}

#[cfg(test)]
mod tests {
    use super::next_link;

    #[test]
    fn the_next_page_is_a_link_of_rfc_8288() {
        let link = next_link("/api/jobs", &[("limit", "2"), ("cursor", "abc")]);
        assert_eq!(link, "</api/jobs?limit=2&cursor=abc>; rel=\"next\"");
    }
}
