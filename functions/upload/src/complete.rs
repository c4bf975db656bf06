//! `POST /api/uploads/{fileGuid}/complete`.

use longshore_domain::ports::Completion;
use longshore_domain::ports::UploadPlaces;
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

/// Maximum count of part numbers named in a response; the rest are counted.
const NAMED_PARTS: usize = 48;

/// Assembles the file from the parts that S3 lists, once: 200, also when repeated. 409 while parts are missing. S3's
/// list decides, not the client's.
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
pub(crate) async fn complete<S: JobStore + TenantCounts, P: UploadPlaces>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    PathText(id): PathText,
) -> Answer {
    let upload = uploads.upload(&tenant, &id).await?;
    let (multipart, received) = match UploadProgress::read(&uploads.places, &upload, (uploads.clock)()).await? {
        UploadProgress::Received => return Ok(state_response(upload, UploadProgress::Received)),
        UploadProgress::Waiting => {
            return Err(incomplete("nothing was put under this upload yet; put the file first").into());
        }
        UploadProgress::Completing(_) => return Err(completing().into()),
        UploadProgress::Abandoned => return Err(abandoned().into()),
        UploadProgress::InParts(multipart, received) => (multipart, received),
    };
    let missing = missing(&upload, &multipart, &received);
    if !missing.is_empty() {
        return Err(incomplete(named(&missing)).into());
    }
    match uploads.places.complete(&upload, &multipart, &received).await? {
        Completion::Done => {}
        // S3 may answer the second of two concurrent calls either way. The existence of the file shows if one of them
        // succeeded.
        Completion::Gone | Completion::Changed if uploads.places.is_received(&upload).await? => {}
        Completion::Gone => return Err(completing().into()),
        Completion::Changed => {
            return Err(incomplete("a part was put again meanwhile; complete the upload again").into());
        }
    }
    Ok(state_response(upload, UploadProgress::Received))
}

fn incomplete(detail: impl Into<String>) -> Problem {
    Problem::new(Kind::UploadIncomplete, detail)
}

/// Lists the numbers of missing parts, up to `NAMED_PARTS`.
fn named(missing: &[Part]) -> String {
    let numbers: Vec<_> = missing.iter().take(NAMED_PARTS).map(|part| part.number.to_string()).collect();
    let more = match missing.len().saturating_sub(NAMED_PARTS) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!(
        "parts are missing or of another size: {}{more}; put them, and complete the upload again",
        numbers.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use longshore_domain::parts::parts;

    use super::named;

    #[test]
    fn of_many_missing_parts_some_are_named() {
        let reported = named(&parts(200, 1).collect::<Vec<_>>());
        assert!(reported.contains(": 1, 2, 3,") && reported.contains(", 48 and 152 more;"), "{reported}");
        let reported = named(&parts(48, 1).collect::<Vec<_>>());
        assert!(reported.contains(", 48; put"), "{reported}");
    }
}
