//! `POST /api/jobs`: validates a request as fully as possible, and creates the job.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use axum::response::Response;
use longshore::field_error::FieldError;
use longshore::http::{Answer, Bad, Failure, Tenant, caller_trace, count_work_call, idempotency};
use longshore::job_request::{KnownTypes, ParsedReading};
use longshore::openapi::{CacheNoStore, IdempotencyKeyHeader, OnePath, RetryAfterSeconds};
use longshore::problem::Problem;
use longshore::telemetry;
use longshore_domain::cost::PlannedRun;
use longshore_domain::ids::{EndpointId, JobId};
use longshore_domain::job::{Job, JobTimes, Source, UndoState, Validation, deadline};
use longshore_domain::ports::{Created, Definition, IdempotencyKey, JobStore, Webhooks};
use longshore_domain::trace::TraceId;

use super::accept::{accepted, accepted_before};
use super::document::JobDocument;
use super::estimate::{check_covers_split, source_size};
use super::export::with_columns;
use super::items::{CreateBody, Items};
use super::part_source::find_part;
use super::request::{BadRequest, Draft, JobRequest};
use super::request_checks::unknown_callback;
use super::scheduled_start::check_start;
use super::source::{discard_items, store_items};
use super::source_request::{ParsedSource, find_dataset};
use super::upload_source::find_source;
use crate::admission::{admit, over_quota};
use crate::backend::{Api, Backend};
use crate::openapi::examples;
use crate::openapi::refusals::CreateRefusals;

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
        description = "Up to 2 MiB of items, and 256 KiB of other fields.",
        examples(
            ("file" = (summary = "An uploaded file", value = json!({
                "jobType": "import",
                "fileGuid": "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b",
                "options": { "dataset": "customers", "key": "id", "mode": "upsert" },
                "metadata": { "team": "crm", "run": "2026-07-01" },
                "callback": "019817a2-0b7c-4a3e-9d54-3a1f6c0e8b12",
            }))),
            ("part" = (summary = "The failed items of another job", value = json!({
                "jobType": "import",
                "source": { "jobId": "01970c12-6f3a-7cc0-a1b2-3c4d5e6f7a8b", "part": "failed" },
                "options": { "dataset": "customers", "key": "id" },
            }))),
            ("export" = (summary = "An export of a dataset", value = json!({
                "jobType": "export",
                "source": { "dataset": "customers" },
                "results": { "format": "csv", "gzip": true, "columns": [{ "name": "id" }, { "name": "email", "as": "E-Mail" }] },
            }))),
            ("items" = (summary = "Items, without an upload", value = json!({
                "jobType": "import",
                "items": [{ "id": 1, "email": "ann@example.com" }, { "id": 2, "email": "bob@example.com" }],
                "options": { "dataset": "customers", "key": "id" },
            }))),
        ),
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
    body: CreateBody,
) -> Answer {
    let key = idempotency::key(&headers)?;
    let types = KnownTypes::of(&body.fields, &api.registry, &api.job_types.store).await?;
    let draft = Draft::read(body, &types, api.limits.job_time_limit_s);
    let key =
        key.zip(draft.canonical()).map(|(key, request)| idempotency::key_for_request(key, &request, (api.clock)()));
    if let Some(answer) = answered_before(&api, &tenant, key.as_ref()).await? {
        return Ok(answer);
    }
    // Compiling a schema can take a second, so the call is counted first.
    count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    let request = match draft.compile() {
        Ok(request) => JobRequest { trace: caller_trace(&headers), ..request },
        Err(bad) => return Err(refusal(&api, &tenant, bad).await),
    };
    store_job(&api, &tenant, request, key.as_ref()).await
}

/// Seconds within which a queue that is full now is full at the start of a job.
const SOON_S: i64 = 900;

/// Stores the job of a valid request, and sends its create message.
pub(super) async fn store_job<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    mut request: JobRequest,
    key: Option<&IdempotencyKey>,
) -> Answer {
    if let Some(callback) = request.callback {
        check_callback(&api.ports.store, tenant, callback).await?;
    }
    let mut job = new_job(api, tenant, &request);
    telemetry::record_job(&job);
    if let Some(start_at) = job.times.start_at {
        check_start(api, &job, &request, start_at).await?;
    }
    let is_soon = job.times.start_at.is_none_or(|start_at| start_at < job.times.created_at.plus_seconds(SOON_S));
    if is_soon {
        admit(api, tenant, job.chunk_queue()).await?;
    }
    set_source(api, tenant, &mut job, &mut request).await?;
    let results = match request.results {
        Some(form) => Some(with_columns(&api.records, &job, form).await?),
        None => None,
    };
    let registration = request.registration;
    let (given_reading, sheet) = (request.reading.csv, request.reading.sheet);
    let definition = Definition { given_reading, sheet, results, registration, ..Definition::new(request.options) };
    // If the store fails, the job may still have been stored, so its items stay.
    let created = api.ports.store.create_job(&job, &definition, key).await?;
    // A call that the SDK repeated finds its own job under the idempotency key.
    if created != Created::New && created != Created::Replayed(job.job_id) {
        discard_items(&api.ports.files, &job).await;
    }
    match created {
        Created::New => {
            if !job.is_scheduled {
                api.ports.send_create(&job).await;
            }
            Ok(accepted(&job, &[]))
        }
        Created::Replayed(id) => accepted_before(&api.ports, tenant, id, idempotency::job_deleted).await,
        Created::KeyReused => Err(idempotency::key_reused().into()),
        Created::OverQuota(exceeded) => Err(over_quota(exceeded, job.times.created_at).into()),
    }
}

/// Sets the source of a new job, and what depends on it: the estimate of its cost, and whether it can be undone.
///
/// # Errors
/// 422 if the source cannot be used, or its split costs more than the maximum of the job.
async fn set_source<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    job: &mut Job,
    request: &mut JobRequest,
) -> Result<(), Failure> {
    let (limits, writes_records) = (request.chunk_limits, request.writes_records);
    let (source, items) = find_items(api, tenant, job, request).await?;
    let size = source.as_ref().and_then(|source| source_size(source, items));
    job.cost_estimate = size.map(|source| PlannedRun { source, limits, writes_records }.estimate());
    job.set_source(source);
    if let Err(problem) = check_covers_split(job, limits) {
        discard_items(&api.ports.files, job).await;
        return Err(problem.into());
    }
    Ok(())
}

/// Finds the items of a request, or stores those that it has. Returns the source of the job, and the number of items if
/// it is known.
async fn find_items<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    job: &Job,
    request: &mut JobRequest,
) -> Result<(Option<Source>, Option<u64>), Failure> {
    let mut items = request.items.as_ref().map(Items::count);
    let source = match (request.file, request.items.take(), request.source.take()) {
        (Some(file), ..) => Some(find_source(api, tenant, file, request.reading.clone()).await?.into()),
        (None, Some(items), _) => Some(store_items(&api.ports.files, job, items.into_lines()).await?.into()),
        (None, None, Some(ParsedSource::Dataset(source))) => Some(find_dataset(&api.records, tenant, source).await?),
        (None, None, Some(ParsedSource::Job(part))) => {
            let (source, number) = find_part(api, tenant, part).await?;
            items = Some(number);
            Some(source)
        }
        (None, None, None) => None,
    };
    Ok((source, items))
}

/// Checks that the callback is a webhook of the tenant. It may be pending or disabled: it can be active once the job
/// ends.
///
/// # Errors
/// 422.
pub(super) async fn check_callback(
    store: &impl Webhooks,
    tenant: &Tenant,
    callback: EndpointId,
) -> Result<(), Failure> {
    let endpoints = store.endpoints(&tenant.0).await?;
    if endpoints.iter().any(|endpoint| endpoint.endpoint_id == callback) {
        return Ok(());
    }
    let Bad { code, detail } = unknown_callback();
    Err(Problem::invalid(vec![FieldError::new("/callback", code, detail)]).into())
}

/// Answers a create whose key was used before. Returns `None` if the key is new or absent.
pub(super) async fn answered_before<B: Backend>(
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
        match find_source(api, tenant, file, ParsedReading::default()).await {
            Err(Failure::Problem(more)) => {
                return Problem::invalid([problem.errors, more.errors].concat()).into();
            }
            Err(failure) => return failure,
            Ok(_) => {}
        }
    }
    (*problem).into()
}

/// Creates the job of a request, without its source.
fn new_job<B: Backend>(api: &Api<B>, tenant: &Tenant, request: &JobRequest) -> Job {
    let now = (api.clock)();
    let start_at = request.start_at.filter(|start_at| *start_at > now);
    let start = start_at.unwrap_or(now);
    let expires_at = api.limits.expires_at(start);
    let id = start_at.map_or_else(JobId::generate, JobId::generate_at);
    Job {
        trace: request.trace.or_else(|| request.file.map(TraceId::from)),
        is_scheduled: start_at.is_some(),
        priority: request.priority,
        is_registered: request.registration.is_some(),
        metadata: request.metadata.clone(),
        callback: request.callback,
        tolerance: request.tolerance,
        times: JobTimes {
            timeout_s: request.timeout_s,
            start_at,
            deadline_at: deadline(start, request.timeout_s, expires_at),
            expires_at,
            ..JobTimes::accepted(now)
        },
        validation: Validation { checks_only: request.checks_only, ..Validation::default() },
        undo: UndoState { undoable: request.undoable, ..UndoState::default() },
        ..Job::waiting(id, tenant.0.clone(), &request.job_type, now)
    }
}
