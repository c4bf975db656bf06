//! Entity tags of job documents, and the comparison that saves a poll its body.

use axum::http::{HeaderMap, header};
use sha2::{Digest, Sha256};

use crate::JobDocument;

/// Bytes of a hash that stand in a tag: enough that no two documents of one job share it.
const TAG_BYTES: usize = 12;

/// The tag of a document. Rate, ETA and duration are left out, since they change by the clock alone, and the last says
/// nothing that the times do not; so it is a weak one.
pub(crate) fn of(document: &JobDocument) -> String {
    let lasting = JobDocument { items_per_second: 0, eta_seconds: None, duration_seconds: None, ..document.clone() };
    // A document of strings and numbers can always be written.
    let json = serde_json::to_vec(&lasting).unwrap_or_default();
    format!("W/\"{}\"", hex(&Sha256::digest(json)[..TAG_BYTES]))
}

/// Whether the client has the document of this tag already: `If-None-Match`, compared weakly.
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    let lists = headers.get_all(header::IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim).any(|known| known == "*" || opaque(known) == opaque(tag))
}

fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

/// Bytes in hexadecimal.
fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn tags_are_compared_weakly() {
        for (sent, expected) in [
            ("W/\"a\"", true),
            ("\"a\"", true),
            ("\"b\", W/\"a\"", true),
            ("*", true),
            ("\"b\"", false),
            ("a", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::IF_NONE_MATCH, HeaderValue::from_static(sent))]);
            assert_eq!(is_known(&headers, "W/\"a\""), expected, "{sent}");
        }
        assert!(!is_known(&HeaderMap::new(), "W/\"a\""));
    }
}
