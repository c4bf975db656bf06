//! `DELETE /api/job-types/{name}`: deletes a job type with its candidate. Ends no job.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use longshore::http::{Answer, Operator, PathText};
use longshore_domain::ports::{JobTypes, TypeDeletion};
use longshore_domain::registration::TypeName;

use super::find::{ATTEMPTS, check_match, find, overtaken};
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::parameters::{IfMatchHeader, JobTypeInPath};
use crate::openapi::refusals::DeleteJobTypeRefusals;

/// Deletes the job type: 204. A repeated call returns 404.
#[utoipa::path(
    delete,
    path = "/api/job-types/{name}",
    operation_id = "deleteJobType",
    tag = "job types",
    summary = "Delete a job type.",
    description = "For operators. Deletes the active registration and the candidate; the result of a ping that is on its \
        way has no effect. Jobs of the type keep their copy of the registration and run on; no further job can be created.",
    params(JobTypeInPath, IfMatchHeader),
    responses((status = 204, description = "The job type is deleted."), DeleteJobTypeRefusals),
)]
pub(crate) async fn delete<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Operator { id: operator, .. }: Operator,
    PathText(text): PathText,
    headers: HeaderMap,
) -> Answer {
    let store = &api.job_types.store;
    for _ in 0..ATTEMPTS {
        let stored = find(store, &text).await?;
        check_match(&headers, Some(&stored))?;
        let Ok(name) = TypeName::parse(&text) else { break };
        let seen = etag::is_conditional(&headers).then(|| stored.revision());
        if store.delete_job_type(&name, seen.as_ref()).await? == TypeDeletion::Deleted {
            tracing::info!(operator, job_type = %name, "a job type was deleted");
            return Ok(StatusCode::NO_CONTENT.into_response());
        }
    }
    Err(overtaken().into())
}
