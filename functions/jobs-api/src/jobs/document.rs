//! The job document, returned by every call that returns a job.

use std::collections::BTreeMap;

use longshore::waiting::WaitingFor;
use longshore_domain::cost::{NanoDollars, cost_so_far};
use longshore_domain::group::Group;
use longshore_domain::ids::{EndpointId, JobId};
use longshore_domain::job::{Job, JobError, Preparation, Priority, Stage, Status, UndoneImport};
use longshore_domain::outcome::Counts;
use longshore_domain::progress::{Progress, sentence, shown_stage, updated_at};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::trace::TraceId;
use serde::Serialize;
use utoipa::ToSchema;

use super::links::Links;
use super::metadata::Metadata;
use super::source::JobSource;
use crate::costs::{CostDocument, EstimateDocument};

/// A job. In every response, `succeeded + failed + skipped = itemProgress <= itemCount`.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Job)]
pub struct JobDocument {
    /// Id of the job.
    pub job_id: JobId,
    /// Id under which operators find the log records of the job: the trace id of the `traceparent` with which it was
    /// created, or else the id of its upload, or else of the job, both without hyphens. A started import and an undo
    /// have that of the job from which they were made.
    #[schema(value_type = String, pattern = "^[0-9a-f]{32}$", examples("4bf92f3577b34da6a3ce929d0e0e4736"))]
    pub trace_id: TraceId,
    /// Name of the job type.
    pub job_type: String,
    /// Name of the file, as set by the client; `null` if the job has no file.
    #[schema(required = true)]
    pub file_name: Option<String>,
    /// Source of the items; `null` if the job is one item, whose input is its options.
    #[schema(required = true)]
    pub source: Option<JobSource>,
    /// Priority of the job.
    pub priority: Priority,
    /// Labels from the request that created the job; `{}` if there are none. Every user of the tenant can read them.
    #[schema(value_type = Metadata)]
    pub metadata: BTreeMap<String, String>,
    /// Id of the webhook that the request named; absent if it named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub callback: Option<EndpointId>,
    /// Time from which the job is started, in RFC 3339; absent unless the request named one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub start_at: Option<String>,
    /// Status of the job.
    pub status: Status,
    /// Stage within the status.
    pub stage: Stage,
    /// Progress of the conversion of the file, while it is converted before it is split; absent at other times.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preparation: Option<PreparationDocument>,
    /// Progress as a sentence for people.
    #[schema(examples("Job running, 41% complete..."))]
    pub message: String,
    /// Number of items counted so far; the number of all items of the file once `itemCountFinal` is `true`.
    pub item_count: u64,
    /// `true` once all items of the file have been counted.
    pub item_count_final: bool,
    /// Number of items that have ended. Never decreases.
    pub item_progress: u64,
    /// Items by outcome.
    pub counts: JobCounts,
    /// Progress in percent of the file. Never decreases.
    #[schema(maximum = 100)]
    pub percent: u8,
    /// Items per second from the start of the job to `updatedAt`.
    pub items_per_second: u64,
    /// Estimated seconds from `updatedAt` to the end, at the current rate.
    #[schema(required = true)]
    pub eta_seconds: Option<u64>,
    /// Seconds from the start of the job to its end, or to `updatedAt` while it runs; `null` before it starts.
    #[schema(required = true)]
    pub duration_seconds: Option<u64>,
    /// Number of runs: 1, plus one for each retry.
    #[schema(minimum = 1)]
    pub attempts: u32,
    /// The validation job from which this job was started; `null` if there is none.
    #[schema(required = true)]
    pub started_from: Option<JobId>,
    /// The import job that was started from this validation job; `null` if there is none.
    #[schema(required = true)]
    pub started_as: Option<JobId>,
    /// The import that this job undoes, or of whose undo it is a preview; `null` for another job.
    #[schema(required = true)]
    pub undoes: Option<Undoes>,
    /// The last undo of this import; `null` if there is none. An import with an undo is not retried.
    #[schema(required = true)]
    pub undone_by: Option<JobId>,
    /// Reason why the job does not progress: a pause, or, for a registered type, its handler. Absent if it does not
    /// wait. Only `GET` of one job has it. It does not describe the job itself, so such a response has no `ETag`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub waiting_for: Option<WaitingFor>,
    /// Cost of the job with all its retries; so far, while it runs. `null` for a job that ended before costs were
    /// recorded.
    #[schema(required = true)]
    pub cost: Option<CostDocument>,
    /// Cost of the first run, as it was estimated when the job was created or started. A job over a dataset,
    /// over a compressed file or a workbook that was not validated, a job without items and an undo have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cost_estimate: Option<EstimateDocument>,
    /// Maximum cost of each run of the job in US dollars; absent if the request named none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<f64>,
    /// Reason why the job did not complete; otherwise `null`.
    #[schema(required = true)]
    pub error: Option<JobError>,
    /// Non-fatal warnings.
    pub issues: Vec<JobError>,
    /// Time when the job was accepted. All times are in RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time when the job started.
    #[schema(required = true, format = DateTime)]
    pub started_at: Option<String>,
    /// Time when the job reached its final status.
    #[schema(required = true, format = DateTime)]
    pub finished_at: Option<String>,
    /// Time of the last change.
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// Time limit of the job in seconds.
    #[schema(minimum = 1)]
    pub timeout_seconds: i64,
    /// Time when an unfinished job is stopped; at least an hour before `expiresAt`.
    #[schema(format = DateTime)]
    pub deadline_at: String,
    /// Time when the job is removed.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// Paths of related resources.
    pub links: Links,
}

/// A page of jobs.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Jobs)]
pub struct JobsDocument {
    /// Jobs, newest first.
    pub jobs: Vec<JobDocument>,
    /// Cursor of the next page; `null` on the last page.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

/// Items by outcome.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct JobCounts {
    /// Items that succeeded.
    pub succeeded: u64,
    /// Items that failed.
    pub failed: u64,
    /// Items that were skipped.
    pub skipped: u64,
    /// Items counted so far that have not ended.
    pub pending: u64,
}

impl From<Counts> for JobCounts {
    fn from(Counts { succeeded, failed, skipped }: Counts) -> Self {
        Self { succeeded, failed, skipped, pending: 0 }
    }
}

/// The import that a job undoes.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Undoes {
    /// The import.
    pub job_id: JobId,
    /// `true` if the job only previews the undo, and writes nothing.
    pub preview: bool,
}

impl From<UndoneImport> for Undoes {
    fn from(UndoneImport { job_id, preview, .. }: UndoneImport) -> Self {
        Self { job_id, preview }
    }
}

/// Progress of the conversion of a file.
#[derive(Copy, Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Preparation)]
pub struct PreparationDocument {
    /// Bytes of the file that have been read.
    pub read_bytes: u64,
    /// Size of the file.
    pub size_bytes: u64,
}

impl From<Preparation> for PreparationDocument {
    fn from(Preparation { read_bytes, size_bytes }: Preparation) -> Self {
        Self { read_bytes, size_bytes }
    }
}

impl JobDocument {
    /// Creates the document of a job whose groups were read before it. The groups of a completed job may be omitted.
    ///
    /// The document changes only when the job does: rate and ETA are those of the last change.
    pub fn new(job: &Job, groups: &[Group]) -> Self {
        let progress = Progress::new(job, groups, updated_at(job, groups));
        let (counts, item_progress) = (JobCounts::from(progress.counts), progress.item_progress());
        // The totals of an ended job include groups that were committed after `groups` was read.
        let item_count = if job.completion.totals.is_some() { job.split.item_count } else { progress.item_count };
        Self {
            job_id: job.job_id,
            trace_id: job.trace_id(),
            job_type: job.job_type.clone(),
            file_name: job.file().filter(|file| !file.is_of_request()).map(|file| file.name.clone()),
            source: JobSource::new(job),
            priority: job.priority,
            metadata: job.metadata.clone(),
            callback: job.callback,
            start_at: job.times.start_at.map(Timestamp::to_rfc3339),
            status: job.status,
            stage: shown_stage(job),
            preparation: job.preparation.filter(|_| job.is_preparing()).map(PreparationDocument::from),
            message: sentence(job, progress.percent),
            item_count,
            item_count_final: progress.item_count_final,
            item_progress,
            counts: JobCounts { pending: item_count.saturating_sub(item_progress), ..counts },
            percent: progress.percent,
            items_per_second: progress.items_per_second,
            eta_seconds: progress.eta_seconds,
            duration_seconds: duration_seconds(job, progress.updated_at),
            attempts: job.generation + 1,
            started_from: job.validation.started_from,
            started_as: job.validation.started_as,
            undoes: job.undo.undoes.map(Undoes::from),
            undone_by: job.undo.undone_by,
            waiting_for: None,
            cost: cost_so_far(job, groups).map(CostDocument::new),
            cost_estimate: job.cost_estimate.as_ref().map(EstimateDocument::new),
            max_cost: job.tolerance.max_cost.map(NanoDollars::dollars),
            error: job.error.clone(),
            issues: job.issues.clone(),
            created_at: job.times.created_at.to_rfc3339(),
            started_at: job.times.started_at.map(Timestamp::to_rfc3339),
            finished_at: job.times.finished_at.map(Timestamp::to_rfc3339),
            updated_at: progress.updated_at.to_rfc3339(),
            timeout_seconds: job.times.timeout_s,
            deadline_at: job.times.deadline_at.to_rfc3339(),
            expires_at: Timestamp(job.times.expires_at.saturating_mul(1000)).to_rfc3339(),
            links: Links::new(job),
        }
    }
}

fn duration_seconds(job: &Job, updated_at: Timestamp) -> Option<u64> {
    let until = job.times.finished_at.unwrap_or(updated_at);
    job.times.started_at.map(|started_at| until.millis_since(started_at).unsigned_abs() / 1000)
}

#[cfg(test)]
#[path = "document_tests.rs"]
pub(crate) mod tests;
