//! The result document: the results of a finished job, and the keys of its report's files.
//!
//! Completion writes it with the files, with their keys in the bucket; the API returns it with presigned links instead
//! of the keys. Status, times and error are those of the job. A report that was written before attempts had names may
//! come from another completion, so code that returns the document sets the values of the final job with
//! [`ResultDocument::with_job`].

use std::collections::BTreeMap;
use std::iter;

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobError, Status};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::OutputSlice;
use memchr::memchr;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

/// Name of the document within a job's report; see [`JobFolder`](crate::ports::JobFolder).
pub const RESULT_NAME: &str = "result.json";

/// Name of the index of the results within a job's report.
pub const RESULTS_INDEX_NAME: &str = "results-index.jsonl";

/// A line of the index of the results: the outputs that one commit has added, in the order of the results.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct IndexedSlice {
    /// Number of the group.
    pub group: u32,
    /// Number of the chunk within the group.
    pub chunk: u32,
    /// Token of the commit, which names the object with the outputs.
    pub token: String,
    /// Rows, size and checksums of the object.
    #[serde(flatten)]
    pub outputs: OutputSlice,
}

/// A row of results that have the numbers of their items.
#[derive(Copy, Clone, Debug, Deserialize)]
pub struct NumberedLine<'a> {
    /// Number of the item.
    pub number: u64,
    /// Output of the item.
    #[serde(borrow)]
    pub output: &'a RawValue,
}

/// Returns the lines of a slice or of an index.
pub fn lines_of(lines: &[u8]) -> impl Iterator<Item = &[u8]> {
    let mut rest = lines;
    iter::from_fn(move || {
        let end = memchr(b'\n', rest).unwrap_or(rest.len());
        let line = rest.get(..end).filter(|_| !rest.is_empty())?;
        rest = rest.get(end + 1..).unwrap_or_default();
        Some(line)
    })
    .filter(|line| !line.is_empty())
}

/// Results of a finished job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ResultDocument {
    /// The job.
    pub job_id: JobId,
    /// Name of its job type.
    pub job_type: String,
    /// Final status of the job.
    pub status: Status,
    /// Items of the input that were read, or could still be read.
    pub item_count: u64,
    /// Number of items by result.
    pub counts: ResultCounts,
    /// Number of failed items by code; none in results of earlier versions.
    #[serde(default)]
    pub failures_by_code: FailuresByCode,
    /// Times and durations.
    pub timings: Timings,
    /// Reason why the job did not complete; otherwise `None`.
    pub error: Option<JobError>,
    /// Non-fatal warnings.
    pub issues: Vec<JobError>,
    /// Files of the items that did not succeed.
    pub files: ReportFiles,
}

/// Number of items by result; the sum is `itemCount`.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = OutputCounts)]
pub struct ResultCounts {
    /// Items that succeeded.
    pub succeeded: u64,
    /// Rows of `failed.csv`.
    pub failed: u64,
    /// Rows of `skipped.csv`.
    pub skipped: u64,
    /// Rows of `unprocessed.csv`; 0 unless the job was stopped.
    pub unprocessed: u64,
}

impl ResultCounts {
    /// Returns the sum of all items.
    pub fn total(self) -> u64 {
        self.succeeded + self.failed + self.skipped + self.unprocessed
    }
}

/// Number of failed items by code: of all codes if they are few, otherwise of the codes that came first.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FailuresByCode(BTreeMap<String, u64>);

impl FailuresByCode {
    /// Maximum number of codes. A custom job type can have any number, and the result is read as a whole.
    pub const MAX_CODES: usize = 100;

    /// Counts an item that failed with this code.
    pub fn count(&mut self, code: &str) {
        if let Some(items) = self.0.get_mut(code) {
            *items += 1;
        } else if self.0.len() < Self::MAX_CODES {
            self.0.insert(code.to_owned(), 1);
        }
    }

    /// Returns true if an item that was counted has this code.
    pub fn contains(&self, code: &str) -> bool {
        self.0.contains_key(code)
    }

    /// Returns true if all `failed` items are counted by code. Results of earlier versions count none.
    pub fn is_complete(&self, failed: u64) -> bool {
        self.0.values().sum::<u64>() == failed
    }

    /// Returns the codes in alphabetical order.
    pub fn codes(&self) -> impl Iterator<Item = &str> {
        self.0.keys().map(String::as_str)
    }

    /// Returns the codes in alphabetical order, each with its number of items.
    pub fn iter(&self) -> impl Iterator<Item = (&str, u64)> {
        self.0.iter().map(|(code, items)| (code.as_str(), *items))
    }

    /// Returns the counts by code.
    pub fn into_counts(self) -> BTreeMap<String, u64> {
        self.0
    }
}

/// Times when a job was accepted, started and finished, in RFC 3339 (UTC), and durations.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Timings {
    /// Time when the job was accepted.
    #[schema(format = DateTime)]
    pub created_at: String,
    /// Time when the job started; `null` if it was stopped before.
    #[schema(required = true, format = DateTime)]
    pub started_at: Option<String>,
    /// Time when the job reached its final status.
    #[schema(required = true, format = DateTime)]
    pub finished_at: Option<String>,
    /// Milliseconds from acceptance to the start, or to the end of a job that never started.
    pub queued_ms: i64,
    /// Milliseconds from the start to the end.
    pub run_ms: i64,
}

impl Timings {
    fn from_job(job: &Job) -> Self {
        let ended = job.times.finished_at.unwrap_or(job.times.updated_at);
        let started = job.times.started_at.unwrap_or(ended);
        Self {
            created_at: job.times.created_at.to_rfc3339(),
            started_at: job.times.started_at.map(Timestamp::to_rfc3339),
            finished_at: job.times.finished_at.map(Timestamp::to_rfc3339),
            queued_ms: started.millis_since(job.times.queued_at()).max(0),
            run_ms: ended.millis_since(started),
        }
    }
}

/// The files of a report; a file without rows is not written.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
    /// Outputs of the items that succeeded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<ReportFile>,
    /// Index of the results. Its rows are the slices.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results_index: Option<ReportFile>,
}

/// One file of a report.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct ReportFile {
    /// Object key.
    pub key: String,
    /// Number of rows below the header.
    pub rows: u64,
}

impl ReportFiles {
    /// Returns the files that exist.
    pub fn all(self) -> Vec<ReportFile> {
        let Self { failed, skipped, unprocessed, results, results_index } = self;
        [failed, skipped, unprocessed, results, results_index].into_iter().flatten().collect()
    }
}

impl ReportFile {
    /// Returns the name of the file: the last part of its key.
    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or(&self.key)
    }
}

/// Results of a completion beyond the job itself.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct Report {
    /// Number of items by result.
    pub counts: ResultCounts,
    /// Number of failed items by code.
    pub failures_by_code: FailuresByCode,
    /// Further issues.
    pub issues: Vec<JobError>,
    /// The files.
    pub files: ReportFiles,
}

impl ResultDocument {
    /// Creates the document of a job that has its final status, and of its report.
    pub fn new(job: &Job, report: Report) -> Self {
        let mut issues = job.issues.clone();
        issues.extend(report.issues);
        Self {
            job_id: job.job_id,
            job_type: job.job_type.clone(),
            status: job.status,
            item_count: report.counts.total(),
            counts: report.counts,
            failures_by_code: report.failures_by_code,
            timings: Timings::from_job(job),
            error: job.error.clone(),
            issues,
            files: report.files,
        }
    }

    /// Returns the document with the status, the error and the times of this finished job.
    #[must_use]
    pub fn with_job(self, job: &Job) -> Self {
        Self { status: job.status, error: job.error.clone(), timings: Timings::from_job(job), ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::FailuresByCode;

    #[test]
    fn failures_are_counted_by_code_up_to_the_maximum_of_codes() {
        let (mut few, mut many) = (FailuresByCode::default(), FailuresByCode::default());
        ["b", "a", "b"].into_iter().for_each(|code| few.count(code));
        assert_eq!(few.clone().into_counts(), [("a".to_owned(), 1), ("b".to_owned(), 2)].into());
        assert!(few.contains("b") && !few.contains("c") && few.is_complete(3));
        (0..=FailuresByCode::MAX_CODES).for_each(|n| many.count(&format!("code {n}")));
        many.count("code 0");
        assert_eq!((many.codes().count(), many.is_complete(102)), (FailuresByCode::MAX_CODES, false));
        assert_eq!(many.into_counts()["code 0"], 2);
    }
}
