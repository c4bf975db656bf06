//! The attempt to write a report, and the time of one invocation for it.

use longshore::ports::report_name;
use longshore::telemetry;
use longshore_domain::job::{Checkpoint, Job};
use longshore_domain::random::nonce;
use longshore_domain::timestamp::Timestamp;

use crate::outcome::{CompleteError, Halt, WorkbookError};

/// Length of a completion's turn, in seconds. After a turn, the completion stores its report so far and sends a
/// continuation to the end of its tenant's lane. The turn bounds the wait of other jobs, and the work that is lost with
/// a crash. Reading the input for the receipt is not part of a turn.
pub const TURN_S: i64 = 10;

/// Time reserved at the end of an invocation for the last chunk, the checkpoint and the continuation. A short
/// invocation reserves a quarter of its time instead.
const RESERVE_MS: i64 = 20_000;

/// Time and attempts of one invocation.
pub(crate) struct TurnBudget {
    /// Time after which the report is handed over.
    pub(crate) ends_at: Timestamp,
    /// Time after which no row is added to a workbook; as much time remains to compress and upload it.
    pub(crate) workbook_ends_at: Timestamp,
    /// True if a workbook of the results could not be written.
    pub(crate) results_as_csv: bool,
    /// Token of a checkpoint that cannot be continued: its upload has ended, or other code has stored it.
    pub(crate) unusable_checkpoint: Option<String>,
}

impl TurnBudget {
    /// Creates the budget of an invocation that starts now.
    pub(crate) fn new(now: Timestamp, deadline: Timestamp) -> Self {
        let left_ms = deadline.0.saturating_sub(now.0);
        let ends_at = Timestamp(deadline.0.saturating_sub(RESERVE_MS.min(left_ms / 4)));
        let workbook_ends_at = Timestamp(now.0 + ends_at.millis_since(now) / 2);
        let ends_at = ends_at.min(now.plus_seconds(TURN_S));
        Self { ends_at, workbook_ends_at, results_as_csv: false, unusable_checkpoint: None }
    }

    /// Makes the next attempt start from the beginning.
    pub(crate) fn restart(&mut self, attempt: &Attempt) -> Halt {
        self.unusable_checkpoint = attempt.checkpoint.as_ref().map(|at| at.token.clone());
        Halt::Again
    }

    /// Makes the next attempt start from the beginning, with the results as CSV.
    pub(crate) fn restart_as_csv(&mut self, job: &Job, attempt: &Attempt, why: &WorkbookError) -> Halt {
        tracing::warn!(job.id = %job.job_id, why = telemetry::chain(why), "the results are written as CSV, not as a workbook");
        self.results_as_csv = true;
        self.restart(attempt)
    }

    /// Makes the next attempt start from the beginning if an upload of this attempt no longer exists, or if the results
    /// cannot be a workbook. Returns any other error.
    pub(crate) fn restart_or_fail(&mut self, job: &Job, attempt: &Attempt, error: CompleteError) -> Halt {
        match error {
            CompleteError::UploadGone => self.restart(attempt),
            CompleteError::Workbook(why) => self.restart_as_csv(job, attempt, &why),
            error => Halt::Error(error),
        }
    }
}

/// An attempt to write the report of a generation, over as many invocations as it takes.
pub(crate) struct Attempt {
    pub(crate) name: String,
    /// Name of the report of this attempt. No other attempt writes under this name.
    pub(crate) report: String,
    /// The job's checkpoint that this attempt has read or written.
    pub(crate) checkpoint: Option<Checkpoint>,
    /// True if all rows are before the checkpoint.
    pub(crate) is_ended: bool,
    /// True if all rows were before the checkpoint when this delivery started.
    pub(crate) began_complete: bool,
}

impl Attempt {
    pub(crate) fn new(name: String, checkpoint: Option<Checkpoint>) -> Self {
        let report = report_name(&name, &nonce());
        Self { name, report, checkpoint, is_ended: false, began_complete: false }
    }
}
