//! The concurrency limit of a remote handler while it asks for fewer calls: halved at once, then raised again.
//!
//! Additive increase and multiplicative decrease, as in TCP (Chiu and Jain, 1989). The increase is a function of time,
//! so that it needs no write.

use serde::{Deserialize, Serialize};

use crate::timestamp::Timestamp;

/// Seconds from half of the configured limit to all of it.
const RECOVERY_S: i64 = 60;

/// Milliseconds after a decrease in which further requests for fewer calls are those of calls that had begun before it.
const DECREASE_MS: i64 = 2_000;

/// A lowered concurrency limit.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Lowered {
    limit: u32,
    at: Timestamp,
}

/// The concurrency limit of a handler.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AdaptiveLimit(Option<Lowered>);

impl AdaptiveLimit {
    /// Returns the time of the last request for fewer calls.
    pub fn lowered_at(self) -> Option<Timestamp> {
        self.0.map(|lowered| lowered.at)
    }

    /// Returns the maximum number of concurrent calls, at least one.
    pub fn now(self, configured: u32, now: Timestamp) -> u32 {
        let configured = configured.max(1);
        let Some(Lowered { limit, at }) = self.0 else { return configured };
        let raised = i64::from(configured) * now.millis_since(at) / (2 * RECOVERY_S * 1_000);
        limit.saturating_add(u32::try_from(raised).unwrap_or(u32::MAX)).min(configured)
    }

    /// Returns the limit after a request for fewer calls; `None` if it was lowered a moment ago.
    #[must_use]
    pub fn lowered(self, configured: u32, now: Timestamp) -> Option<Self> {
        if self.0.is_some_and(|Lowered { at, .. }| now.millis_since(at) < DECREASE_MS) {
            return None;
        }
        Some(Self(Some(Lowered { limit: (self.now(configured, now) / 2).max(1), at: now })))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    // A new member does not compile until it is here, and in the golden file of its shape: docs/design/versions.md.
    const _: fn(Lowered) = |Lowered { limit: _, at: _ }| {};

    #[test]
    fn the_limit_is_halved_and_recovers_within_a_minute() {
        let at = |seconds: i64| Timestamp(seconds * 1_000);
        let limit = AdaptiveLimit::default();
        assert_eq!(limit.now(40, at(0)), 40);
        let limit = limit.lowered(40, at(0)).unwrap();
        assert_eq!([0, 3, 30, 60, 900].map(|seconds| limit.now(40, at(seconds))), [20, 21, 30, 40, 40]);
        assert_eq!(limit.lowered(40, at(1)), None, "calls of the same moment");
        assert_eq!(limit.lowered(40, at(30)).unwrap().now(40, at(30)), 15);
        assert_eq!(limit.now(5, at(0)), 5, "a lower limit of a new registration");
    }

    #[test]
    fn one_call_is_always_allowed() {
        let lowest = (0..9).fold(AdaptiveLimit::default(), |limit, n| limit.lowered(1, Timestamp(n * 9_000)).unwrap());
        assert_eq!(lowest.now(1, Timestamp(80_000)), 1);
        assert_eq!(AdaptiveLimit::default().now(0, Timestamp(0)), 1);
    }
}
