//! The metrics of a job that has ended.

use longshore_domain::job::{Job, Status};

use super::{Metric, count, time};
use crate::chunk::reasons;
use crate::result::FailuresByCode;

/// Label of the codes that a remote handler chooses. They are unbounded, and each value of a dimension is a metric that is
/// paid for.
const REMOTE_CODE: &str = "remote";

/// Records the end of a job, or of its retry, with the failed items of its report. Called by the invocation that wrote
/// the final status.
///
/// The codes of a job type in Rust are labels as they are. [`FailuresByCode`] has at most [`FailuresByCode::MAX_CODES`]
/// of them for a job, each of at most 100 bytes. The number over all jobs is that of the constants in the code of the
/// type, as long as no code has a value of a row in it.
pub fn job_ended(job: &Job, failures: &FailuresByCode) {
    let job_type = job.job_type.as_str();
    count(Metric::JobsEnded, &[job_type, Status::Failed.as_str()], 0);
    count(Metric::JobsEnded, &[job_type, job.status.as_str()], 1);
    if let Some(finished_at) = job.times.finished_at {
        time(Metric::JobDuration, &[job_type], finished_at.millis_since(job.times.waits_since()));
    }
    for (code, items) in failures.iter() {
        let code = if job.is_registered && !reasons::is_own(code) { REMOTE_CODE } else { code };
        count(Metric::ItemsFailedByCode, &[job_type, code], items);
    }
}
