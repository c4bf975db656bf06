//! `POST /api/uploads/{fileGuid}/complete`.

use longshore_domain::ports::MultipartOutcome;
use longshore_domain::ports::UploadStorage;
use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, PathText, Tenant};
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore_domain::parts::Part;
use longshore_domain::ports::{JobStore, TenantCounts};

use crate::openapi::{CompleteRefusals, FileGuidInPath, status_example};
use crate::read::state_response;
use crate::state::{UploadProgress, abandoned, completing, missing};
use crate::{UploadStatus, Uploads};

/// Maximum number of parts that a response lists; further ones are only counted.
const NAMED_PARTS: usize = 48;

/// Assembles the file once from the parts that S3 lists: 200, also for a repeated call. 409 while parts are missing.
/// The client's list of parts is not used.
#[utoipa::path(
    post,
    path = "/api/uploads/{fileGuid}/complete",
    operation_id = "completeUpload",
    tag = "uploads",
    summary = "Complete a multipart upload.",
    description = include_str!("complete.md").trim_ascii_end(),
    params(FileGuidInPath),
    responses(
        (
            status = 200,
            description = "The file is complete.",
            body = UploadStatus,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(status_example()),
        ),
        CompleteRefusals,
    ),
)]
pub(crate) async fn complete<S: JobStore + TenantCounts, P: UploadStorage>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    PathText(id): PathText,
) -> Answer {
    let upload = uploads.upload(&tenant, &id).await?;
    let (multipart, received) = match UploadProgress::read(&uploads.storage, &upload, (uploads.clock)()).await? {
        UploadProgress::Received => return Ok(state_response(upload, UploadProgress::Received)),
        UploadProgress::Waiting => {
            return Err(incomplete("the file has not been uploaded yet; upload it by a PUT to its URL").into());
        }
        UploadProgress::Completing(_) => return Err(completing().into()),
        UploadProgress::Abandoned => return Err(abandoned().into()),
        UploadProgress::InParts(multipart, received) => (multipart, received),
    };
    let missing = missing(&upload, &multipart, &received);
    if !missing.is_empty() {
        return Err(incomplete(describe(&missing)).into());
    }
    match uploads.storage.complete(&upload, &multipart, &received).await? {
        MultipartOutcome::Completed => {}
        // S3 may answer the second of two concurrent calls either way. The existence of the file shows if one of them
        // succeeded.
        MultipartOutcome::Gone | MultipartOutcome::Changed if uploads.storage.is_received(&upload).await? => {}
        MultipartOutcome::Gone => return Err(completing().into()),
        MultipartOutcome::Changed => {
            return Err(incomplete("a part was uploaded again in the meantime; complete the upload again").into());
        }
    }
    Ok(state_response(upload, UploadProgress::Received))
}

fn incomplete(detail: impl Into<String>) -> Problem {
    Problem::new(Kind::UploadIncomplete, detail)
}

/// Lists the numbers of missing parts, up to `NAMED_PARTS`.
fn describe(missing: &[Part]) -> String {
    let numbers: Vec<_> = missing.iter().take(NAMED_PARTS).map(|part| part.number.to_string()).collect();
    let more = match missing.len().saturating_sub(NAMED_PARTS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "parts are missing or have the wrong size: {}{more}; upload them, and complete the upload again",
        numbers.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use longshore_domain::parts::parts;

    use super::describe;

    #[test]
    fn the_first_of_many_missing_parts_are_listed() {
        let text = describe(&parts(200, 1).collect::<Vec<_>>());
        assert!(text.contains(": 1, 2, 3,") && text.contains(", 48 and 152 more;"), "{text}");
        let text = describe(&parts(48, 1).collect::<Vec<_>>());
        assert!(text.contains(", 48; upload"), "{text}");
    }
}
