//! The times of a job, and its deadline: the latest time at which it is stopped.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// The times of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobTimes {
    /// Time at which the job was accepted.
    pub created_at: Timestamp,
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

fn kept_until(expires_at: i64) -> Timestamp {
    Timestamp(expires_at.saturating_sub(END_S).saturating_mul(1000))
}
