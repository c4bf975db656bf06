//! `Idempotency-Key`: a client that got no response repeats the request and gets the result of the first one.

use axum::http::HeaderMap;
use data_encoding::HEXLOWER;
use longshore_domain::ports::IdempotencyKey;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::problem::{Kind, Problem};

/// The header as defined by draft-ietf-httpapi-idempotency-key-header.
const HEADER: &str = "idempotency-key";

/// Maximum length of a key; it becomes part of a record's key.
const MAX_BYTES: usize = 255;

/// Returns the client's key, if it sent one.
///
/// # Errors
/// 400 if the key cannot be stored.
pub fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if (1..=MAX_BYTES).contains(&text.len()) && !text.contains('\t') {
        return Ok(Some(text.to_owned()));
    }
    let detail = format!("Idempotency-Key must be 1 to {MAX_BYTES} ASCII characters, for example a UUID");
    Err(Problem::new(Kind::InvalidIdempotencyKey, detail))
}

/// Returns the key with the hash of its request's canonical form: equal for two bodies with the same meaning.
pub fn key_for_request(key: String, meaning: &Value, at: Timestamp) -> IdempotencyKey {
    let hash = Sha256::digest(meaning.to_string());
    IdempotencyKey { key, request_hash: HEXLOWER.encode(&hash), at }
}

/// 422: the key was used for another request.
pub fn key_reused() -> Problem {
    let detail = "this Idempotency-Key was used for another request; send a new key with a new request";
    Problem::new(Kind::IdempotencyKeyReused, detail)
}

/// 409: the key's job has been deleted. The key stays in use: a client that repeats an old request by mistake must
/// not recreate a job that was deleted on purpose.
pub fn job_deleted() -> Problem {
    let detail = "the job of this Idempotency-Key was deleted; send a new key to create another job";
    Problem::new(Kind::JobDeleted, detail)
}

#[cfg(test)]
mod tests {
    use axum::http::{HeaderMap, HeaderValue};
    use serde_json::json;

    use super::*;

    #[test]
    fn a_key_has_1_to_255_ascii_characters() {
        let parse = |text: &str| key(&HeaderMap::from_iter([("idempotency-key".parse().unwrap(), value(text))]));
        assert_eq!(parse(" 7c6f ").unwrap().as_deref(), Some("7c6f"));
        assert_eq!(key(&HeaderMap::new()).unwrap(), None);
        for bad in ["", " ", "\u{fc}", &"x".repeat(256)] {
            assert_eq!(parse(bad).unwrap_err().kind, Kind::InvalidIdempotencyKey, "{bad}");
        }
    }

    fn value(text: &str) -> HeaderValue {
        HeaderValue::from_bytes(text.as_bytes()).unwrap()
    }

    #[test]
    fn two_bodies_with_the_same_meaning_have_the_same_hash() {
        let hash = |meaning| key_for_request("k".into(), &meaning, Timestamp(0)).request_hash;
        assert_eq!(hash(json!({"a": 1, "b": 2})), hash(json!({"b": 2, "a": 1})));
        assert_ne!(hash(json!({"a": 1})), hash(json!({"a": 2})));
    }
}
