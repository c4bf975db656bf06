//! `GET /api/job-types/{name}`.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};
use longshore::http::{Answer, Operator, PathText, Tenant};
use longshore::openapi::{CacheNoCache, EntityTag};

use super::document::{JobTypeDocument, Reader};
use super::examples;
use super::find::{find, tagged};
use super::own;
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::parameters::{IfNoneMatchHeader, JobTypeInPath};
use crate::openapi::refusals::JobTypeRefusals;

/// Returns the job type; 304 if the client has it already.
#[utoipa::path(
    get,
    path = "/api/job-types/{name}",
    operation_id = "getJobType",
    tag = "job types",
    summary = "Read a registered job type.",
    description = "Every signed-in user can read names, descriptions, schemas, limits and the status. The target and the \
        reason of a refusal are for operators only.",
    params(JobTypeInPath, IfNoneMatchHeader),
    responses(
        (
            status = 200,
            description = "The job type.",
            body = JobTypeDocument,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoCache))),
            example = json!(examples::active()),
        ),
        (
            status = 304,
            description = "The job type has not changed. Same headers as 200, no body.",
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoCache))),
        ),
        JobTypeRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    _: Tenant,
    operator: Option<Operator>,
    PathText(name): PathText,
    headers: HeaderMap,
) -> Answer {
    let (document, tag) = match own::find(&api.registry, &name) {
        Some(registration) => tagged(&registration, Reader::Anyone)?,
        None => tagged(&find(&api.job_types.store, &name).await?, Reader::from(operator.as_ref()))?,
    };
    let known = etag::is_known(&headers, &tag);
    let about = AppendHeaders([(header::CACHE_CONTROL, "private, no-cache".to_owned()), (header::ETAG, tag)]);
    Ok(if known { (StatusCode::NOT_MODIFIED, about).into_response() } else { (about, Json(document)).into_response() })
}

impl From<Option<&Operator>> for Reader {
    fn from(operator: Option<&Operator>) -> Self {
        operator.map_or(Self::Anyone, |_| Self::Operator)
    }
}
