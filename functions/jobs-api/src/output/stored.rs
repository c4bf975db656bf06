//! The result of a job without a report, built from the job itself.

use longshore::problem::{Kind, Problem};
use longshore::result::{Report, ResultCounts, ResultDocument};
use longshore_domain::job::{Job, JobError};

use crate::jobs::links::path;

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
