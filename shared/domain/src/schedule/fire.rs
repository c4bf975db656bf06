//! An occurrence of a schedule: the job that it makes, or the reason why it makes none.

use serde::{Deserialize, Serialize};

use super::record::{Overlap, Schedule};
use crate::ids::JobId;
use crate::timestamp::Timestamp;

/// Seconds after its time from which an occurrence makes no job. The sweeper fires a schedule within a minute or two; later
/// only after an outage, and then hours of occurrences must not run at once.
pub const LATE_S: i64 = 3_600;

/// Days for which an occurrence is kept.
const KEPT_DAYS: i64 = 30;

/// Identifies an occurrence of a schedule. Later occurrences have greater ids.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub struct OccurrenceId(String);

impl OccurrenceId {
    /// Parses an id; `None` if no occurrence can have it.
    pub fn parse(text: &str) -> Option<Self> {
        let (time, revision) = text.split_once('-')?;
        let is_number = |text: &str, digits| text.len() == digits && text.bytes().all(|c| c.is_ascii_digit());
        (is_number(time, 15) && is_number(revision, 10)).then(|| Self(text.to_owned()))
    }

    /// Returns the id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// An occurrence as it is recorded.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Occurrence {
    /// Scheduled time; for a triggered occurrence, the time of the call.
    pub scheduled_at: Timestamp,
    /// Revision of the schedule after it.
    pub revision: u32,
    /// Time of the record.
    pub at: Timestamp,
    /// The result.
    pub result: OccurrenceResult,
}

impl Occurrence {
    /// Returns the id.
    pub fn id(&self) -> OccurrenceId {
        OccurrenceId(format!("{:015}-{:010}", self.scheduled_at.0.max(0), self.revision))
    }

    /// Returns the time after which it is removed, in seconds since the Unix epoch.
    pub fn expires_at(&self) -> i64 {
        self.at.plus_days(KEPT_DAYS).seconds()
    }
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

/// Reason for a skipped occurrence.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum SkipReason {
    /// The job of an earlier occurrence was active.
    Overlap,
    /// The occurrence was noticed more than an hour late, or when the next one was due.
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

/// Decision about a schedule.
#[derive(Clone, PartialEq, Debug)]
pub enum FireDecision {
    /// The schedule is not due.
    NotDue,
    /// It creates a job.
    Start,
    /// It creates none, for this reason.
    Skip(SkipReason),
}

impl Schedule {
    /// Returns the decision about the next occurrence. `following` is the time after it; if that has come too, the next occurrence
    /// was missed.
    pub fn decide(&self, last_job: LastJob, following: Option<Timestamp>, now: Timestamp) -> FireDecision {
        match self.due() {
            Some(next_at) if next_at > now => FireDecision::NotDue,
            None => FireDecision::NotDue,
            Some(next_at) if next_at.plus_seconds(LATE_S) < now => FireDecision::Skip(SkipReason::TooLate),
            Some(_) if following.is_some_and(|following| following <= now) => FireDecision::Skip(SkipReason::TooLate),
            Some(_) if self.waits_for(last_job) => FireDecision::Skip(SkipReason::Overlap),
            Some(_) => FireDecision::Start,
        }
    }

    /// Returns true if no job is made because of the job of an earlier occurrence.
    pub fn waits_for(&self, last_job: LastJob) -> bool {
        last_job == LastJob::Active && self.overlap == Overlap::Skip
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
