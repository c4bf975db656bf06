//! `POST /api/jobs`: validates a request as fully as possible, and creates the job.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use longshore::http::{Answer, Failure, JsonFields, Tenant, count_work_call, idempotency};
use longshore::openapi::{CacheNoStore, IdempotencyKeyHeader, OnePath, RetryAfterSeconds};
use longshore::problem::Problem;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobTimes, SourceFile, Validation, deadline};
use longshore_domain::ports::{Created, Definition, IdempotencyKey, JobStore};

use super::accept::{accepted, accepted_before};
use super::document::JobDocument;
use super::request::{BadRequest, Draft, JobRequest, find_source};
use crate::admission::{admit, over_quota};
use crate::backend::{Api, Backend};
use crate::openapi::examples;
use crate::openapi::refusals::CreateRefusals;

/// Maximum body size: a schema of up to 64 KiB with ample room for the other fields. A definition is one item of up to
/// 400 KB.
const BODY_BYTES: usize = 256 * 1024;

/// Stores a job and sends its create message: 202 with the job. A repeated `Idempotency-Key` returns 202 with the first
/// call's job in its current state, regardless of the limits.
#[utoipa::path(
    post,
    path = "/api/jobs",
    operation_id = "createJob",
    tag = "jobs",
    summary = "Create a job.",
    description = include_str!("create.md").trim_ascii_end(),
    params(IdempotencyKeyHeader),
    request_body(
        content = JobRequest,
        description = "Up to 256 KiB.",
        example = json!({
            "jobType": "import",
            "fileGuid": "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b",
            "options": { "dataset": "customers", "key": "id", "mode": "upsert" },
            "metadata": { "team": "crm", "run": "2026-07-01" },
        }),
    ),
    responses(
        (
            status = 202,
            description = "Accepted. Poll the job at `Location`.",
            body = JobDocument,
            headers(
                ("Location" = inline(OnePath), description = "The job."),
                ("Retry-After" = inline(RetryAfterSeconds), description = "Seconds."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::waiting()),
        ),
        CreateRefusals,
    ),
)]
pub(crate) async fn create<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    headers: HeaderMap,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let key = idempotency::key(&headers)?;
    let draft = Draft::read(fields, &api.registry, api.limits.job_time_limit_s);
    let key =
        key.zip(draft.canonical()).map(|(key, request)| idempotency::key_for_request(key, &request, (api.clock)()));
    if let Some(answer) = answered_before(&api, &tenant, key.as_ref()).await? {
        return Ok(answer);
    }
    // Compiling a schema can take a second, so the call is counted first.
    count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    let request = match draft.compile() {
        Ok(request) => request,
        Err(bad) => return Err(refusal(&api, &tenant, bad).await),
    };
    admit(&api, &tenant, request.priority).await?;
    let source = match request.file {
        Some(file) => Some(find_source(&api, &tenant, file).await?),
        None => None,
    };
    let job = new_job(&api, &tenant, &request, source);
    let definition = Definition::new(request.options);
    match api.ports.store.create_job(&job, &definition, key.as_ref()).await? {
        Created::New => {
            api.ports.send_create(&job).await;
            Ok(accepted(&job, &[]))
        }
        Created::Replayed(id) => accepted_before(&api.ports, &tenant, id, idempotency::job_deleted).await,
        Created::KeyReused => Err(idempotency::key_reused().into()),
        Created::OverQuota(exceeded) => Err(over_quota(exceeded, job.times.created_at).into()),
    }
}

/// Answers a create whose key was used before. Returns `None` if the key is new or absent.
async fn answered_before<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    key: Option<&IdempotencyKey>,
) -> Result<Option<Response>, Failure> {
    let Some(key) = key else { return Ok(None) };
    match api.ports.store.job_created_before(&tenant.0, key).await? {
        Some(Created::Replayed(id)) => {
            accepted_before(&api.ports, tenant, id, idempotency::job_deleted).await.map(Some)
        }
        Some(_) => Err(idempotency::key_reused().into()),
        None => Ok(None),
    }
}

/// Reports every error of a request at once, including those of its file.
async fn refusal<B: Backend>(api: &Api<B>, tenant: &Tenant, BadRequest { problem, file }: BadRequest) -> Failure {
    let names_file = problem.errors.iter().any(|error| error.pointer == "/fileGuid");
    if let Some(file) = file.filter(|_| !names_file) {
        match find_source(api, tenant, file).await {
            Err(Failure::Problem(more)) => {
                return Problem::invalid([problem.errors, more.errors].concat()).into();
            }
            Err(failure) => return failure,
            Ok(_) => {}
        }
    }
    (*problem).into()
}

fn new_job<B: Backend>(api: &Api<B>, tenant: &Tenant, request: &JobRequest, source: Option<SourceFile>) -> Job {
    let now = (api.clock)();
    let expires_at = api.limits.expires_at(now);
    Job {
        source,
        priority: request.priority,
        metadata: request.metadata.clone(),
        tolerance: request.tolerance,
        times: JobTimes {
            timeout_s: request.timeout_s,
            deadline_at: deadline(now, request.timeout_s, expires_at),
            expires_at,
            ..JobTimes::accepted(now)
        },
        validation: Validation { checks_only: request.checks_only, ..Validation::default() },
        ..Job::waiting(JobId::generate(), tenant.0.clone(), &request.job_type, now)
    }
}
