//! A rate of jobs, such as `5/s`, and the duration of a run.

use std::time::Duration;

use crate::values;

/// Highest rate. More jobs per second than that need several machines.
const MAX_PER_SECOND: f64 = 1_000.0;

/// Lowest rate: a job per day.
const MIN_PER_SECOND: f64 = 1.0 / 86_400.0;

/// Longest duration of a run: a week.
const MAX_DURATION: Duration = Duration::from_secs(168 * 3_600);

/// A number of jobs per time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Rate {
    per_second: f64,
}

impl Rate {
    /// Returns the time of a job after the first one.
    pub(super) fn time_of(self, number: u64) -> Duration {
        Duration::from_secs_f64(number as f64 / self.per_second)
    }

    /// Returns the number of jobs whose time is before the end of a duration.
    pub(super) fn jobs_in(self, duration: Duration) -> u64 {
        (duration.as_secs_f64() * self.per_second).ceil() as u64
    }
}

/// Reads a rate: a number with `/s`, `/m` or `/h`. For clap.
pub(super) fn parse(text: &str) -> Result<Rate, String> {
    let usage = || "write it as 5/s, 0.5/s, 300/m or 90/h".to_owned();
    let (number, unit) = text.split_once('/').ok_or_else(usage)?;
    let seconds = match unit {
        "s" => 1.0,
        "m" => 60.0,
        "h" => 3_600.0,
        _ => return Err(usage()),
    };
    let number: f64 = number.parse().map_err(|_| usage())?;
    let per_second = number / seconds;
    // A rate that is not a number is in no range.
    if (MIN_PER_SECOND..=MAX_PER_SECOND).contains(&per_second) {
        Ok(Rate { per_second })
    } else {
        Err(format!("it must be at least 1 per day, and at most {MAX_PER_SECOND} per second"))
    }
}

/// Reads the duration of a run. For clap.
pub(super) fn parse_duration(text: &str) -> Result<Duration, String> {
    let duration = values::duration(text)?;
    if duration <= MAX_DURATION {
        Ok(duration)
    } else {
        Err(format!("it must be at most {} hours", MAX_DURATION.as_secs() / 3_600))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_a_number_of_jobs_per_time() {
        for (text, tenth_ms) in [("5/s", 2_000), ("300/m", 2_000), ("0.5/s", 20_000), ("3600/h", 10_000)] {
            assert_eq!(parse(text).unwrap().time_of(10), Duration::from_millis(tenth_ms), "{text}");
        }
        for text in
            ["", "5", "5/d", "/s", "0/s", "-1/s", "NaN/s", "inf/s", "1001/s", "5 /s", "five/s", "1e-20/s", "0.04/h"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_lowest_rate_is_a_job_per_day() {
        let lowest = parse("0.0417/h").unwrap();
        assert!(lowest.time_of(1_000_000) <= Duration::from_secs(86_400) * 1_000_000);
        assert_eq!(lowest.jobs_in(Duration::from_secs(3_600)), 1);
    }

    #[test]
    fn a_run_lasts_a_week_at_most() {
        assert_eq!(parse_duration("168h"), Ok(MAX_DURATION));
        for text in ["10081m", "169h", "18446744073709551615s", "x"] {
            assert!(parse_duration(text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_first_job_has_the_time_zero_and_counts() {
        let rate = parse("4/s").unwrap();
        assert_eq!(rate.time_of(0), Duration::ZERO);
        assert_eq!((rate.jobs_in(Duration::from_secs(1)), rate.jobs_in(Duration::from_millis(1_100))), (4, 5));
        assert_eq!(rate.jobs_in(Duration::ZERO), 0);
    }
}
