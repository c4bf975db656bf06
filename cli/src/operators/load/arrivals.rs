//! The times at which jobs begin.

use std::time::Duration;

use super::rate::Rate;

/// The pace of a run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Pace {
    /// An open loop: each job has its time, however long the others take.
    Open(Rate),
    /// A closed loop: a job begins when an earlier one has ended.
    Closed,
}

/// The times at which jobs begin, and the end of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Arrivals {
    /// The pace.
    pub(super) pace: Pace,
    /// Maximum number of jobs.
    pub(super) jobs: Option<u64>,
    /// Time after which no job begins.
    pub(super) duration: Option<Duration>,
}

impl Arrivals {
    /// Returns the time of a job, from the start of the run; `None` if the run has no such job. `now` is the time at
    /// which a worker asks for it.
    pub(super) fn time_of(&self, number: u64, now: Duration) -> Option<Duration> {
        if self.jobs.is_some_and(|jobs| number >= jobs) {
            return None;
        }
        let time = match self.pace {
            Pace::Open(rate) => rate.time_of(number),
            Pace::Closed => now,
        };
        self.duration.is_none_or(|duration| time < duration).then_some(time)
    }

    /// Returns the number of jobs, if it does not depend on how long they take.
    pub(super) fn expected(&self) -> Option<u64> {
        let by_time = match (self.pace, self.duration) {
            (Pace::Open(rate), Some(duration)) => Some(rate.jobs_in(duration)),
            (Pace::Open(_), None) => None,
            (Pace::Closed, Some(_)) => return None,
            (Pace::Closed, None) => None,
        };
        match (by_time, self.jobs) {
            (Some(by_time), Some(jobs)) => Some(by_time.min(jobs)),
            (by_time, jobs) => by_time.or(jobs),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::rate;
    use super::*;

    const NOW: Duration = Duration::from_secs(7);

    fn open(rate: &str, jobs: Option<u64>, seconds: Option<u64>) -> Arrivals {
        let pace = Pace::Open(rate::parse(rate).unwrap());
        Arrivals { pace, jobs, duration: seconds.map(Duration::from_secs) }
    }

    fn closed(jobs: Option<u64>, seconds: Option<u64>) -> Arrivals {
        Arrivals { pace: Pace::Closed, jobs, duration: seconds.map(Duration::from_secs) }
    }

    #[test]
    fn the_times_of_an_open_loop_do_not_depend_on_the_time_at_which_a_worker_is_free() {
        let arrivals = open("2/s", Some(5), None);
        for now in [Duration::ZERO, NOW] {
            let times: Vec<_> = (0..10).map_while(|number| arrivals.time_of(number, now)).collect();
            assert_eq!(times, [0, 500, 1_000, 1_500, 2_000].map(Duration::from_millis));
        }
    }

    #[test]
    fn a_job_of_a_closed_loop_begins_when_a_worker_is_free() {
        assert_eq!(closed(Some(3), None).time_of(2, NOW), Some(NOW));
        assert_eq!(closed(Some(3), None).time_of(3, NOW), None);
        assert_eq!(closed(None, Some(7)).time_of(2, NOW), None, "the time is over");
        assert_eq!(closed(None, Some(8)).time_of(2, NOW), Some(NOW));
    }

    #[test]
    fn the_number_of_jobs_is_known_unless_it_depends_on_their_duration() {
        for (arrivals, expected) in [
            (open("2/s", Some(5), None), Some(5)),
            (open("2/s", Some(500), Some(10)), Some(20)),
            (open("2/s", Some(5), Some(10)), Some(5)),
            (open("2/s", None, Some(10)), Some(20)),
            (closed(Some(5), None), Some(5)),
            (closed(Some(5), Some(10)), None),
            (closed(None, Some(10)), None),
        ] {
            assert_eq!(arrivals.expected(), expected, "{arrivals:?}");
            if let Some(jobs) = expected {
                assert!(arrivals.time_of(jobs - 1, Duration::ZERO).is_some(), "{arrivals:?}");
                assert!(arrivals.time_of(jobs, Duration::ZERO).is_none(), "{arrivals:?}");
            }
        }
    }
}
