//! Poll interval (`Retry-After`) of a client, chosen so that each poll shows progress.

use longshore_domain::group::Group;
use longshore_domain::job::{Job, Stage};
use longshore_domain::progress::{Progress, updated_at};
use longshore_domain::timestamp::Timestamp;

/// Maximum interval in seconds: short enough for a person who glances at a progress bar.
const SLOWEST_S: u64 = 30;

/// Target number of polls from the start of a job to its end: the steps of a progress bar.
const STEPS: u64 = 100;

/// Age of a job, in seconds, that lengthens the interval by one second while no item has ended.
const AGE_STEP_S: u64 = 10;

/// Returns the seconds until the next poll, from 1 to 30: a hundredth of the job's estimated duration at its current
/// rate, but not beyond its estimated end. For a job without progress, the remaining time is estimated as at least the
/// time since its last change.
pub(crate) fn retry_after_s(job: &Job, groups: &[Group], now: Timestamp) -> u64 {
    if job.stage == Stage::Stopping {
        return 1;
    }
    if let Some(start_at) = job.times.start_at.filter(|_| job.is_scheduled) {
        // The sweeper may be late.
        return (start_at.millis_since(now).unsigned_abs() / 1000).clamp(1, SLOWEST_S);
    }
    let changed_at = updated_at(job, groups);
    let started_at = job.times.started_at.unwrap_or(job.times.updated_at);
    let [age_s, idle_s] = [started_at, changed_at].map(|time| now.millis_since(time).unsigned_abs() / 1000);
    let wait_s = match Progress::new(job, groups, changed_at).eta_seconds {
        None => age_s / AGE_STEP_S,
        Some(eta_s) => {
            let remaining_s = eta_s.saturating_sub(idle_s).max(idle_s);
            ((age_s + remaining_s) / STEPS).min(remaining_s)
        }
    };
    wait_s.clamp(1, SLOWEST_S)
}

#[cfg(test)]
mod tests {
    use longshore_domain::job::JobTimes;

    use super::*;
    use crate::jobs::document::tests::running;

    /// Poll interval of a job that was created and started at 0, with this share of its thousand bytes done at
    /// `changed_s`.
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
    fn short_jobs_are_polled_every_second_and_long_jobs_every_thirty_seconds() {
        for (per_mille, changed_s, now_s, expected, what) in [
            (500, 10, 10, 1, "20 s in all"),
            (500, 100, 100, 2, "200 s in all"),
            (100, 100, 100, 10, "1,000 s in all"),
            (500, 1_500, 1_500, 30, "50 minutes in all"),
            (1, 3_600, 3_600, 30, "1,000 hours in all"),
            (999, 5_000, 5_000, 6, "over an hour in all, and six seconds left"),
            (999, 5_000, 5_005, 5, "the same, five seconds later, without progress"),
            (999, 5_000, 7_000, 30, "the same, without progress for half an hour"),
        ] {
            assert_eq!(poll_interval(per_mille, changed_s, now_s), expected, "{what}");
        }
    }

    #[test]
    fn the_interval_of_a_job_without_ended_items_grows_with_its_age() {
        for (age_s, expected) in [(0, 1), (19, 1), (20, 2), (100, 10), (300, 30), (100_000, 30)] {
            assert_eq!(poll_interval(0, 0, age_s), expected, "{age_s} s old");
        }
    }

    #[test]
    fn a_stopping_job_is_polled_every_second() {
        let job = Job { stage: Stage::Stopping, ..running() };
        assert_eq!(retry_after_s(&job, &[], Timestamp(i64::MAX)), 1);
    }
}
