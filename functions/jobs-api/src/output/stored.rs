//! The result of a job: written by completion, or else built from the job itself.

use longshore::http::Failure;
use longshore::ports::report_key;
use longshore::problem::{Kind, Problem};
use longshore::receipt::{RECEIPT_NAME, Receipt};
use longshore::result::{RESULT_NAME, Report, ResultCounts, ResultDocument};
use longshore_domain::job::{Job, JobError};
use longshore_domain::ports::{Files, Read};
use serde::de::DeserializeOwned;

use crate::jobs::document::path;

/// Returns the result that completion wrote, if it exists.
pub(crate) async fn stored_result(files: &impl Files, job: &Job) -> Result<Option<ResultDocument>, Failure> {
    stored_document(files, job, RESULT_NAME).await
}

/// Returns the receipt that completion wrote, if it exists.
pub(super) async fn stored_receipt(files: &impl Files, job: &Job) -> Result<Option<Receipt>, Failure> {
    stored_document(files, job, RECEIPT_NAME).await
}

async fn stored_document<T: DeserializeOwned>(files: &impl Files, job: &Job, name: &str) -> Result<Option<T>, Failure> {
    match files.read(&report_key(job, name), None, None).await? {
        Read::Found(bytes) => serde_json::from_slice(&bytes).map_err(|error| Failure::Internal(Box::new(error))),
        Read::Absent | Read::Changed => Ok(None),
    }
}

/// Builds the result from the job itself: its final status was written together with the counts of all ended items.
pub(super) fn result_from_job(job: &Job) -> ResultDocument {
    let ended = job.completion.totals.unwrap_or_default();
    let counts = ResultCounts {
        succeeded: ended.succeeded,
        failed: ended.failed,
        skipped: ended.skipped,
        unprocessed: job.split.item_count.saturating_sub(ended.done()),
    };
    let message = "the files of this job do not exist: they could not be written, or they have expired; \
                   the counts include only items that were read";
    let issues = vec![JobError::new("no_report", message)];
    ResultDocument::new(job, Report { counts, issues, ..Report::default() })
}

/// 404: the job has no report.
pub(crate) fn no_report() -> Problem {
    let detail = "the files of this job do not exist: they could not be written, or they have expired";
    Problem::new(Kind::NoReport, detail)
}

/// 404: the job has no result yet.
pub(crate) fn not_finished(job: &Job) -> Problem {
    let status = job.status.as_str();
    let detail = format!("the job is {status} and has no result yet; poll {} until it has ended", path(job.job_id));
    Problem::new(Kind::NotFinished, detail)
}
