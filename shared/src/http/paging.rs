//! The parameters of every list, `limit` and `cursor`, and the link to its next page.

use std::ops::RangeInclusive;

use axum::http::header;
use axum::response::{AppendHeaders, IntoResponse, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde::Serialize;

use super::{QueryText, no_store};
use crate::field_error::FieldError;

/// Reads `limit`: a whole number within `range`, or `default` if it is missing. Appends an error to `errors` if it is
/// invalid.
pub fn limit(query: &QueryText, range: RangeInclusive<usize>, default: usize, errors: &mut Vec<FieldError>) -> usize {
    let Some(text) = query.get("limit") else { return default };
    if let Some(limit) = text.parse().ok().filter(|limit| range.contains(limit)) {
        return limit;
    }
    let detail = format!("limit must be a whole number from {} to {}", range.start(), range.end());
    errors.push(FieldError::new("/limit", "invalid_limit", detail));
    default
}

/// Reads `cursor` with `decode`; `None` if it is missing. Appends an error to `errors` if it cannot be decoded.
pub fn cursor<T>(query: &QueryText, errors: &mut Vec<FieldError>, decode: impl FnOnce(&str) -> Option<T>) -> Option<T> {
    let position = decode(query.get("cursor")?);
    errors.extend(position.is_none().then(bad_cursor));
    position
}

/// Encodes a position in a list as a cursor for clients: opaque, and safe within a URL.
pub fn encode_cursor(position: &str) -> String {
    URL_SAFE_NO_PAD.encode(position)
}

/// Returns the position of a client's cursor; `None` if the cursor is not valid.
pub fn decode_cursor(cursor: &str) -> Option<String> {
    String::from_utf8(URL_SAFE_NO_PAD.decode(cursor).ok()?).ok()
}

/// Returns the error of a cursor that no page of the list has returned.
pub fn bad_cursor() -> FieldError {
    let detail = "the cursor was not returned by a page of this list; start again without a cursor";
    FieldError::new("/cursor", "invalid_cursor", detail)
}

/// The characters that are percent-encoded in a query string: all but the unreserved ones of RFC 3986.
const RESERVED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Returns the query string with these parameters.
pub fn query_string(parameters: &[(&str, &str)]) -> String {
    let encode = |text| utf8_percent_encode(text, RESERVED);
    let query: Vec<_> = parameters.iter().map(|(name, value)| format!("{}={}", encode(name), encode(value))).collect();
    query.join("&")
}

/// Returns the `Link` header (RFC 8288) to the next page: the same list with these parameters.
pub fn next_link(path: &str, parameters: &[(&str, &str)]) -> String {
    format!("<{path}?{}>; rel=\"next\"", query_string(parameters))
}

/// Returns the response with a page, which is not cached, and the link to the next page.
pub fn answer(page: impl Serialize, next_link: Option<String>) -> Response {
    (AppendHeaders(next_link.map(|link| (header::LINK, link))), no_store(page)).into_response()
}

#[cfg(test)]
mod tests {
    use axum::extract::FromRequestParts;
    use axum::http::Request;

    use super::*;

    #[test]
    fn an_encoded_cursor_is_decoded() {
        assert_eq!(decode_cursor(&encode_cursor("1.a/b")).as_deref(), Some("1.a/b"));
        assert_eq!((decode_cursor("?"), decode_cursor("_w")), (None, None));
    }

    #[tokio::test]
    async fn a_cursor_that_cannot_be_decoded_is_an_error_and_a_missing_one_is_not() {
        let valid = format!("/?cursor={}", encode_cursor("1"));
        for (uri, expected, is_bad) in
            [("/", None, false), (valid.as_str(), Some(1), false), ("/?cursor=x", None, true)]
        {
            let (mut parts, ()) = Request::get(uri).body(()).unwrap().into_parts();
            let query = QueryText::from_request_parts(&mut parts, &()).await.unwrap();
            let mut errors = Vec::new();
            let position: Option<u32> = cursor(&query, &mut errors, |text| decode_cursor(text)?.parse().ok());
            assert_eq!((position, errors.contains(&bad_cursor())), (expected, is_bad), "{uri}");
        }
    }

    #[test]
    fn the_link_to_the_next_page_follows_rfc_8288() {
        let link = next_link("/api/jobs", &[("limit", "2"), ("cursor", "abc")]);
        assert_eq!(link, "</api/jobs?limit=2&cursor=abc>; rel=\"next\"");
        let link = next_link("/api/jobs", &[("metadata[a_b]", "\u{fc}&c=d> +%\"~")]);
        let query = "metadata%5Ba_b%5D=%C3%BC%26c%3Dd%3E%20%2B%25%22~";
        assert_eq!(link, format!("</api/jobs?{query}>; rel=\"next\""));
    }
}
