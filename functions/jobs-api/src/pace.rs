//! How long a client should wait before it asks again.

use longshore_domain::time_stamp::Timestamp;

use crate::JobDocument;

/// The slowest pace: a person who looks at a bar should see it move.
const SLOWEST_S: u64 = 5;

/// A job slows down by one second for each of these that it has lasted.
const STEP_S: u64 = 30;

/// Seconds until the next poll: one while the job is young or near its end, up to five for a long one.
pub(crate) fn retry_after_s(document: &JobDocument, created_at: Timestamp, now: Timestamp) -> u64 {
    let age_s = now.millis_since(created_at).unsigned_abs() / 1000;
    let by_age = (1 + age_s / STEP_S).min(SLOWEST_S);
    let by_eta = document.eta_seconds.unwrap_or(SLOWEST_S).clamp(1, SLOWEST_S);
    by_age.min(by_eta)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::tests::{document, running};

    #[test]
    fn young_and_nearly_done_jobs_are_asked_often_and_long_ones_seldom() {
        for (age_s, eta_s, expected) in [
            (0, None, 1),
            (29, Some(600), 1),
            (30, None, 2),
            (100, Some(600), 4),
            (100_000, Some(600), 5),
            (100_000, None, 5),
            (100_000, Some(2), 2),
            (100_000, Some(0), 1),
        ] {
            let document = JobDocument { eta_seconds: eta_s, ..document(&running()) };
            let seconds = retry_after_s(&document, Timestamp(0), Timestamp(age_s * 1000));
            assert_eq!(seconds, expected, "{age_s} s old, {eta_s:?} s left");
        }
    }
}
