//! The times of a stored schedule.

use longshore_domain::schedule::Timing;

use crate::cron::{Cron, CronError};
use crate::recurrence::{Period, PeriodError, Recurrence};
use crate::zone::{Zone, ZoneError};

/// A stored timing that cannot be used.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum TimingError {
    /// The cron pattern.
    #[error(transparent)]
    Cron(#[from] CronError),
    /// The time zone.
    #[error(transparent)]
    Zone(#[from] ZoneError),
    /// The period.
    #[error(transparent)]
    Period(#[from] PeriodError),
}

impl Recurrence {
    /// Returns the times of a stored schedule.
    ///
    /// # Errors
    /// If another version of this program has stored what this one cannot use.
    pub fn of(timing: &Timing) -> Result<Self, TimingError> {
        Ok(match timing {
            Timing::Cron { pattern, time_zone } => {
                Self::Cron { cron: Cron::parse(pattern)?, zone: Zone::new(time_zone)? }
            }
            Timing::Every { minutes, from } => Self::Every { period: Period::minutes(*minutes)?, from: *from },
            Timing::At(at) => Self::At(*at),
        })
    }
}
