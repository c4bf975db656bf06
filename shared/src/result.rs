//! The result document: what a finished job came to, and where the files of its report are.
//!
//! Completion writes it beside the files, under the keys of the bucket; the API answers it with presigned links in
//! place of the keys. Status, times and error are the job's own. A report that was written before attempts had names may have
//! been another completion's: whoever answers the document lays the final job over it with [`ResultDocument::with_job`].

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobError, Status};
use longshore_domain::time_stamp::Timestamp;
use serde::{Deserialize, Serialize};

/// Name of the document within a job's report; see [`JobFolder`](crate::ports::JobFolder).
pub const RESULT_NAME: &str = "result.json";

/// What a finished job came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultDocument {
    /// The job.
    pub job_id: JobId,
    /// Name of its job type.
    pub job_type: String,
    /// Its final status.
    pub status: Status,
    /// Items of the input, as far as it was or could still be read.
    pub item_count: u64,
    /// What became of them.
    pub counts: ResultCounts,
    /// When, and how long.
    pub timings: Timings,
    /// Why it did not complete, if it did not.
    pub error: Option<JobError>,
    /// Things to know that stopped nothing.
    pub issues: Vec<JobError>,
    /// The rows that did not succeed.
    pub files: ReportFiles,
}

/// How many items ended in which way; together they are `itemCount`.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = OutputCounts)]
pub struct ResultCounts {
    /// Items done.
    pub succeeded: u64,
    /// Rows of `failed.csv`.
    pub failed: u64,
    /// Rows of `skipped.csv`.
    pub skipped: u64,
    /// Rows of `unprocessed.csv`; none unless the job was stopped.
    pub unprocessed: u64,
}

impl ResultCounts {
    /// All of them.
    pub fn total(self) -> u64 {
        self.succeeded + self.failed + self.skipped + self.unprocessed
    }
}

/// When a job was accepted, begun and ended; RFC 3339 in UTC.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timings {
    /// When it was accepted.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// When it was begun; none if it was stopped before.
    #[schema(required = true, format = DateTime)]
    pub started_at: Option<String>,
    /// When it got its final status.
    #[schema(required = true, format = DateTime)]
    pub finished_at: Option<String>,
    /// Milliseconds between accepted and begun, or ended if it never was.
    pub queued_ms: i64,
    /// Milliseconds between begun and ended.
    pub run_ms: i64,
}

impl Timings {
    fn from_job(job: &Job) -> Self {
        let ended = job.times.finished_at.unwrap_or(job.times.updated_at);
        let begun = job.times.started_at.unwrap_or(ended);
        Self {
            created_at: job.times.created_at.to_rfc3339(),
            started_at: job.times.started_at.map(Timestamp::to_rfc3339),
            finished_at: job.times.finished_at.map(Timestamp::to_rfc3339),
            queued_ms: begun.millis_since(job.times.created_at),
            run_ms: ended.millis_since(begun),
        }
    }
}

/// The files of a report; one without a row is not written.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct ReportFiles {
    /// Items that failed, with code, field and message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<ReportFile>,
    /// Items that were skipped, with the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub skipped: Option<ReportFile>,
    /// Items that had not ended when the job was stopped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unprocessed: Option<ReportFile>,
}

/// One file of a report.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportFile {
    /// Object key.
    pub key: String,
    /// Rows below its header.
    pub rows: u64,
}

/// What completion finds out beyond the job itself.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Report {
    /// What became of the items.
    pub counts: ResultCounts,
    /// What else is to be known.
    pub issues: Vec<JobError>,
    /// The files.
    pub files: ReportFiles,
}

impl ResultDocument {
    /// The document of a job that has its final status, and of its report.
    pub fn new(job: &Job, report: Report) -> Self {
        let mut issues = job.issues.clone();
        issues.extend(report.issues);
        Self {
            job_id: job.job_id,
            job_type: job.job_type.clone(),
            status: job.status,
            item_count: report.counts.total(),
            counts: report.counts,
            timings: Timings::from_job(job),
            error: job.error.clone(),
            issues,
            files: report.files,
        }
    }

    /// The same with the status, the error and the times that this finished job has.
    #[must_use]
    pub fn with_job(self, job: &Job) -> Self {
        Self { status: job.status, error: job.error.clone(), timings: Timings::from_job(job), ..self }
    }
}
