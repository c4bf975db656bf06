//! The times of a job, and its deadline: the latest time at which it is stopped.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// The times of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobTimes {
    /// Time at which the job was accepted.
    pub created_at: Timestamp,
    /// Time from which the job is started, if its client named one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_at: Option<Timestamp>,
    /// Time at which the last retry was requested; absent on a job without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reopened_at: Option<Timestamp>,
    /// Time at which the job was started.
    pub started_at: Option<Timestamp>,
    /// Time of the final status.
    pub finished_at: Option<Timestamp>,
    /// Time of the last change to the job itself; its groups have their own.
    pub updated_at: Timestamp,
    /// Maximum run time in seconds.
    #[serde(default)]
    pub timeout_s: i64,
    /// Time at which the job is stopped unless it has ended.
    pub deadline_at: Timestamp,
    /// Time in seconds at which the job and its files expire: DynamoDB's time to live.
    pub expires_at: i64,
    /// Time at which the client deleted the job; absent on other jobs. From then on, no response and no list shows the
    /// job. It remains stored until it has ended and the sweeper has removed its data.
    #[serde(default)]
    pub deleted_at: Option<Timestamp>,
}

impl JobTimes {
    /// The times of a job that was just accepted: no deadline, no expiry.
    pub fn accepted(now: Timestamp) -> Self {
        Self {
            created_at: now,
            start_at: None,
            reopened_at: None,
            started_at: None,
            finished_at: None,
            updated_at: now,
            timeout_s: 0,
            deadline_at: Timestamp(i64::MAX),
            expires_at: i64::MAX,
            deleted_at: None,
        }
    }
}

/// Maximum time in seconds by which the deadline of a job that starts later moves, because it was started late: half of the
/// time that is kept for its end.
const LATE_S: i64 = 1_800;

impl JobTimes {
    /// Returns the time from which the job waits for its turn: that of its start, if it starts later.
    pub fn queued_at(&self) -> Timestamp {
        self.start_at.unwrap_or(self.created_at)
    }

    /// Returns the time from which the job waits for its start: that of its last retry, or [`Self::queued_at`].
    pub fn waits_since(&self) -> Timestamp {
        self.reopened_at.unwrap_or_else(|| self.queued_at())
    }

    /// Returns the deadline of a scheduled job that is started now.
    pub fn deadline_from(&self, now: Timestamp) -> Timestamp {
        let from_now = now.plus_seconds(self.timeout_s);
        from_now.clamp(self.deadline_at, self.deadline_at.plus_seconds(LATE_S))
    }
}

/// Time that a job needs from its deadline to its final status: the sweeper's minute, the grace of its workers, the
/// report, and retries of each.
const END_S: i64 = 3_600;

/// Returns the deadline of a job that is started or reopened now. At that time the job, its file and its groups are
/// still kept, whatever its timeout. `expires_at` is in seconds.
pub fn deadline(now: Timestamp, timeout_s: i64, expires_at: i64) -> Timestamp {
    now.plus_seconds(timeout_s).min(kept_until(expires_at))
}

/// Returns true if a job that is started or reopened now has any time before it expires.
pub fn has_time(now: Timestamp, expires_at: i64) -> bool {
    kept_until(expires_at) > now
}

/// Returns the latest time at which a job with this timeout may start, if its source is kept until `expires_at`, in
/// seconds: its whole time, and that of its end, lie before.
pub fn latest_start(timeout_s: i64, expires_at: i64) -> Timestamp {
    kept_until(expires_at).plus_seconds(timeout_s.saturating_neg())
}

fn kept_until(expires_at: i64) -> Timestamp {
    Timestamp(expires_at.saturating_sub(END_S).saturating_mul(1000))
}
