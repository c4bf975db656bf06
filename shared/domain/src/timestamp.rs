//! Timestamps in milliseconds since the Unix epoch.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

const DAY_MS: i64 = 86_400_000;

/// A point in time, in milliseconds since 1970-01-01T00:00:00Z.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// Returns the system clock's current time. Only `main` and adapters call it; rules get the time as an argument.
    pub fn now() -> Self {
        let since_epoch = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        Self(since_epoch.map_or(0, |d| i64::try_from(d.as_millis()).unwrap_or(i64::MAX)))
    }

    /// Returns whole seconds since the epoch, as DynamoDB's time to live requires.
    pub fn seconds(self) -> i64 {
        self.0.div_euclid(1000)
    }

    /// Returns the time `seconds` later.
    #[must_use]
    pub fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1000)))
    }

    /// Returns the time `days` later, each of 24 hours.
    #[must_use]
    pub fn plus_days(self, days: i64) -> Self {
        Self(self.0.saturating_add(days.saturating_mul(DAY_MS)))
    }

    /// Returns the next midnight in UTC: the end of the day.
    #[must_use]
    pub fn end_of_day(self) -> Self {
        Self((self.0.div_euclid(DAY_MS) + 1).saturating_mul(DAY_MS))
    }

    /// Returns the last midnight in UTC: the beginning of the day.
    #[must_use]
    pub fn day(self) -> Self {
        Self(self.0.div_euclid(DAY_MS).saturating_mul(DAY_MS))
    }

    /// Returns the date in UTC, `2026-07-01` for instance.
    pub fn date(self) -> String {
        self.to_rfc3339().split('T').next().unwrap_or_default().to_owned()
    }

    /// Returns whole seconds since `earlier`, rounded up, for a `Retry-After`.
    pub fn seconds_since(self, earlier: Self) -> u32 {
        u32::try_from(self.millis_since(earlier).unsigned_abs().div_ceil(1000)).unwrap_or(u32::MAX)
    }

    /// Returns the milliseconds since `earlier`; zero if `earlier` is later.
    pub fn millis_since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).max(0)
    }

    /// Parses RFC 3339, with any offset and any number of digits of a second. Smaller parts than a millisecond are
    /// dropped.
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let time = OffsetDateTime::parse(text, &Rfc3339).ok()?;
        i64::try_from(time.unix_timestamp_nanos().div_euclid(1_000_000)).ok().map(Self)
    }

    /// Formats as RFC 3339 in UTC with milliseconds, as the API does.
    pub fn to_rfc3339(self) -> String {
        OffsetDateTime::from_unix_timestamp_nanos(i128::from(self.0) * 1_000_000)
            .ok()
            .and_then(|t| t.format(&Rfc3339).ok())
            .unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::Timestamp;

    #[test]
    fn a_timestamp_is_written_as_rfc_3339() {
        assert_eq!(Timestamp(1_700_000_000_123).to_rfc3339(), "2023-11-14T22:13:20.123Z");
    }

    #[test]
    fn a_timestamp_is_parsed_from_rfc_3339() {
        for (text, millis) in [
            ("2023-11-14T22:13:20.123Z", Some(1_700_000_000_123)),
            ("2023-11-14T23:13:20.1239+01:00", Some(1_700_000_000_123)),
            ("1969-12-31T23:59:59.9999Z", Some(-1)),
            ("2023-11-14", None),
            ("1700000000", None),
        ] {
            assert_eq!(Timestamp::parse_rfc3339(text).map(|time| time.0), millis, "{text}");
        }
    }

    #[test]
    fn a_day_ends_at_midnight_in_utc() {
        let end = |millis| Timestamp(millis).end_of_day().0;
        assert_eq!(Timestamp(end(1_700_000_000_123)).to_rfc3339(), "2023-11-15T00:00:00Z");
        assert_eq!((end(0), end(86_399_999), end(86_400_000)), (86_400_000, 86_400_000, 172_800_000));
        assert_eq!(Timestamp(end(0)).plus_days(2), Timestamp(end(172_800_000)));
    }
}
