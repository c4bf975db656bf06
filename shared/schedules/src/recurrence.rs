//! The kinds of schedules, and their next times.

use longshore_domain::timestamp::Timestamp;

use crate::cron::{Cron, MIN_INTERVAL_MINUTES};
use crate::zone::{Occurrence, Zone};

/// Maximum period, in minutes: a year.
const MAX_PERIOD_MINUTES: u32 = 366 * 24 * 60;

/// When a schedule runs.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Recurrence {
    /// At the times of a cron pattern.
    Cron {
        /// The pattern.
        cron: Cron,
        /// The zone whose clock the pattern is about.
        zone: Zone,
    },
    /// Once in each period after a time, whatever the clocks show.
    Every {
        /// The period.
        period: Period,
        /// The time from which the periods count.
        from: Timestamp,
    },
    /// Once.
    At(Timestamp),
}

/// Time between two runs.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Period {
    minutes: u32,
}

/// A period that cannot be used.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("a period has {MIN_INTERVAL_MINUTES} to {MAX_PERIOD_MINUTES} minutes")]
pub struct PeriodError;

impl Period {
    /// Creates a period.
    ///
    /// # Errors
    /// If it is too short or too long.
    pub fn minutes(minutes: u32) -> Result<Self, PeriodError> {
        if (MIN_INTERVAL_MINUTES..=MAX_PERIOD_MINUTES).contains(&minutes) {
            Ok(Self { minutes })
        } else {
            Err(PeriodError)
        }
    }

    fn millis(self) -> i64 {
        i64::from(self.minutes) * 60_000
    }
}

impl Recurrence {
    /// Returns the first occurrence after a time; `None` if there is none.
    pub fn next_after(&self, after: Timestamp) -> Option<Occurrence> {
        match self {
            Self::Cron { cron, zone } => cron.next_after(zone, after),
            Self::Every { period, from } => {
                let periods = after.millis_since(*from) / period.millis() + 1;
                Some(plain(Timestamp(from.0.checked_add(periods.checked_mul(period.millis())?)?)))
            }
            Self::At(at) => (*at > after).then(|| plain(*at)),
        }
    }

    /// Returns the occurrences after a time, in order.
    pub fn occurrences_after(&self, after: Timestamp) -> impl Iterator<Item = Occurrence> {
        std::iter::successors(self.next_after(after), |occurrence| self.next_after(occurrence.at))
    }
}

fn plain(at: Timestamp) -> Occurrence {
    Occurrence { at, clock_change: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MINUTE: i64 = 60_000;

    #[test]
    fn periods_count_from_their_start_whenever_they_are_asked_for() {
        let every = Recurrence::Every { period: Period::minutes(10).unwrap(), from: Timestamp(7 * MINUTE) };
        for (after, next) in [(0, 17), (7, 17), (16, 17), (17, 27), (1_000, 1_007)] {
            assert_eq!(every.next_after(Timestamp(after * MINUTE)), Some(plain(Timestamp(next * MINUTE))), "{after}");
        }
        assert_eq!(every.next_after(Timestamp(i64::MAX)), None);
        assert_eq!(
            [4, 5, MAX_PERIOD_MINUTES, MAX_PERIOD_MINUTES + 1].map(|m| Period::minutes(m).is_ok()),
            [false, true, true, false]
        );
    }

    #[test]
    fn a_single_time_occurs_once() {
        let at = Recurrence::At(Timestamp(5));
        assert_eq!(at.occurrences_after(Timestamp(4)).collect::<Vec<_>>(), [plain(Timestamp(5))]);
        assert_eq!(at.next_after(Timestamp(5)), None);
    }
}
