//! Waits that a handler asks for: seconds in an answer, or the header `Retry-After`.
//!
//! A wait is between one second and one hour, so that neither a mistake of a handler nor a hostile one stops a job for
//! days or keeps a worker busy. Zero, negative numbers and times in the past are one second; a fraction is rounded up,
//! so that no call is earlier than the handler asked for.

use std::time::Duration;

use crate::timestamp::Timestamp;

/// Shortest wait, in seconds.
const MIN_S: f64 = 1.0;
/// Longest wait, in seconds.
const MAX_S: f64 = 3_600.0;

/// Returns the wait for a number of seconds in an answer.
pub fn wait(seconds: f64) -> Duration {
    Duration::from_secs(seconds.clamp(MIN_S, MAX_S).ceil() as u64)
}

/// Returns the wait of a header `Retry-After` (RFC 9110, section 10.2.3): seconds or a date. `None` if it is neither.
pub fn retry_after(header: &str, now: Timestamp) -> Option<Duration> {
    let header = header.trim();
    if !header.is_empty() && header.bytes().all(|byte| byte.is_ascii_digit()) {
        return Some(wait(header.parse().unwrap_or(MAX_S)));
    }
    let date = httpdate::parse_http_date(header).ok()?.duration_since(std::time::UNIX_EPOCH).ok()?;
    Some(wait(date.as_secs_f64() - now.0 as f64 / 1_000.0))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_wait_is_between_a_second_and_an_hour() {
        for (seconds, expected) in [
            (30.0, 30),
            (0.0, 1),
            (-5.0, 1),
            (0.2, 1),
            (1.01, 2),
            (3_600.0, 3_600),
            (86_400.0, 3_600),
            (f64::INFINITY, 3_600),
            (f64::NEG_INFINITY, 1),
        ] {
            assert_eq!(wait(seconds).as_secs(), expected, "{seconds}");
        }
    }

    #[test]
    fn retry_after_has_seconds_or_any_form_of_an_http_date() {
        let now = Timestamp(1_700_000_000_000);
        for (header, expected) in [
            ("120", Some(120)),
            (" 120 ", Some(120)),
            ("0", Some(1)),
            ("99999999999999999999999999", Some(3_600)),
            ("Tue, 14 Nov 2023 22:14:20 GMT", Some(60)),
            ("Tuesday, 14-Nov-23 22:14:20 GMT", Some(60)),
            ("Tue Nov 14 22:14:20 2023", Some(60)),
            ("Tue, 14 Nov 2023 22:13:19 GMT", Some(1)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(3_600)),
            ("", None),
            ("-5", None),
            ("1.5", None),
            ("soon", None),
            ("Mon, 14 Nov 2023 22:14:20 GMT", None),
            ("2023-11-14T22:14:20Z", None),
        ] {
            assert_eq!(retry_after(header, now).map(|wait| wait.as_secs()), expected, "{header:?}");
        }
    }

    proptest! {
        #[test]
        fn any_header_is_a_wait_within_the_limits_or_none(header in ".{0,40}", now in any::<i64>()) {
            let wait = retry_after(&header, Timestamp(now)).map(|wait| wait.as_secs());
            prop_assert!(wait.is_none_or(|seconds| (1..=3_600).contains(&seconds)));
        }
    }
}
