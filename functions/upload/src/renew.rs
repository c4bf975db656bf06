//! `POST /api/uploads/{fileGuid}/url`.

use longshore_domain::ports::UploadStorage;
use std::sync::Arc;

use axum::extract::State;
use longshore::http::{Answer, Fields, OptionalFields, PathText, Tenant, count_work_call, no_store};
use longshore::openapi::CacheNoStore;
use longshore::problem::Problem;
use longshore_domain::parts::parts;
use longshore_domain::ports::{JobStore, TenantCounts, Upload};

use crate::document::{PartDocument, PartsDocument, PromisedUpload};
use crate::function::{BODY_BYTES, Uploads};
use crate::openapi::{FileGuidInPath, RenewRefusals, part_example, upload_example};
use crate::requested_parts::{PartsRequest, list, read_parts};
use crate::state::{UploadProgress, abandoned, already_uploaded, completing, missing};
use longshore_domain::parts::PartChecksum;

/// Returns URLs for the parts of a large upload, or a new URL for an upload by one PUT whose first URL has expired or
/// was lost: 200. 409 once the file exists. S3 accepts one PUT regardless of the number of URLs; a part can be uploaded
/// again.
#[utoipa::path(
    post,
    path = "/api/uploads/{fileGuid}/url",
    operation_id = "renewUploadUrl",
    tag = "uploads",
    summary = "Get new URLs for an upload.",
    description = include_str!("renew.md").trim_ascii_end(),
    params(FileGuidInPath),
    request_body(
        content = Option<PartsRequest>,
        description = "Up to 64 KiB, or nothing.",
        example = json!({ "parts": [{ "partNumber": 3, "sha256": "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=" }] }),
    ),
    responses(
        (
            status = 200,
            description = "Instructions for uploading the file, or the requested parts.",
            body = PromisedUpload,
            headers(("Cache-Control" = inline(CacheNoStore))),
            examples(
                ("whole" = (summary = "One PUT", value = json!(upload_example()))),
                ("in-parts" = (summary = "A part", value = json!(part_example()))),
            ),
        ),
        RenewRefusals,
    ),
)]
pub(crate) async fn renew<S: JobStore + TenantCounts, P: UploadStorage>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    PathText(id): PathText,
    OptionalFields(fields): OptionalFields<BODY_BYTES>,
) -> Answer {
    let upload = uploads.upload(&tenant, &id).await?;
    let requested = read(fields, &upload)?;
    count_work_call(&uploads.store, &tenant.0, (uploads.clock)()).await?;
    let document = match UploadProgress::read(&uploads.storage, &upload, (uploads.clock)()).await? {
        UploadProgress::Received => return Err(already_uploaded().into()),
        UploadProgress::Completing(_) => return Err(completing().into()),
        UploadProgress::Abandoned => return Err(abandoned().into()),
        UploadProgress::Waiting => PromisedUpload::Whole(uploads.signed(&upload).await?),
        UploadProgress::InParts(multipart, received) => {
            let parts = match requested {
                None => missing(&upload, &multipart, &received).into_iter().map(PartDocument::planned).collect(),
                Some(requested) => uploads.signed_parts(&upload, &multipart, &requested).await?,
            };
            PromisedUpload::InParts(PartsDocument::new(&upload, &multipart, parts))
        }
    };
    Ok(no_store(document))
}

/// Returns the requested parts, or `None` if the request has no list.
fn read(mut fields: Fields, upload: &Upload) -> Result<Option<Vec<PartChecksum>>, Problem> {
    let parts = upload.multipart.iter().flat_map(|multipart| parts(upload.size_bytes, multipart.part_bytes));
    let parts: Vec<_> = parts.collect();
    let requested = fields.optional("parts", list).map(|list| read_parts(&mut fields, list, &parts));
    fields.finish().map(|()| requested)
}
