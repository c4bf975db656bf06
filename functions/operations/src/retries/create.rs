//! `POST /api/operations/retries`: retries exactly the items of several jobs that failed with one code.

use std::sync::Arc;

use axum::extract::State;
use futures::{StreamExt, stream};
use longshore::http::{Answer, Failure, JsonFields, Operator, no_store};
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore::{refusals, telemetry};
use longshore_domain::ids::JobId;
use longshore_domain::operator_log::{ActionScope, OperatorAction};
use tracing::Instrument;
use utoipa::ToSchema;

use super::document::{JobRetryDocument, RetriesDocument, retries_example};
use super::request::Request;
use super::retrier::{FailedItems, JobRetrier, RetryOutcome};
use crate::function::{Backend, Operations};
use crate::log::audited::{ActionSummary, AuditedAction};

/// Maximum body size: 100 job ids, a code and a reason, with room for white space.
const BODY_BYTES: usize = 16 * 1024;

/// Number of jobs that are retried concurrently.
const CONCURRENT_RETRIES: usize = 8;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Failed items to retry.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RetriesRequest {
    /// Job type of the jobs.
    #[serde(rename = "type")]
    #[schema(min_length = 1, max_length = 100)]
    job_type: String,
    /// Code of the failed items.
    #[schema(min_length = 1, max_length = 100)]
    code: String,
    /// The jobs.
    #[schema(min_items = 1, max_items = 100)]
    job_ids: Vec<JobId>,
    /// Time at which the failures were read: `asOf` of the groups. Jobs that have ended later are refused.
    #[schema(format = DateTime)]
    as_of: Option<String>,
    /// Reason, for the operators' log.
    #[schema(min_length = 1, max_length = 500)]
    reason: String,
}

/// The outcomes of a call, one for each job.
struct RetryOutcomes(Vec<(JobId, RetryOutcome)>);

impl ActionSummary for RetryOutcomes {
    const STATUS: u16 = 200;

    fn detail(&self) -> String {
        let running = self.0.iter().filter(|(_, outcome)| matches!(outcome, RetryOutcome::Running(_))).count();
        let others = if running > 0 { format!(", {running} ran already") } else { String::new() };
        format!("{} of {} jobs started{others}", self.started().len(), self.0.len())
    }

    /// Returns the jobs that this call has started: not those that ran already, which may be started by others.
    fn started(&self) -> Vec<JobId> {
        let started = self.0.iter().filter(|(_, outcome)| matches!(outcome, RetryOutcome::Started(_)));
        started.map(|(id, _)| *id).collect()
    }
}

impl From<RetryOutcomes> for RetriesDocument {
    fn from(RetryOutcomes(jobs): RetryOutcomes) -> Self {
        Self { jobs: jobs.into_iter().map(|(id, outcome)| JobRetryDocument::new(id, outcome)).collect() }
    }
}

refusals!(
    /// Refusals of `POST /api/operations/retries`.
    operator RetriesRefusals: MalformedJson, BodyTooLarge, UnsupportedMediaType, InvalidRequest
);

/// Retries the failed items with one code in up to 100 jobs. Returns 200 with an outcome for each job.
#[utoipa::path(
    post,
    path = "/api/operations/retries",
    operation_id = "retryFailures",
    tag = "operations",
    summary = "Retry the items of jobs that failed with one code.",
    description = include_str!("create.md").trim_ascii_end(),
    request_body(
        content = RetriesRequest,
        description = "Up to 16 KiB.",
        example = json!({
            "type": "invite",
            "code": "handler_unavailable",
            "jobIds": ["019f2c3e-7b1a-7c44-9d0e-2f6a1b3c4d5e"],
            "asOf": "2026-07-01T09:40:00Z",
            "reason": "The mail server is back.",
        }),
    ),
    responses(
        (
            status = 200,
            description = "An outcome for each job.",
            body = RetriesDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(retries_example()),
        ),
        RetriesRefusals,
    ),
)]
pub(crate) async fn create<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    operator: Operator,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let Request { items, job_ids, reason } = Request::read(fields)?;
    let action = AuditedAction {
        action: OperatorAction::RetryFailures,
        scope: ActionScope {
            job_type: Some(items.job_type.clone()),
            code: Some(items.code.clone()),
            job_ids: job_ids.clone(),
            ..ActionScope::default()
        },
        reason: Some(reason),
    };
    let retries = async { Ok(retry_all(&function, &items, job_ids).await) };
    let document = RetriesDocument::from(action.run(&*function, &operator, retries).await?);
    Ok(no_store(document))
}

/// Retries the jobs. If a service fails for one of them, that job is refused, so that the others are answered.
async fn retry_all<B: Backend>(function: &Operations<B>, items: &FailedItems, job_ids: Vec<JobId>) -> RetryOutcomes {
    let retrier = JobRetrier::new(function, items);
    let retry = async |id: JobId| match retrier.retry(id).instrument(telemetry::job_span(id)).await {
        Ok(outcome) => (id, outcome),
        Err(Failure::Problem(problem)) => (id, RetryOutcome::Refused(problem)),
        Err(Failure::Internal(error)) => {
            let error = telemetry::chain(error.as_ref());
            tracing::error!(job.id = %id, error, "cannot retry a job");
            let detail = "the job could not be retried because of an internal error; repeat the call";
            (id, RetryOutcome::Refused(Problem::new(Kind::Internal, detail)))
        }
    };
    let jobs = stream::iter(job_ids).map(|id| Box::pin(retry(id))).buffered(CONCURRENT_RETRIES);
    RetryOutcomes(jobs.collect().await)
}
