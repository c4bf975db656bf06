//! How long a client should wait before it asks again: so that a bar moves with each answer, and no faster.

use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobTimes, Stage};
use longshore_domain::progress::{Progress, updated_at};
use longshore_domain::time_stamp::Timestamp;

/// The slowest pace: a person who looks at a bar now and then should find it true.
const SLOWEST_S: u64 = 30;

/// Answers that a client gets from the beginning of a job to its end: as many as a bar has steps.
const STEPS: u64 = 100;

/// A job of which nothing has ended yet is asked for more slowly by a second for each of these that it has lasted.
const PATIENCE_S: u64 = 10;

/// Seconds until the next poll, from 1 to 30: a hundredth of what the job will have taken at its present rate, and not
/// beyond its end. A job that stopped moving is asked for as if the rest took as long again as it has been still.
pub(crate) fn retry_after_s(job: &Job, groups: &[Group], now: Timestamp) -> u64 {
    if job.stage == Stage::Stopping {
        return 1;
    }
    let changed_at = updated_at(job, groups);
    let begun_at = job.times.started_at.unwrap_or(job.times.updated_at);
    let [age_s, still_s] = [begun_at, changed_at].map(|then| now.millis_since(then).unsigned_abs() / 1000);
    let wait_s = match Progress::new(job, groups, changed_at).eta_seconds {
        None => age_s / PATIENCE_S,
        Some(eta_s) => {
            let left_s = eta_s.saturating_sub(still_s).max(still_s);
            ((age_s + left_s) / STEPS).min(left_s)
        }
    };
    wait_s.clamp(1, SLOWEST_S)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::tests::running;

    /// A job that was begun at 0, created when it was begun, with this share of its thousand bytes done after so long.
    fn poll_interval(per_mille: u64, changed_s: i64, now_s: i64) -> u64 {
        let job = Job {
            times: JobTimes { started_at: Some(Timestamp(0)), updated_at: Timestamp(0), ..running().times.clone() },
            ..running()
        };
        let mut group = Group::new(0, 1_000, 1_000, Timestamp(changed_s * 1000));
        group.counts.succeeded = per_mille;
        retry_after_s(&job, &[group], Timestamp(now_s * 1000))
    }

    #[test]
    fn short_jobs_are_asked_for_each_second_and_long_ones_twice_a_minute() {
        for (per_mille, changed_s, now_s, expected, what) in [
            (500, 10, 10, 1, "20 s in all"),
            (500, 100, 100, 2, "200 s in all"),
            (100, 100, 100, 10, "1,000 s in all"),
            (500, 1_500, 1_500, 30, "50 minutes in all"),
            (1, 3_600, 3_600, 30, "1,000 hours in all"),
            (999, 5_000, 5_000, 6, "over an hour in all, and six seconds left"),
            (999, 5_000, 5_005, 5, "the same, five seconds later, with nothing new"),
            (999, 5_000, 7_000, 30, "the same, and still for half an hour"),
        ] {
            assert_eq!(poll_interval(per_mille, changed_s, now_s), expected, "{what}");
        }
    }

    #[test]
    fn a_job_of_which_nothing_has_ended_is_asked_for_ever_more_slowly() {
        for (age_s, expected) in [(0, 1), (19, 1), (20, 2), (100, 10), (300, 30), (100_000, 30)] {
            assert_eq!(poll_interval(0, 0, age_s), expected, "{age_s} s old");
        }
    }

    #[test]
    fn a_job_that_stops_is_asked_for_each_second() {
        let job = Job { stage: Stage::Stopping, ..running() };
        assert_eq!(retry_after_s(&job, &[], Timestamp(i64::MAX)), 1);
    }
}
