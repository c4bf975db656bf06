//! Deadlines: the latest time at which a job is stopped.

use crate::timestamp::Timestamp;

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
