//! The document of a job in a list for operators: no row, no option, no name of a file, no label.

use longshore::waiting::WaitingFor;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Priority, Stage, Status};
use longshore_domain::progress::shown_stage;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::trace::TraceId;
use serde::Serialize;
use utoipa::ToSchema;

/// A job of a tenant, without anything that its rows, options or files contain.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorJob)]
pub struct OperatorJobDocument {
    /// Id of the job.
    pub job_id: JobId,
    /// Id under which the log records of the job are found.
    #[schema(value_type = String, pattern = "^[0-9a-f]{32}$", examples("4bf92f3577b34da6a3ce929d0e0e4736"))]
    pub trace_id: TraceId,
    /// Tenant that owns the job.
    pub tenant: String,
    /// Name of the job type.
    pub job_type: String,
    /// Priority of the job.
    pub priority: Priority,
    /// Status of the job.
    pub status: Status,
    /// Stage within the status.
    pub stage: Stage,
    /// Number of items counted so far.
    pub item_count: u64,
    /// `true` once all items of the file have been counted.
    pub item_count_final: bool,
    /// Items by outcome; `null` until the job has ended.
    #[schema(required = true)]
    pub counts: Option<OperatorJobCounts>,
    /// Number of runs: 1, plus one for each retry.
    #[schema(minimum = 1)]
    pub attempts: u32,
    /// Reason why the job does not progress: a pause, or its handler; `null` if it does not wait.
    #[schema(required = true)]
    pub waiting_for: Option<WaitingFor>,
    /// Code of the reason why the job did not complete; otherwise `null`.
    #[schema(required = true)]
    pub error_code: Option<String>,
    /// Time when the job was accepted. All times are in RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time when the job started.
    #[schema(required = true, format = DateTime)]
    pub started_at: Option<String>,
    /// Time when the job reached its final status.
    #[schema(required = true, format = DateTime)]
    pub finished_at: Option<String>,
    /// Time of the last change of the job itself; the progress of its chunks is not included.
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// Time when an unfinished job is stopped.
    #[schema(format = DateTime)]
    pub deadline_at: String,
}

/// Items of an ended job by outcome.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorJobCounts)]
pub struct OperatorJobCounts {
    /// Items that succeeded.
    pub succeeded: u64,
    /// Items that failed.
    pub failed: u64,
    /// Items that were skipped.
    pub skipped: u64,
}

impl OperatorJobDocument {
    /// Creates the document of a job.
    pub(crate) fn new(job: &Job, waiting_for: Option<WaitingFor>) -> Self {
        let ended = job.completion.totals.filter(|_| job.status.is_final());
        Self {
            job_id: job.job_id,
            trace_id: job.trace_id(),
            tenant: job.tenant.to_string(),
            job_type: job.job_type.clone(),
            priority: job.priority,
            status: job.status,
            stage: shown_stage(job),
            item_count: job.split.item_count,
            item_count_final: job.item_count_final(),
            counts: ended.map(|counts| OperatorJobCounts {
                succeeded: counts.succeeded,
                failed: counts.failed,
                skipped: counts.skipped,
            }),
            attempts: job.generation + 1,
            waiting_for,
            error_code: job.error.as_ref().map(|error| error.code.clone()),
            created_at: job.times.created_at.to_rfc3339(),
            started_at: job.times.started_at.map(Timestamp::to_rfc3339),
            finished_at: job.times.finished_at.map(Timestamp::to_rfc3339),
            updated_at: job.times.updated_at.to_rfc3339(),
            deadline_at: job.times.deadline_at.to_rfc3339(),
        }
    }
}

/// A page of jobs of all tenants.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorJobs)]
pub struct OperatorJobsDocument {
    /// The jobs.
    pub jobs: Vec<OperatorJobDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}
