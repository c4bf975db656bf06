//! A delivery: one event for one endpoint.

use serde::{Deserialize, Serialize};

use super::attempt::{Attempt, next_attempt};
use crate::event::Event;
use crate::ids::EndpointId;
use crate::timestamp::Timestamp;

/// Maximum number of attempts in the log of a delivery: the newest ones.
pub const MAX_LOG: usize = 20;

/// A delivery as it is stored.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// The endpoint.
    pub endpoint_id: EndpointId,
    /// The event.
    pub event: Event,
    /// The state.
    pub state: DeliveryState,
    /// Number of attempts since the event, or since the last replay.
    pub attempts: u32,
    /// Number of all attempts and replays. A record of an attempt is conditional on it.
    pub revision: u32,
    /// The newest attempts, oldest first.
    pub log: Vec<Attempt>,
    /// Time of creation.
    pub created_at: Timestamp,
}

/// The state of a delivery.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "status")]
pub enum DeliveryState {
    /// An attempt is due at this time.
    Pending {
        /// The time.
        #[serde(rename = "nextAttemptAt")]
        next_at: Timestamp,
    },
    /// The endpoint has accepted the event.
    Delivered {
        /// Time of the answer.
        at: Timestamp,
    },
    /// No attempt is left, or the endpoint is disabled.
    Failed {
        /// Time of the last attempt.
        at: Timestamp,
    },
}

impl Delivery {
    /// A delivery whose first attempt is due.
    pub fn new(endpoint_id: EndpointId, event: Event, now: Timestamp) -> Self {
        let (state, log) = (DeliveryState::Pending { next_at: now }, Vec::new());
        Self { endpoint_id, event, state, attempts: 0, revision: 0, log, created_at: now }
    }

    /// Returns the time of the next attempt, if one is left.
    pub fn due(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Pending { next_at } => Some(next_at),
            DeliveryState::Delivered { .. } | DeliveryState::Failed { .. } => None,
        }
    }

    /// Records an attempt of this revision. Returns false, and changes nothing, if another attempt or a replay was recorded
    /// meanwhile, unless the endpoint has accepted the event: then no further attempt is needed.
    pub fn record(&mut self, revision: u32, attempt: Attempt, retry_after_s: Option<i64>, random: f64) -> bool {
        let is_accepted = attempt.result.is_accepted();
        if self.due().is_none() || (self.revision != revision && !is_accepted) {
            return false;
        }
        let ended_at = Timestamp(attempt.at.0.saturating_add(i64::from(attempt.ms)));
        self.attempts += 1;
        self.revision += 1;
        self.state = if is_accepted {
            DeliveryState::Delivered { at: ended_at }
        } else {
            let next =
                next_attempt(self.attempts, retry_after_s, ended_at, random).filter(|_| !attempt.result.is_gone());
            next.map_or(DeliveryState::Failed { at: ended_at }, |next_at| DeliveryState::Pending { next_at })
        };
        self.log.push(attempt);
        if self.log.len() > MAX_LOG {
            self.log.remove(0);
        }
        true
    }

    /// Makes all attempts available again, the first one now.
    pub fn replay(&mut self, now: Timestamp) {
        (self.state, self.attempts) = (DeliveryState::Pending { next_at: now }, 0);
        self.revision += 1;
    }

    /// Ends a pending delivery whose endpoint is disabled.
    pub fn abandon(&mut self, now: Timestamp) {
        if self.due().is_some() {
            self.state = DeliveryState::Failed { at: now };
            self.revision += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::attempt::{AttemptResult, MAX_ATTEMPTS};
    use super::*;
    use crate::event::PendingEvent;
    use crate::ids::JobId;
    use crate::job::Job;
    use crate::tenant::TenantId;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    fn delivery() -> Delivery {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
        Delivery::new(EndpointId::generate(), Event::new(&job, PendingEvent::started(0, NOW)), NOW)
    }

    fn answered(status: u16, at: Timestamp) -> Attempt {
        Attempt { at, ms: 250, result: AttemptResult::Answered { status } }
    }

    /// Records an attempt at the time at which it is due.
    fn attempt(delivery: &mut Delivery, status: u16) -> bool {
        let at = delivery.due().unwrap_or(NOW);
        let revision = delivery.revision;
        delivery.record(revision, answered(status, at), None, 0.0)
    }

    #[test]
    fn a_delivery_is_attempted_until_it_is_accepted() {
        let mut delivery = delivery();
        assert_eq!(delivery.due(), Some(NOW));
        assert!(attempt(&mut delivery, 500));
        assert_eq!(delivery.due(), Some(Timestamp(NOW.0 + 5_250)));
        assert!(attempt(&mut delivery, 204));
        assert_eq!((delivery.state, delivery.attempts), (DeliveryState::Delivered { at: Timestamp(NOW.0 + 5_500) }, 2));
        assert!(!attempt(&mut delivery, 500), "it was delivered");
        assert_eq!(delivery.log.len(), 2);
    }

    #[test]
    fn a_delivery_fails_after_its_last_attempt_or_when_its_endpoint_is_gone() {
        let mut failing = delivery();
        for _ in 0..MAX_ATTEMPTS {
            assert!(attempt(&mut failing, 503));
        }
        assert!(matches!(failing.state, DeliveryState::Failed { .. }));
        assert!(failing.log.last().unwrap().at.millis_since(NOW) > 75 * 3_600_000);
        let mut gone = delivery();
        assert!(attempt(&mut gone, 410));
        assert!(matches!(gone.state, DeliveryState::Failed { .. }));
    }

    /// A message can be delivered twice, and two attempts be made at once.
    #[test]
    fn of_two_attempts_at_once_one_counts_unless_the_other_is_accepted() {
        let mut delivery = delivery();
        let revision = delivery.revision;
        assert!(delivery.record(revision, answered(500, NOW), None, 0.0));
        assert!(!delivery.record(revision, answered(502, NOW), None, 0.0));
        assert_eq!((delivery.attempts, delivery.log.len()), (1, 1));
        assert!(delivery.record(revision, answered(200, NOW), None, 0.0));
        assert!(matches!(delivery.state, DeliveryState::Delivered { .. }));
    }

    #[test]
    fn a_replay_starts_again_and_keeps_the_log() {
        let mut delivery = delivery();
        while attempt(&mut delivery, 500) {}
        let revision = delivery.revision;
        delivery.replay(NOW.plus_days(9));
        assert_eq!((delivery.due(), delivery.attempts), (Some(NOW.plus_days(9)), 0));
        assert!(!delivery.record(revision, answered(500, NOW), None, 0.0), "an attempt from before the replay");
        while attempt(&mut delivery, 500) {}
        assert_eq!((delivery.attempts, delivery.log.len()), (MAX_ATTEMPTS, MAX_LOG));
        delivery.replay(NOW);
        assert!(attempt(&mut delivery, 200));
        assert_eq!(delivery.log.len(), MAX_LOG, "the newest attempts");
        assert!(delivery.log.last().unwrap().result.is_accepted());
    }

    #[test]
    fn a_delivery_to_a_disabled_endpoint_ends_and_a_delivered_one_stays() {
        let mut pending = delivery();
        pending.abandon(NOW);
        assert_eq!((pending.state, pending.revision), (DeliveryState::Failed { at: NOW }, 1));
        let mut delivered = delivery();
        attempt(&mut delivered, 200);
        let before = delivered.clone();
        delivered.abandon(NOW);
        assert_eq!(delivered, before);
    }

    #[test]
    fn a_delivery_is_read_as_it_was_written() {
        let mut delivery = delivery();
        attempt(&mut delivery, 500);
        let revision = delivery.revision;
        let unanswered = AttemptResult::unanswered("timed_out", "no answer within 15 s");
        delivery.record(revision, Attempt { at: NOW, ms: 15_000, result: unanswered }, Some(900), 0.3);
        let text = serde_json::to_string(&delivery).unwrap();
        assert_eq!(serde_json::from_str::<Delivery>(&text).unwrap(), delivery);
    }
}
