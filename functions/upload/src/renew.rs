//! `POST /api/uploads/{fileGuid}/url`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use longshore::http::{Answer, OptionalFields, PathText, Tenant};
use longshore::openapi::CacheNoStore;
use longshore_domain::parts::{Multipart, Part};
use longshore_domain::ports::{JobStore, PortResult, Upload};

use crate::openapi::{FileGuidInPath, RenewRefusals, part_example, upload_example};
use crate::standing::{Standing, abandoned, already_uploaded, missing};
use crate::wanted::{PartsRequest, wanted};
use crate::{PartDocument, PartsDocument, PromisedUpload, URL_SECONDS, UploadPlaces, Uploads};

/// The largest body: 200 parts with their checksums take 20 KiB.
const BODY_BYTES: usize = 64 * 1024;

/// URLs for the parts of a large upload, or another URL for one by one PUT whose first one has ended, or was lost: 200; 409
/// once the file is there. Of two URLs for one file S3 still takes one PUT; a part may be put again.
#[utoipa::path(
    post,
    path = "/api/uploads/{fileGuid}/url",
    operation_id = "renewUploadUrl",
    tag = "uploads",
    summary = "Ask for URLs for the same upload.",
    description = "For an upload by one PUT: another URL, for when the first one has ended before the PUT began. It signs the \
        same length, content type and checksum. Of two URLs for one upload S3 still takes one PUT.\n\n\
        For an upload in parts: a URL for each part that the body names, with its length and SHA-256 signed, so that S3 \
        refuses other bytes. Each PUT must begin before `expiresAt`; ask just before you put, for a few parts at a time. \
        Without a body: the parts that S3 does not have, or not in their size, without URLs.",
    params(FileGuidInPath),
    request_body(
        content = Option<PartsRequest>,
        description = "Up to 64 KiB, or nothing.",
        example = json!({ "parts": [{ "partNumber": 3, "sha256": "ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=" }] }),
    ),
    responses(
        (
            status = 200,
            description = "Put the file, or these parts of it, there.",
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
pub(crate) async fn renew<S: JobStore, P: UploadPlaces>(
    State(uploads): State<Arc<Uploads<S, P>>>,
    tenant: Tenant,
    PathText(id): PathText,
    OptionalFields(fields): OptionalFields<BODY_BYTES>,
) -> Answer {
    let upload = uploads.upload(&tenant, &id).await?;
    let wanted = wanted(fields, &upload)?;
    let document = match Standing::of(&uploads.places, &upload).await? {
        Standing::Received => return Err(already_uploaded().into()),
        Standing::Abandoned(_) => return Err(abandoned().into()),
        Standing::Waiting => PromisedUpload::Whole(uploads.signed(&upload).await?),
        Standing::InParts(multipart, received) => {
            let parts = match wanted {
                None => missing(&upload, &multipart, &received).into_iter().map(PartDocument::planned).collect(),
                Some(wanted) => uploads.signed_parts((&upload, &multipart), &wanted).await?,
            };
            PromisedUpload::InParts(PartsDocument::new(&upload, &multipart, parts.into_iter()))
        }
    };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}

impl<S: JobStore, P: UploadPlaces> Uploads<S, P> {
    /// URLs for parts, each with its SHA-256.
    async fn signed_parts(
        &self,
        of: (&Upload, &Multipart),
        wanted: &[(Part, String)],
    ) -> PortResult<Vec<PartDocument>> {
        let until = (self.clock)().plus_seconds(URL_SECONDS);
        let mut signed = Vec::with_capacity(wanted.len());
        for (part, sha256) in wanted {
            let url = self.places.part_url(of, *part, sha256, URL_SECONDS.unsigned_abs()).await?;
            signed.push(PartDocument::signed(*part, url, until));
        }
        Ok(signed)
    }
}
