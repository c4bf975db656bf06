//! The job document: what every answer says of a job.

use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobError, Priority, Stage, Status};
use longshore_domain::progress::{Progress, sentence, shown_stage, updated_at};
use longshore_domain::time_stamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// A job. In every answer `succeeded + failed + skipped = itemProgress <= itemCount`.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Job)]
pub struct JobDocument {
    /// The job.
    pub job_id: JobId,
    /// Name of its job type.
    pub job_type: String,
    /// The client's name for its file; `null` if it has none.
    #[schema(required = true)]
    pub file_name: Option<String>,
    /// How urgent it is.
    pub priority: Priority,
    /// Where it stands.
    pub status: Status,
    /// Where it stands, finely.
    pub stage: Stage,
    /// The sentence that a person reads.
    #[schema(examples("Job running, 41% complete..."))]
    pub message: String,
    /// Items known so far; all of them once `itemCountFinal`.
    pub item_count: u64,
    /// The whole file has been counted.
    pub item_count_final: bool,
    /// Items that have ended; never decreases.
    pub item_progress: u64,
    /// Items by outcome.
    pub counts: JobCounts,
    /// How much is done, in percent of the file; never decreases.
    #[schema(maximum = 100)]
    pub percent: u8,
    /// Items per second from the beginning of the job to `updatedAt`.
    pub items_per_second: u64,
    /// Seconds from `updatedAt` to the end at that rate.
    #[schema(required = true)]
    pub eta_seconds: Option<u64>,
    /// Seconds from its beginning to its end, or to `updatedAt`; `null` before it was begun.
    #[schema(required = true)]
    pub duration_seconds: Option<u64>,
    /// 1, and one more with each retry.
    #[schema(minimum = 1)]
    pub attempts: u32,
    /// The job that checked the file before this one was started.
    #[schema(required = true)]
    pub started_from: Option<JobId>,
    /// The job that was started to do for real what this one has checked.
    #[schema(required = true)]
    pub started_as: Option<JobId>,
    /// Why it did not complete.
    #[schema(required = true)]
    pub error: Option<JobError>,
    /// Things to know that stopped nothing.
    pub issues: Vec<JobError>,
    /// When it was accepted; all times in RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When it was begun.
    #[schema(required = true, format = DateTime)]
    pub started_at: Option<String>,
    /// When it got its final status.
    #[schema(required = true, format = DateTime)]
    pub finished_at: Option<String>,
    /// When something last changed.
    #[schema(format = DateTime)]
    pub updated_at: String,
    /// Seconds that the job may take.
    #[schema(minimum = 1)]
    pub timeout_seconds: i64,
    /// When it is stopped if it has not ended: an hour before it is forgotten at the latest.
    #[schema(format = DateTime)]
    pub deadline_at: String,
    /// When it is forgotten.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// Where to go from here.
    pub links: Links,
}

/// Items by outcome.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct JobCounts {
    /// Items done.
    pub succeeded: u64,
    /// Items that failed.
    pub failed: u64,
    /// Items that were skipped.
    pub skipped: u64,
    /// Items known so far that have not ended.
    pub pending: u64,
}

/// Paths of what belongs to a job; `null` where there is nothing yet.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = JobLinks)]
pub struct Links {
    /// This document.
    #[serde(rename = "self")]
    #[schema(format = "uri-reference")]
    pub itself: String,
    /// The result, once there is one.
    #[schema(required = true, format = "uri-reference")]
    pub output: Option<String>,
    /// The failed items, once the job is finished.
    #[schema(required = true, format = "uri-reference")]
    pub failures: Option<String>,
    /// Stops the job, while it can be stopped.
    #[schema(required = true, format = "uri-reference")]
    pub cancel: Option<String>,
    /// Starts a job that does for real what this one has checked, while none was started.
    #[schema(required = true, format = "uri-reference")]
    pub start: Option<String>,
}

impl JobDocument {
    /// The document of a job whose groups were read before it; a completed job's groups may be left out.
    ///
    /// It is the same at any time until something changes: rate and ETA are those of the last change.
    pub fn new(job: &Job, groups: &[Group]) -> Self {
        let progress = Progress::new(job, groups, updated_at(job, groups));
        let (counts, item_progress) = (progress.counts, progress.item_progress());
        // The totals of a job that has ended cover groups that were committed after the groups at hand were read.
        let item_count = if job.completion.totals.is_some() { job.split.item_count } else { progress.item_count };
        Self {
            job_id: job.job_id,
            job_type: job.job_type.clone(),
            file_name: job.source.as_ref().map(|source| source.name.clone()),
            priority: job.priority,
            status: job.status,
            stage: shown_stage(job),
            message: sentence(job, progress.percent),
            item_count,
            item_count_final: progress.item_count_final,
            item_progress,
            counts: JobCounts {
                succeeded: counts.succeeded,
                failed: counts.failed,
                skipped: counts.skipped,
                pending: item_count.saturating_sub(item_progress),
            },
            percent: progress.percent,
            items_per_second: progress.items_per_second,
            eta_seconds: progress.eta_seconds,
            duration_seconds: duration_seconds(job, progress.updated_at),
            attempts: job.generation + 1,
            started_from: job.validation.started_from,
            started_as: job.validation.started_as,
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

impl Links {
    fn new(job: &Job) -> Self {
        let itself = path(job.job_id);
        let output = job.status.is_final().then(|| output_path(job.job_id));
        let failures = job.status.is_final().then(|| failures_path(job.job_id));
        let cancel = job.is_live().then(|| format!("{itself}/cancel"));
        let start = job.is_startable().then(|| format!("{itself}/start"));
        Self { itself, output, failures, cancel, start }
    }
}

fn duration_seconds(job: &Job, updated_at: Timestamp) -> Option<u64> {
    let until = job.times.finished_at.unwrap_or(updated_at);
    job.times.started_at.map(|begun| until.millis_since(begun).unsigned_abs() / 1000)
}

/// Where a job is.
pub(crate) fn path(id: JobId) -> String {
    format!("/api/jobs/{id}")
}

/// Where a job's result is.
pub(crate) fn output_path(id: JobId) -> String {
    format!("/api/jobs/{id}/output")
}

/// Where a job's failed items are.
pub(crate) fn failures_path(id: JobId) -> String {
    format!("/api/jobs/{id}/failures")
}

#[cfg(test)]
#[path = "document_tests.rs"]
pub(crate) mod tests;
