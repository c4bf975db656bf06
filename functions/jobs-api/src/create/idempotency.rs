//! `Idempotency-Key`: a client that heard no answer asks again and gets the job that it already has.

use axum::http::HeaderMap;
use longshore::problem::Problem;
use longshore_domain::ports::IdempotencyKey;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::request::JobRequest;
use crate::etag::hex;

/// The header of draft-ietf-httpapi-idempotency-key-header.
const HEADER: &str = "idempotency-key";

/// The longest key; it becomes part of a record's key.
const MAX_BYTES: usize = 255;

/// The client's key, if it sent one.
///
/// # Errors
/// 400 if it is none that can be kept.
pub(super) fn key(headers: &HeaderMap) -> Result<Option<String>, Problem> {
    let Some(value) = headers.get(HEADER) else { return Ok(None) };
    let text = value.to_str().unwrap_or_default().trim();
    if (1..=MAX_BYTES).contains(&text.len()) {
        return Ok(Some(text.to_owned()));
    }
    let detail = format!("Idempotency-Key is 1 to {MAX_BYTES} ASCII characters, a UUID for instance");
    Err(Problem::new(400, "invalid-idempotency-key", "Invalid idempotency key", detail))
}

/// The key with the hash of what came with it: the same for two bodies that mean the same.
pub(super) fn of_request(key: String, request: &JobRequest) -> IdempotencyKey {
    let meaning = json!({
        "jobType": request.job_type, "fileGuid": request.file, "options": request.options,
        "timeoutSeconds": request.timeout_s,
    });
    IdempotencyKey { key, request_hash: hex(&Sha256::digest(meaning.to_string())) }
}

/// The key came with another request before.
pub(super) fn key_reused() -> Problem {
    let detail = "this Idempotency-Key came with another request before; send a new key with a new request";
    Problem::new(422, "idempotency-key-reused", "Idempotency key reused", detail)
}

/// The key made a job that was deleted since. It stays taken: a client that repeats an old request by mistake does not
/// get back what was deleted on purpose.
pub(super) fn job_deleted() -> Problem {
    let detail = "the job of this Idempotency-Key was deleted; send a new key to create another job";
    Problem::new(409, "job-deleted", "The job was deleted", detail)
}
