//! Times of cron patterns, compared with a search through every minute.
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use jiff::civil::{DateTime, date};
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp as Instant};
use longshore_domain::timestamp::Timestamp;
use longshore_schedules::{ClockChange, Cron, CronError, Recurrence, Zone};

fn recurrence(pattern: &str, zone: &str) -> Recurrence {
    Recurrence::Cron { cron: Cron::parse(pattern).unwrap(), zone: Zone::new(zone).unwrap() }
}

fn at(text: &str) -> Timestamp {
    Timestamp::parse_rfc3339(text).unwrap()
}

/// Returns the next times after one, each with its clock change.
fn next(pattern: &str, zone: &str, after: &str, count: usize) -> Vec<(String, Option<ClockChange>)> {
    let recurrence = recurrence(pattern, zone);
    let occurrences = recurrence.occurrences_after(at(after)).take(count);
    occurrences.map(|occurrence| (occurrence.at.to_rfc3339(), occurrence.clock_change)).collect()
}

fn times(pattern: &str, zone: &str, after: &str, count: usize) -> Vec<String> {
    next(pattern, zone, after, count).into_iter().map(|(time, _)| time).collect()
}

#[test]
fn a_daily_time_runs_once_on_the_days_of_a_clock_change() {
    use ClockChange::{Back, Forward};
    // Berlin: forward from 02:00 to 03:00, back from 03:00 to 02:00. Santiago: forward from 00:00 to 01:00.
    for (pattern, zone, expected) in [
        (
            "30 2 * * *",
            "Europe/Berlin",
            [("2026-03-28T01:30", None), ("2026-03-29T01:00", Some(Forward)), ("2026-03-30T00:30", None)],
        ),
        (
            "30 2 * * *",
            "Europe/Berlin",
            [("2026-10-24T00:30", None), ("2026-10-25T00:30", Some(Back)), ("2026-10-26T01:30", None)],
        ),
        (
            "0 0 * * *",
            "America/Santiago",
            [("2026-09-05T04:00", None), ("2026-09-06T04:00", Some(Forward)), ("2026-09-07T03:00", None)],
        ),
    ] {
        let midnight = format!("{}T00:00:00Z", &expected[0].0[..10]);
        let expected = expected.map(|(minute, change)| (format!("{minute}:00Z"), change));
        assert_eq!(next(pattern, zone, &midnight, 3), expected, "{zone}");
    }
    // Lord Howe: forward by half an hour, from 02:00 to 02:30.
    assert_eq!(
        next("15 2 * * *", "Australia/Lord_Howe", "2026-10-03T00:00:00Z", 2)[0],
        ("2026-10-03T15:30:00Z".to_owned(), Some(Forward))
    );
}

#[test]
fn a_pattern_of_every_hour_has_neither_a_pause_nor_a_burst() {
    let forward = times("*/30 * * * *", "Europe/Berlin", "2026-03-29T00:15:00Z", 4);
    assert_eq!(
        forward,
        ["2026-03-29T00:30:00Z", "2026-03-29T01:00:00Z", "2026-03-29T01:30:00Z", "2026-03-29T02:00:00Z"]
    );
    let back = times("0 * * * *", "Europe/Berlin", "2026-10-24T23:30:00Z", 4);
    assert_eq!(back, ["2026-10-25T00:00:00Z", "2026-10-25T01:00:00Z", "2026-10-25T02:00:00Z", "2026-10-25T03:00:00Z"]);
}

#[test]
fn times_that_a_clock_change_leaves_out_run_once_together() {
    let times = times("0,20,40 2,3 * * *", "Europe/Berlin", "2026-03-28T22:00:00Z", 4);
    assert_eq!(times, ["2026-03-29T01:00:00Z", "2026-03-29T01:20:00Z", "2026-03-29T01:40:00Z", "2026-03-30T00:00:00Z"]);
}

#[test]
fn a_pattern_that_cannot_be_used_is_refused_in_words() {
    for (pattern, words) in [
        ("", "five fields"),
        ("* * * *", "five fields"),
        ("0 0 2 * * *", "five fields"),
        ("61 2 * * *", "five fields"),
        ("0 2 * * MOON", "five fields"),
        ("ä 2 * * *", "five fields"),
        ("0 0 30 2 *", "no day matches"),
        ("* * * * *", "twice within 1 minutes"),
        ("*/4 * * * *", "twice within 4 minutes"),
        ("0,57 * * * *", "twice within 3 minutes"),
        ("58,1 23,0 * * *", "twice within 3 minutes"),
    ] {
        let error = Cron::parse(pattern).unwrap_err().to_string();
        assert!(error.contains(words), "{pattern}: {error}");
    }
    assert_eq!(Cron::parse(&"0 ".repeat(200)), Err(CronError::TooLong));
    for pattern in
        ["*/5 * * * *", "0 0 29 2 *", "0 9 * * MON-FRI", "0 0 L * *", "0 0 * * 5#3", "58,3 5 * * *", "@daily"]
    {
        assert!(Cron::parse(pattern).is_ok(), "{pattern}");
    }
}

/// The fields of a simple pattern, matched without a library.
struct Fields([Vec<i32>; 5]);

impl Fields {
    fn new(pattern: &str) -> Self {
        let ranges = [(0, 59), (0, 23), (1, 31), (1, 12), (0, 6)];
        let fields: Vec<_> = pattern.split(' ').collect();
        Self(std::array::from_fn(|i| match (fields[i], ranges[i]) {
            ("*", (low, high)) => (low..=high).collect(),
            (list, _) => list.split(',').map(|number| number.parse().unwrap()).collect(),
        }))
    }

    fn match_clock(&self, clock: DateTime) -> bool {
        let Self([minutes, hours, days, months, weekdays]) = self;
        let weekday = i32::from(clock.weekday().to_sunday_zero_offset());
        let (is_day, is_weekday) = (days.contains(&clock.day().into()), weekdays.contains(&weekday));
        let is_day = match (days.len() == 31, weekdays.len() == 7) {
            (false, false) => is_day || is_weekday,
            _ => is_day && is_weekday,
        };
        minutes.contains(&clock.minute().into())
            && hours.contains(&clock.hour().into())
            && months.contains(&clock.month().into())
            && is_day
    }

    /// Returns the times at which a clock shows one of the pattern, in seconds.
    fn times(&self, clock: &Clock) -> Vec<i64> {
        let minutes = if self.0[1].len() == 24 { &clock.passed } else { &clock.shown };
        let mut times: Vec<_> =
            minutes.iter().filter(|(shown, _)| self.match_clock(*shown)).map(|(_, second)| *second).collect();
        times.dedup();
        times
    }
}

/// What the clock of a zone shows, and when, in seconds.
struct Clock {
    /// Every minute that passes.
    passed: Vec<(DateTime, i64)>,
    /// Every minute that a clock without changes would show, at the time at which it has been shown or left out.
    shown: Vec<(DateTime, i64)>,
}

impl Clock {
    fn new(zone: &TimeZone, from: Instant, to: Instant) -> Self {
        let seconds = (from.as_second()..to.as_second()).step_by(60);
        let passed: Vec<_> =
            seconds.map(|second| (zone.to_datetime(Instant::from_second(second).unwrap()), second)).collect();
        let minute = SignedDuration::from_mins(1);
        let (mut shown, mut next) = (Vec::new(), passed[0].0);
        for (clock, second) in &passed {
            // A clock that is put forward shows the minutes that it leaves out at this moment; one that is put back shows
            // nothing new until it has caught up.
            while next <= *clock {
                shown.push((next, *second));
                next = next.checked_add(minute).unwrap();
            }
        }
        Self { passed, shown }
    }
}

#[test]
fn years_of_times_are_those_of_a_search_through_every_minute() {
    let patterns = [
        "0,30 * * * *",
        "30 2 * * *",
        "0,20,40 1,2,3 * * *",
        "0 0 * * *",
        "15,45 0,12 * * *",
        "0 2 1 * *",
        "0 1,2,3 * 3,4,9,10,11 0",
        "10 2 13 * 5",
    ];
    for name in ["UTC", "Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe"] {
        let zone = TimeZone::get(name).unwrap();
        let day = |year| date(year, 1, 1).at(0, 0, 0, 0).to_zoned(zone.clone()).unwrap().timestamp();
        for year in [2024, 2027] {
            let (from, to) = (day(year), day(year + 1));
            let clock = Clock::new(&zone, from, to);
            for pattern in patterns {
                let expected = Fields::new(pattern).times(&clock);
                let start = Timestamp(from.as_millisecond() - 1);
                let recurrence = recurrence(pattern, name);
                let occurrences = recurrence.occurrences_after(start).map(|occurrence| occurrence.at.0 / 1000);
                let found: Vec<_> = occurrences.take_while(|second| *second < to.as_second()).collect();
                assert!(!found.is_empty(), "{pattern} in {name}");
                assert_eq!(found, expected, "{pattern} in {name} in {year}");
            }
        }
    }
}
