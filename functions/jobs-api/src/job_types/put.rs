//! `PUT /api/job-types/{name}`: registers a handler as a job type.
//!
//! One conditional write stores the candidate, then a message asks for its ping. A crash in between leaves a pending
//! candidate; a repeated PUT sends the message again. The write is applied only to the revision that was read, so two
//! operators at once get one of two contents, never a mixture.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use longshore::http::{Answer, Failure, JsonFields, Operator, PathText};
use longshore::job_types::image;
use longshore::openapi::{CacheNoStore, EntityTag};
use longshore::problem::{Kind, Problem};
use longshore_domain::message::PingMessage;
use longshore_domain::ports::{JobTypes, TypeWrite};
use longshore_domain::registration::{Candidate, MAX_JOB_TYPES, PutPlan, Registration, Revision, StoredRegistration};
use longshore_domain::timestamp::Timestamp;

use super::document::JobTypeDocument;
use super::examples;
use super::find::{ATTEMPTS, changed, check_match, overtaken};
use super::request::{self, JobTypeRequest};
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{IfMatchHeader, JobTypeInPath};
use crate::openapi::refusals::PutJobTypeRefusals;

/// Maximum body size: three schemas of 16 KiB without white space, with room for white space.
const BODY_BYTES: usize = 128 * 1024;

/// Registers a handler: 202 with a new or pending candidate, 200 if the content is active already.
#[utoipa::path(
    put,
    path = "/api/job-types/{name}",
    operation_id = "putJobType",
    tag = "job types",
    summary = "Register a job type.",
    description = include_str!("put.md").trim_ascii_end(),
    params(JobTypeInPath, IfMatchHeader),
    request_body(content = JobTypeRequest, description = "Up to 128 KiB.", example = json!(examples::request())),
    responses(
        (
            status = 200,
            description = "The content is active already. A candidate with other content is removed.",
            body = JobTypeDocument,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::active()),
        ),
        (
            status = 202,
            description = "The content is a candidate, and its handler will be pinged.",
            body = JobTypeDocument,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::pending()),
        ),
        PutJobTypeRefusals,
    ),
)]
pub(crate) async fn put<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Operator { id: operator, .. }: Operator,
    PathText(name): PathText,
    headers: HeaderMap,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let registrations = &api.job_types;
    // The name of a type that this deployment has switched off is reserved, too.
    let is_built_in = api.registry.find(&name).is_some() || name == image::NAME;
    let registration = request::read(fields, &name, is_built_in, &registrations.targets)?;
    for _ in 0..ATTEMPTS {
        let stored = registrations.store.job_type(&registration.name).await?;
        check_match(&headers, stored.as_ref())?;
        let Some((status, stored)) = apply(&registrations.store, &registration, stored, (api.clock)()).await? else {
            continue;
        };
        if let (StatusCode::ACCEPTED, Some(candidate)) = (status, &stored.candidate) {
            let version = candidate.version.clone();
            tracing::info!(operator, job_type = %registration.name, %version, "a job type was registered");
            registrations.ask_for_ping(&PingMessage { name: registration.name.clone(), version }).await;
        }
        return changed(status, &stored);
    }
    Err(overtaken().into())
}

/// Applies a PUT to the state that was read; `None` if another call has changed it meanwhile.
async fn apply(
    store: &impl JobTypes,
    registration: &Registration,
    stored: Option<StoredRegistration>,
    now: Timestamp,
) -> Result<Option<(StatusCode, StoredRegistration)>, Failure> {
    let seen: Option<Revision> = stored.as_ref().map(StoredRegistration::revision);
    let stored = stored.unwrap_or_default();
    let (status, candidate) = match stored.plan_put(registration) {
        PutPlan::Unchanged => return Ok(Some((StatusCode::OK, stored))),
        PutPlan::PingAgain(_) => return Ok(Some((StatusCode::ACCEPTED, stored))),
        PutPlan::Withdraw => (StatusCode::OK, None),
        PutPlan::Replace => (StatusCode::ACCEPTED, Some(Candidate::new(registration.clone(), now))),
    };
    match store.put_candidate(&registration.name, candidate.as_ref(), seen.as_ref()).await? {
        TypeWrite::Stored => Ok(Some((status, StoredRegistration { candidate, ..stored }))),
        TypeWrite::Changed => Ok(None),
        TypeWrite::TooMany => Err(too_many().into()),
    }
}

fn too_many() -> Problem {
    let detail = format!("the deployment already has {MAX_JOB_TYPES} job types; delete one that is not needed");
    Problem::new(Kind::TooManyJobTypes, detail)
}
