//! An occurrence of a schedule: the job that it makes, or the reason why it makes none.

use serde::{Deserialize, Serialize};

use super::record::{Overlap, Schedule};
use crate::ids::JobId;
use crate::timestamp::Timestamp;

/// Seconds after its time from which an occurrence makes no job. The sweeper fires a schedule within a minute or two; later
/// only after an outage, and then hours of occurrences must not run at once.
pub const LATE_S: i64 = 3_600;

/// An occurrence as it is recorded.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    /// Its time, by the schedule.
    pub scheduled_at: Timestamp,
    /// Time of the record.
    pub at: Timestamp,
    /// The result.
    pub result: OccurrenceResult,
}

/// The result of an occurrence.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "result")]
pub enum OccurrenceResult {
    /// It has made a job.
    #[serde(rename_all = "camelCase")]
    Started {
        /// The job.
        job_id: JobId,
    },
    /// It was skipped.
    Skipped {
        /// The reason.
        reason: SkipReason,
    },
    /// The job could not be created.
    Failed {
        /// Stable code.
        code: String,
        /// Text for people.
        detail: String,
    },
}

/// Why an occurrence was skipped.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The job of an earlier occurrence was active.
    Overlap,
    /// The occurrence was noticed too late.
    TooLate,
}

/// The job of the newest occurrence that made one.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum LastJob {
    /// It has not ended.
    Active,
    /// It has ended, or no longer exists, or there was none.
    Ended,
}

/// What an occurrence does.
#[derive(Clone, PartialEq, Debug)]
pub enum Fired {
    /// The schedule is not due.
    NotDue,
    /// It makes a job.
    Starts,
    /// It makes none, for this reason.
    Skips(SkipReason),
}

impl Schedule {
    /// Returns what the next occurrence does now.
    pub fn fire(&self, last_job: LastJob, now: Timestamp) -> Fired {
        match self.next_at.filter(|_| !self.paused) {
            Some(next_at) if next_at > now => Fired::NotDue,
            None => Fired::NotDue,
            Some(next_at) if next_at.plus_seconds(LATE_S) < now => Fired::Skips(SkipReason::TooLate),
            Some(_) if last_job == LastJob::Active && self.overlap == Overlap::Skip => {
                Fired::Skips(SkipReason::Overlap)
            }
            Some(_) => Fired::Starts,
        }
    }

    /// Returns the schedule after an occurrence with this result. `next_at` is the time of the one after it.
    #[must_use]
    pub fn fired(&self, result: &OccurrenceResult, next_at: Option<Timestamp>) -> Self {
        let last_job = match result {
            OccurrenceResult::Started { job_id } => Some(*job_id),
            OccurrenceResult::Skipped { .. } | OccurrenceResult::Failed { .. } => self.last_job,
        };
        self.clone().changed(|schedule| (schedule.next_at, schedule.last_job) = (next_at, last_job))
    }
}

#[cfg(test)]
#[path = "fire_tests.rs"]
mod tests;
