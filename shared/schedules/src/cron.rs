//! Cron patterns, and the times that the clock of their zone shows.
//!
//! A pattern is parsed by croner. What a clock change does is decided here:
//!
//! | hours of the pattern | clock put forward | clock put back |
//! | --- | --- | --- |
//! | every hour | nothing runs, because no time passes | the repeated times run twice |
//! | others | what the clock leaves out runs once, when the clock is changed | a repeated time runs once, when it is first shown |
//!
//! So a pattern that runs every ten minutes has no pause and no burst, and a pattern for half past two runs once a day.

use std::fmt;

use croner::Cron as Pattern;
use croner::parser::{CronParser, Seconds, Year};
use jiff::Timestamp as Instant;
use longshore_domain::timestamp::Timestamp;

use crate::zone::{Occurrence, Zone, instant};

/// Maximum bytes of a pattern.
pub const PATTERN_BYTES: usize = 200;

/// Minimum time between two occurrences, in minutes.
pub const MIN_INTERVAL_MINUTES: u32 = 5;

const HOURS: usize = 24;
const DAY_MINUTES: u32 = 24 * 60;

/// A cron pattern of five fields.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Cron {
    /// Boxed, because it is large.
    pattern: Box<Pattern>,
    is_every_hour: bool,
}

/// A pattern that cannot be used.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
pub enum CronError {
    /// More bytes than allowed.
    #[error("a cron pattern has at most {PATTERN_BYTES} characters")]
    TooLong,
    /// Not a pattern.
    #[error(
        "the cron pattern cannot be read: {reason}; it has five fields - minute, hour, day of the month, month, day of \
         the week - such as \"30 2 * * MON-FRI\""
    )]
    Invalid {
        /// The parser's error.
        reason: String,
    },
    /// Occurrences that are too close.
    #[error(
        "the cron pattern runs twice within {minutes} minutes; {MIN_INTERVAL_MINUTES} minutes must lie between two times"
    )]
    TooOften {
        /// Minutes between the closest two times.
        minutes: u32,
    },
    /// No day has a time of the pattern, such as 30 February.
    #[error("no day matches the cron pattern")]
    Never,
}

impl Cron {
    /// Parses a pattern.
    ///
    /// # Errors
    /// If it cannot be read, never occurs, or occurs too often.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        if text.len() > PATTERN_BYTES {
            return Err(CronError::TooLong);
        }
        let parser = CronParser::builder().seconds(Seconds::Disallowed).year(Year::Disallowed).build();
        let invalid = |error: croner::errors::CronError| CronError::Invalid { reason: error.to_string() };
        let pattern = parser.parse(text).map_err(invalid)?;
        let (hours, minutes) = (pattern.pattern.hours.values(), pattern.pattern.minutes.values());
        match min_interval(&hours, &minutes) {
            Some(minutes) if minutes < MIN_INTERVAL_MINUTES => return Err(CronError::TooOften { minutes }),
            _ => {}
        }
        let cron = Self { pattern: Box::new(pattern), is_every_hour: hours.len() == HOURS };
        let start = jiff::civil::date(2000, 1, 1).at(0, 0, 0, 0);
        cron.pattern.find_next_occurrence(&start, true).map_err(|_| CronError::Never)?;
        Ok(cron)
    }

    /// Returns the first occurrence after a time; `None` if there is none before the year 5000.
    pub(crate) fn next_after(&self, zone: &Zone, after: Timestamp) -> Option<Occurrence> {
        let after = instant(after)?;
        let (at, clock_change) = if self.is_every_hour {
            let next = self.pattern.find_next_occurrence(&after.to_zoned(zone.inner().clone()), false).ok()?;
            (next.timestamp(), zone.clock_change(next.timestamp()))
        } else {
            let mut clock = zone.clock(after);
            loop {
                clock = self.pattern.find_next_occurrence(&clock, false).ok()?;
                // Not later: the clock shows this time for the second time, or was put forward over it.
                let found = zone.first_instant(clock)?;
                if found.0 > after {
                    break found;
                }
            }
        };
        Some(Occurrence { at: timestamp(at), clock_change })
    }
}

impl fmt::Display for Cron {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.pattern.as_str())
    }
}

fn timestamp(at: Instant) -> Timestamp {
    Timestamp(at.as_millisecond())
}

/// Returns the minutes between the closest two times of a day and the next one; `None` if there is only one time a day.
fn min_interval(hours: &[u16], minutes: &[u16]) -> Option<u32> {
    let times: Vec<u32> = hours
        .iter()
        .flat_map(|hour| minutes.iter().map(move |minute| u32::from(*hour) * 60 + u32::from(*minute)))
        .collect();
    let first = *times.first()?;
    let following = times.iter().skip(1).copied().chain([first + DAY_MINUTES]);
    times.iter().zip(following).map(|(time, next)| next - time).min().filter(|interval| *interval < DAY_MINUTES)
}
