//! `POST /api/jobs`: validates a request as fully as possible, and creates the job.

mod request;
pub(crate) mod source;

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::{Answer, Failure, JsonFields, Tenant, idempotency};
use longshore::openapi::{CacheNoStore, IdempotencyKeyHeader, OnePath, RetryAfterSeconds};
use longshore::problem::Problem;
use longshore::telemetry;
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobTimes, SourceFile, Stage, Status, Validation, deadline};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Created, Definition, IdempotencyKey, JobStore, Queues};
use longshore_domain::time_stamp::Timestamp;

use self::request::{BadRequest, Draft, JobRequest};
use crate::document::path;
use crate::openapi::examples;
use crate::openapi::refusals::CreateRefusals;
use crate::queue_depths::{day_is_full, too_many_jobs};
use crate::{Api, Backend, JobDocument};

/// Maximum body size: a schema of up to 64 KiB with ample room for the other fields. A definition is one item of up to
/// 400 KB.
const BODY_BYTES: usize = 256 * 1024;

const SECONDS_PER_DAY: i64 = 86_400;

/// Stores a job and sends its create message: 202 with the job. A repeated `Idempotency-Key` returns 202 with the first
/// call's job in its current state, regardless of the limits.
#[utoipa::path(
    post,
    path = "/api/jobs",
    operation_id = "createJob",
    tag = "jobs",
    summary = "Create a job.",
    description = "The file must have been put before. With an `Idempotency-Key` the same request makes one job however \
        often it is sent: later answers show the job as it then is. A job that is answered with 202 reaches a \
        final status.",
    params(IdempotencyKeyHeader),
    request_body(
        content = JobRequest,
        description = "Up to 256 KiB.",
        example = json!({
            "jobType": "import",
            "fileGuid": "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b",
            "options": { "dataset": "customers", "key": "id", "mode": "upsert" },
        }),
    ),
    responses(
        (
            status = 202,
            description = "Accepted; poll the job at `Location`.",
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
    let key = key.zip(draft.meaning()).map(|(key, meaning)| idempotency::of_request(key, &meaning, (api.clock)()));
    if let Some(answer) = api.answered_before(&tenant, key.as_ref()).await? {
        return Ok(answer);
    }
    // Compiling a schema may take a second, so nothing is compiled before the call is counted.
    api.count_call(&tenant).await?;
    let request = match draft.compile() {
        Ok(request) => request,
        Err(bad) => return Err(api.refusal(&tenant, bad).await),
    };
    api.busy(&tenant, request.priority).await?;
    let source = api.source_of(&tenant, &request).await?;
    let job = api.new_job(&tenant, &request, source);
    let definition = Definition { options: request.options, columns: None };
    match api.ports.store.create_job(&job, &definition, key.as_ref()).await? {
        Created::New => {
            api.send(&job).await;
            Ok(api.accepted(&job, &[]))
        }
        Created::Replayed(id) => api.replay(&tenant, id, idempotency::job_deleted).await,
        Created::KeyReused => Err(idempotency::key_reused().into()),
        Created::OverLimit(active) => Err(too_many_jobs(active).into()),
        Created::OverDailyBytes(bytes) => Err(day_is_full(bytes, job.times.created_at).into()),
    }
}

impl<B: Backend> Api<B> {
    /// Reports every error of a request at once, including those of its file.
    async fn refusal(&self, tenant: &Tenant, BadRequest { problem, file }: BadRequest) -> Failure {
        let described = problem.errors.iter().any(|error| error.pointer == "/fileGuid");
        if let Some(file) = file.filter(|_| !described) {
            match self.source(tenant, file).await {
                Err(Failure::Problem(more)) => {
                    return Problem::invalid([problem.errors, more.errors].concat()).into();
                }
                Err(failure) => return failure,
                Ok(_) => {}
            }
        }
        (*problem).into()
    }

    async fn source_of(&self, tenant: &Tenant, request: &JobRequest) -> Result<Option<SourceFile>, Failure> {
        match request.file {
            Some(file) => Ok(Some(self.source(tenant, file).await?)),
            None => Ok(None),
        }
    }

    /// Answers a create whose key was used before. Returns `None` if the key is new or absent.
    async fn answered_before(
        &self,
        tenant: &Tenant,
        key: Option<&IdempotencyKey>,
    ) -> Result<Option<Response>, Failure> {
        let Some(key) = key else { return Ok(None) };
        match self.ports.store.job_created_before(&tenant.0, key).await? {
            Some(Created::Replayed(id)) => self.replay(tenant, id, idempotency::job_deleted).await.map(Some),
            Some(_) => Err(idempotency::key_reused().into()),
            None => Ok(None),
        }
    }

    fn new_job(&self, tenant: &Tenant, request: &JobRequest, source: Option<SourceFile>) -> Job {
        let now = (self.clock)();
        Job {
            source,
            priority: request.priority,
            tolerance: request.tolerance,
            times: JobTimes {
                timeout_s: request.timeout_s,
                deadline_at: deadline(now, request.timeout_s, self.expires_at(now)),
                expires_at: self.expires_at(now),
                ..JobTimes::accepted(now)
            },
            validation: Validation { checks_only: request.checks_only, ..Validation::default() },
            ..Job::waiting(JobId::generate(), tenant.0.as_str(), &request.job_type, now)
        }
    }

    /// Returns the expiry time of a job that is accepted now, in seconds.
    pub(crate) fn expires_at(&self, now: Timestamp) -> i64 {
        now.plus_seconds(self.limits.retention_days * SECONDS_PER_DAY).seconds()
    }

    /// Sends the create message. A failure does not fail the call: the job is stored, and the sweeper sends the
    /// message.
    pub(crate) async fn send(&self, job: &Job) {
        if let Err(error) = self.ports.queues.send_create(&CreateMessage::new(job)).await {
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %job.job_id, error, "a create message was not sent; the sweeper will send it");
        }
    }

    /// Answers a request that was accepted before; `deleted` if the job was deleted since, because an idempotency key,
    /// or a start, makes only one job. While the job is waiting, its message is sent again: the first call may have
    /// died before sending it, and a duplicate is harmless.
    pub(crate) async fn replay(&self, tenant: &Tenant, id: JobId, deleted: fn() -> Problem) -> Answer {
        let job = self.ports.store.job(id).await?.filter(|job| job.tenant == tenant.0 && !job.is_deleted());
        let job = job.ok_or_else(deleted)?;
        if job.status == Status::Waiting && job.stage == Stage::Queued {
            self.send(&job).await;
        }
        let (groups, job) = self.with_groups(job).await?;
        Ok(self.accepted(&job, &groups))
    }

    /// Returns 202 with the job, its path, and `Retry-After` for the first poll.
    pub(crate) fn accepted(&self, job: &Job, groups: &[Group]) -> Response {
        let about = AppendHeaders([
            (header::LOCATION, path(job.job_id)),
            (header::RETRY_AFTER, "1".to_owned()),
            (header::CACHE_CONTROL, "no-store".to_owned()),
        ]);
        (StatusCode::ACCEPTED, about, Json(JobDocument::new(job, groups))).into_response()
    }
}
