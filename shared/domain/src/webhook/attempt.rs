//! Attempts of a delivery: their times, and what an answer means.

use serde::{Deserialize, Serialize};

use crate::text::cut;
use crate::timestamp::Timestamp;

/// Seconds from an attempt to the next one, as Standard Webhooks recommends
/// (<https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md#deliverability-and-reliability>).
const DELAYS_S: [i64; 9] = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];

/// Maximum number of attempts of a delivery: three days.
pub const MAX_ATTEMPTS: u32 = DELAYS_S.len() as u32 + 1;

/// Largest part of a delay that is added at random, so that deliveries that failed together are not repeated together.
const JITTER: f64 = 0.1;

/// Longest wait in seconds that an endpoint can ask for.
const MAX_WAIT_S: i64 = 86_400;

/// Maximum bytes of the error of an attempt.
pub const ERROR_BYTES: usize = 200;

/// Returns the time of the next attempt after this number of failed ones; `None` after the last one. `retry_after_s` is the
/// wait that the endpoint asked for, and `random` a number from 0 to 1.
pub fn next_attempt(failed: u32, retry_after_s: Option<i64>, now: Timestamp, random: f64) -> Option<Timestamp> {
    let delay_s = *DELAYS_S.get(usize::try_from(failed.checked_sub(1)?).ok()?)?;
    let asked_s = retry_after_s.unwrap_or(0).clamp(0, MAX_WAIT_S);
    let delay_s = delay_s.max(asked_s);
    #[allow(clippy::cast_possible_truncation, reason = "at most a tenth of a day")]
    let jitter_ms = (delay_s as f64 * 1_000.0 * JITTER * random.clamp(0.0, 1.0)) as i64;
    Some(Timestamp(now.plus_seconds(delay_s).0 + jitter_ms))
}

/// The outcome of an attempt.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "result")]
pub enum AttemptResult {
    /// The endpoint answered with this status.
    Answered {
        /// HTTP status.
        status: u16,
    },
    /// There was no answer.
    Unanswered {
        /// Stable error code.
        code: String,
        /// A sentence, without anything that the endpoint sent.
        error: String,
    },
}

impl AttemptResult {
    /// Creates the result of a call without an answer.
    pub fn unanswered(code: impl Into<String>, error: impl Into<String>) -> Self {
        let (code, mut error) = (code.into(), error.into());
        cut(&mut error, ERROR_BYTES);
        Self::Unanswered { code, error }
    }

    /// Returns true if the endpoint has accepted the event: only a status from 200 to 299 says so.
    pub fn is_accepted(&self) -> bool {
        matches!(self, Self::Answered { status: 200..=299 })
    }

    /// Returns true if the endpoint wants no more events: 410.
    pub fn is_gone(&self) -> bool {
        matches!(self, Self::Answered { status: 410 })
    }
}

/// An attempt, as it is logged.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Attempt {
    /// Time of its begin.
    pub at: Timestamp,
    /// Duration in milliseconds.
    pub ms: u32,
    /// The outcome.
    #[serde(flatten)]
    pub result: AttemptResult,
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    #[test]
    fn the_attempts_of_a_delivery_take_three_days() {
        let delay = |failed, random| next_attempt(failed, None, NOW, random).map(|at| at.millis_since(NOW) / 1_000);
        let delays: Vec<_> = (1..=MAX_ATTEMPTS).map(|failed| delay(failed, 0.0)).collect();
        let expected = [5, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400];
        assert_eq!(delays, expected.into_iter().map(Some).chain([None]).collect::<Vec<_>>());
        assert_eq!(expected.iter().sum::<i64>() / 3_600, 75);
        assert_eq!([delay(2, 0.5), delay(2, 1.0), delay(2, 7.0)], [Some(315), Some(330), Some(330)], "jitter");
        assert_eq!(delay(0, 0.0), None, "nothing has failed");
    }

    #[test]
    fn an_endpoint_can_ask_for_a_longer_wait_but_not_for_a_shorter_one() {
        let delay = |wait_s| next_attempt(2, Some(wait_s), NOW, 0.0).unwrap().millis_since(NOW) / 1_000;
        assert_eq!([-5, 0, 299, 301, 86_400, i64::MAX].map(delay), [300, 300, 300, 301, 86_400, 86_400]);
    }

    #[test]
    fn only_2xx_accepts_and_only_410_is_the_end() {
        let of = |status| AttemptResult::Answered { status };
        for status in [199, 300, 301, 400, 404, 410, 429, 500] {
            assert!(!of(status).is_accepted(), "{status}");
            assert_eq!(of(status).is_gone(), status == 410);
        }
        assert!([200, 202, 204, 299].into_iter().all(|status| of(status).is_accepted()));
        let unanswered = AttemptResult::unanswered("timed_out", "x".repeat(1_000));
        assert!(!unanswered.is_accepted() && !unanswered.is_gone());
        assert!(matches!(unanswered, AttemptResult::Unanswered { error, .. } if error.len() <= ERROR_BYTES));
    }
}
