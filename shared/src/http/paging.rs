//! The parameters of every list, `limit` and `cursor`, and the link to its next page.

use std::ops::RangeInclusive;

use axum::Json;
use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::Serialize;

use super::QueryText;
use crate::problem::FieldError;

/// Reads `limit`: a whole number within `range`, or `default` if it is missing. Appends an error to `errors` if it is
/// invalid.
pub fn limit(query: &QueryText, range: RangeInclusive<usize>, default: usize, errors: &mut Vec<FieldError>) -> usize {
    let Some(text) = query.get("limit") else { return default };
    if let Some(limit) = text.parse().ok().filter(|limit| range.contains(limit)) {
        return limit;
    }
    let detail = format!("limit is a whole number from {} to {}", range.start(), range.end());
    errors.push(FieldError::new("/limit", "invalid_limit", detail));
    default
}

/// Encodes a position in a list for clients: opaque, and safe within a URL.
pub fn opaque(place: &str) -> String {
    URL_SAFE_NO_PAD.encode(place)
}

/// Returns the position that a client's cursor names; `None` if no page can have returned it.
pub fn place(cursor: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

/// Error: a cursor that no page of the list returned.
pub fn bad_cursor() -> FieldError {
    let detail = "the cursor was not returned by a page of this list; start again without one";
    FieldError::new("/cursor", "invalid_cursor", detail)
}

/// Returns the `Link` header (RFC 8288) to the next page: the same list with these parameters. The values need no
/// escaping.
pub fn next_link(path: &str, parameters: &[(&str, &str)]) -> String {
    let query: Vec<_> = parameters.iter().map(|(name, value)| format!("{name}={value}")).collect();
    format!("<{path}?{}>; rel=\"next\"", query.join("&"))
}

/// Answers with a page that no cache keeps, and with the link to the next page.
pub fn answer(page: impl Serialize, next_link: Option<String>) -> Response {
    let mut about = vec![(header::CACHE_CONTROL, "no-store".to_owned())];
    about.extend(next_link.map(|link| (header::LINK, link)));
    (AppendHeaders(about), Json(page)).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_reads_back() {
        assert_eq!(place(&opaque("1.a/b")).as_deref(), Some("1.a/b"));
        assert_eq!((place("?"), place("_w")), (None, None));
    }

    #[test]
    fn the_next_page_is_a_link_of_rfc_8288() {
        let link = next_link("/api/jobs", &[("limit", "2"), ("cursor", "abc")]);
        assert_eq!(link, "</api/jobs?limit=2&cursor=abc>; rel=\"next\"");
    }
}
