//! The health of an endpoint: recent outcomes of its deliveries.

use serde::{Deserialize, Serialize};

use super::attempt::AttemptResult;
use super::endpoint::DisabledReason;
use crate::timestamp::Timestamp;

/// Days without any accepted event after which an endpoint is disabled.
pub const FAILING_DAYS: i64 = 5;

/// Number of failures in a row after which an endpoint is paused.
const PAUSED_AFTER: u32 = 5;

/// Length of the first pause in seconds. Each later one is twice as long.
const PAUSE_S: i64 = 5;

/// Maximum length of a pause in seconds.
const MAX_PAUSE_S: i64 = 300;

/// Seconds that a probe takes at most: a call, and the record of its result.
const PROBE_S: i64 = 30;

/// Recent outcomes of an endpoint's deliveries.
///
/// An endpoint that fails repeatedly is paused: until the pause ends, deliveries to it fail without a call, and then one
/// of them probes it. So a dead endpoint takes the time of one call for each pause, whatever the number of its deliveries.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Number of failures since the last accepted event.
    #[serde(default)]
    pub failures: u32,
    /// End of the pause.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<Timestamp>,
    /// Time of the first failure since the last accepted event; `None` if the last one was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
}

impl Health {
    /// Returns the health after a call.
    #[must_use]
    pub fn after(self, result: &AttemptResult, at: Timestamp) -> Self {
        if result.is_accepted() {
            return Self::default();
        }
        let failures = self.failures.saturating_add(1);
        let pause_s = failures.checked_sub(PAUSED_AFTER).map(|more| (PAUSE_S << more.min(16)).min(MAX_PAUSE_S));
        let failing_since = Some(self.failing_since.unwrap_or(at));
        Self { failures, failing_since, paused_until: pause_s.map(|pause_s| at.plus_seconds(pause_s)) }
    }

    /// Returns the decision about a delivery whose attempt is due.
    pub fn admit(self, now: Timestamp) -> Admission {
        match self.paused_until {
            None => Admission::Call,
            Some(until) if now < until => Admission::Paused(until),
            // Others wait meanwhile. If the prober dies, the next one probes.
            Some(_) => Admission::Probe(Self { paused_until: Some(now.plus_seconds(PROBE_S)), ..self }),
        }
    }

    /// Returns the reason to disable an endpoint with this health after an attempt; `None` if it stays active.
    pub fn disables(self, result: &AttemptResult, at: Timestamp) -> Option<DisabledReason> {
        if result.is_gone() {
            return Some(DisabledReason::Gone);
        }
        let since = self.failing_since.filter(|_| !result.is_accepted())?;
        (at >= since.plus_days(FAILING_DAYS)).then_some(DisabledReason::Failing)
    }
}

/// Decision about a delivery whose attempt is due.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Admission {
    /// It calls the endpoint.
    Call,
    /// It calls the endpoint if it can store this health first: only one delivery can.
    Probe(Health),
    /// It fails, because the endpoint is paused until this time.
    Paused(Timestamp),
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    #[test]
    fn a_failing_endpoint_is_paused_and_then_probed_by_one_delivery() {
        let bad = AttemptResult::Answered { status: 500 };
        let after = |failures| (0..failures).fold(Health::default(), |health, _| health.after(&bad, NOW));
        assert_eq!(after(PAUSED_AFTER - 1).admit(NOW), Admission::Call);
        let pauses = [5, 6, 7, 11, 12, 100, 5_000].map(|failures| after(failures).paused_until.unwrap());
        assert_eq!(pauses.map(|until| until.millis_since(NOW) / 1_000), [5, 10, 20, 300, 300, 300, 300]);
        let paused = after(PAUSED_AFTER);
        let until = NOW.plus_seconds(PAUSE_S);
        assert_eq!(paused.admit(Timestamp(until.0 - 1)), Admission::Paused(until));
        let Admission::Probe(probing) = paused.admit(until) else { panic!("it is probed") };
        assert_eq!(probing.admit(until), Admission::Paused(until.plus_seconds(PROBE_S)));
        assert!(matches!(probing.admit(until.plus_seconds(PROBE_S)), Admission::Probe(_)), "the prober has died");
        assert_eq!(probing.after(&AttemptResult::Answered { status: 204 }, until), Health::default());
    }

    #[test]
    fn days_without_an_accepted_event_disable_and_410_does_at_once() {
        let [bad, good, gone] = [500, 204, 410].map(|status| AttemptResult::Answered { status });
        let later = |days| NOW.plus_days(days);
        let failing = Health::default().after(&bad, NOW);
        assert_eq!(failing.after(&bad, later(3)).failing_since, Some(NOW), "the first failure counts");
        assert_eq!(failing.disables(&bad, later(5)), Some(DisabledReason::Failing));
        assert_eq!(failing.disables(&bad, Timestamp(later(5).0 - 1)), None);
        assert_eq!(failing.disables(&good, later(9)), None);
        assert_eq!(failing.after(&good, later(4)), Health::default());
        assert_eq!(Health::default().disables(&bad, later(9)), None, "nothing has failed before");
        assert_eq!(Health::default().disables(&gone, NOW), Some(DisabledReason::Gone));
    }
}
