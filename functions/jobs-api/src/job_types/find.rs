//! The job type of a path, and the condition of a change.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::Failure;
use longshore::problem::{Kind, Problem};
use longshore_domain::ports::JobTypes;
use longshore_domain::registration::{StoredRegistration, TypeName};

use super::document::{JobTypeDocument, Reader};
use crate::etag;

/// Attempts of a change that other calls precede.
pub(super) const ATTEMPTS: usize = 10;

/// Returns the job type of a path.
///
/// # Errors
/// 404 if it does not exist. Names that cannot exist are not looked up.
pub(super) async fn find(store: &impl JobTypes, name: &str) -> Result<StoredRegistration, Failure> {
    let stored = match TypeName::parse(name) {
        Ok(name) => store.job_type(&name).await?,
        Err(_) => None,
    };
    Ok(stored.ok_or_else(|| Problem::not_found("job type"))?)
}

/// Returns the document and its tag.
///
/// # Errors
/// 404 for a state without any registration, which no store has.
pub(super) fn tagged(stored: &StoredRegistration, reader: Reader) -> Result<(JobTypeDocument, String), Problem> {
    let document = JobTypeDocument::new(stored, reader).ok_or_else(|| Problem::not_found("job type"))?;
    // A document of JSON values always serializes.
    let tag = etag::for_bytes(&serde_json::to_vec(&document).unwrap_or_default());
    Ok((document, tag))
}

/// Checks `If-Match` against the stored job type, which may be absent.
///
/// # Errors
/// 412 if no tag matches.
pub(super) fn check_match(headers: &HeaderMap, stored: Option<&StoredRegistration>) -> Result<(), Problem> {
    if !headers.contains_key(header::IF_MATCH) {
        return Ok(());
    }
    let tag = stored.map(|stored| tagged(stored, Reader::Operator)).transpose()?.map(|(_, tag)| tag);
    etag::check_tag(headers, tag.as_deref(), "job type")
}

/// Responds to a change with the stored job type.
pub(super) fn changed(status: StatusCode, stored: &StoredRegistration) -> Result<Response, Failure> {
    let (document, tag) = tagged(stored, Reader::Operator)?;
    let about = AppendHeaders([(header::CACHE_CONTROL, "no-store".to_owned()), (header::ETAG, tag)]);
    Ok((status, about, Json(document)).into_response())
}

/// Returns 503 for a change that other calls have preceded too often.
pub(super) fn overtaken() -> Problem {
    let detail = "other calls change this job type at the same moment; nothing was done; retry later";
    Problem::new(Kind::Unavailable, detail).retry_after(1)
}
