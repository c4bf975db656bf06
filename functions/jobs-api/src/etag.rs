//! Entity tags of job documents: conditional reads (`If-None-Match`) and conditional changes (`If-Match`).

use axum::http::{HeaderMap, HeaderName, header};
use data_encoding::HEXLOWER;
use longshore::problem::{Kind, Problem};
use sha2::{Digest, Sha256};

use crate::jobs::document::JobDocument;

/// Bytes of the hash in a tag: enough that no two documents of one job share a tag.
const TAG_BYTES: usize = 12;

/// Returns the strong tag of a document. A document does not change with the clock alone, so the tag is a hash of its
/// bytes.
pub(crate) fn for_document(document: &JobDocument) -> String {
    // A document of strings and numbers always serializes.
    for_bytes(&serde_json::to_vec(document).unwrap_or_default())
}

/// Returns the strong tag of these bytes.
pub(crate) fn for_bytes(bytes: &[u8]) -> String {
    format!("\"{}\"", HEXLOWER.encode(&Sha256::digest(bytes)[..TAG_BYTES]))
}

/// Returns true if the client already has the document with this tag: `If-None-Match`, compared weakly.
pub(crate) fn is_known(headers: &HeaderMap, tag: &str) -> bool {
    tags_in(headers, &header::IF_NONE_MATCH).any(|known| known == "*" || opaque(known) == opaque(tag))
}

/// Checks that the job is the version that the client wants to change: `If-Match`, compared strongly (RFC 9110,
/// 13.1.1), so a weak tag never matches. Without the header, any version is accepted.
///
/// The write that follows is conditional on the same version ([`is_conditional`]). The only change that it misses is an
/// item that ends in between.
///
/// # Errors
/// 412 if no tag matches.
pub(crate) fn check_match(headers: &HeaderMap, document: &JobDocument) -> Result<(), Problem> {
    if !headers.contains_key(header::IF_MATCH) {
        return Ok(());
    }
    check_tag(headers, Some(&for_document(document)), "job")
}

/// Checks the same for any resource with this tag; `None` if it does not exist, which matches nothing.
///
/// # Errors
/// 412 if no tag matches.
pub(crate) fn check_tag(headers: &HeaderMap, tag: Option<&str>, resource: &str) -> Result<(), Problem> {
    if !headers.contains_key(header::IF_MATCH) {
        return Ok(());
    }
    if tag.is_some_and(|tag| tags_in(headers, &header::IF_MATCH).any(|sent| sent == "*" || sent == tag)) {
        return Ok(());
    }
    let detail =
        format!("the {resource} has changed since the response that If-Match names; read it again before you retry");
    Err(Problem::new(Kind::PreconditionFailed, detail))
}

/// Returns true if and only if the change applies only to the version that the client has seen: `If-Match` with tags.
pub(crate) fn is_conditional(headers: &HeaderMap) -> bool {
    headers.contains_key(header::IF_MATCH) && tags_in(headers, &header::IF_MATCH).all(|sent| sent != "*")
}

fn tags_in<'a>(headers: &'a HeaderMap, name: &HeaderName) -> impl Iterator<Item = &'a str> {
    let lists = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
    lists.flat_map(|list| list.split(',')).map(str::trim)
}

fn opaque(tag: &str) -> &str {
    tag.strip_prefix("W/").unwrap_or(tag)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;
    use crate::jobs::document::tests::{document, running};

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

    #[test]
    fn a_change_applies_only_to_the_version_that_the_client_has_read() {
        let document = document(&running());
        let tag = for_document(&document);
        let weak = format!("W/{tag}");
        for (sent, expected) in [
            (vec![], true),
            (vec!["*"], true),
            (vec![&*tag], true),
            (vec!["\"old\"", &*tag], true),
            (vec!["\"old\""], false),
            (vec![&*weak], false),
            (vec![""], false),
            (vec![tag.trim_matches('"')], false),
        ] {
            let value = |text: &&str| (header::IF_MATCH, HeaderValue::from_str(text).unwrap());
            let lines = sent.iter().map(value).fold(HeaderMap::new(), |mut lines, (name, value)| {
                lines.append(name, value);
                lines
            });
            assert_eq!(check_match(&lines, &document).is_ok(), expected, "{sent:?} in separate headers");
            if !sent.is_empty() {
                let line = HeaderMap::from_iter([value(&&*sent.join(" , "))]);
                assert_eq!(check_match(&line, &document).is_ok(), expected, "{sent:?} in one header");
            }
        }
    }
}
