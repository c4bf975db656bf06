//! A delivery: one event for one endpoint.

use serde::{Deserialize, Serialize};

use super::attempt::{Attempt, next_attempt};
use super::delivery_id::{DeliveryId, DeliveryKey};
use super::endpoint::Endpoint;
use crate::event::{Event, RETENTION_DAYS};
use crate::ids::EndpointId;
use crate::job::Job;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Maximum number of attempts in the log of a delivery: the newest ones.
pub const MAX_LOG: usize = 20;

/// Days within which all attempts of a delivery are made.
const ATTEMPTS_DAYS: i64 = 4;

/// Seconds for which a reserved call can be late. The sweeper sends the message of a time that is more than 15 minutes
/// ahead: up to two minutes late, and then the message waits in the queue.
const RESERVED_S: i64 = 900;

/// A delivery as it is stored.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Delivery {
    /// Tenant of the endpoint.
    pub tenant: TenantId,
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
    /// Time after which the delivery is removed, in seconds since the Unix epoch.
    pub expires_at: i64,
}

/// Returns the deliveries of a job's events that enter the list now: one for each event and each endpoint that gets it.
pub fn deliveries(job: &Job, events: &[Event], endpoints: &[Endpoint], now: Timestamp) -> Vec<Delivery> {
    let of_event = |event: &Event| {
        let getting = endpoints.iter().filter(|endpoint| {
            let is_named = job.callback == Some(endpoint.endpoint_id);
            endpoint.gets(event, is_named, now)
        });
        getting.map(|endpoint| Delivery::new(endpoint, event.clone(), now, job.times.expires_at)).collect::<Vec<_>>()
    };
    events.iter().flat_map(of_event).collect()
}

/// Returns the deliveries of an event about one of the tenant's endpoints that enters the list now.
pub fn deliveries_of_endpoint_event(event: &Event, endpoints: &[Endpoint], now: Timestamp) -> Vec<Delivery> {
    let getting = endpoints.iter().filter(|endpoint| endpoint.gets(event, false, now));
    getting.map(|endpoint| Delivery::new(endpoint, event.clone(), now, i64::MAX)).collect()
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
        /// True if a call of the tenant's rate limit is reserved for this time.
        #[serde(default, rename = "isReserved", skip_serializing_if = "std::ops::Not::not")]
        is_reserved: bool,
        /// Time since which the attempt waits for a check of the endpoint; `None` if it does not.
        #[serde(default, rename = "uncheckedSince", skip_serializing_if = "Option::is_none")]
        unchecked_since: Option<Timestamp>,
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

impl DeliveryState {
    /// Returns the state of a delivery whose attempt is due at this time.
    pub fn pending(next_at: Timestamp) -> Self {
        Self::Pending { next_at, is_reserved: false, unchecked_since: None }
    }
}

impl Delivery {
    /// Creates a delivery whose first attempt is due. It expires with its event, but not while attempts are left.
    pub fn new(endpoint: &Endpoint, event: Event, now: Timestamp, job_expires_at: i64) -> Self {
        Self {
            tenant: endpoint.tenant.clone(),
            endpoint_id: endpoint.endpoint_id,
            event,
            state: DeliveryState::pending(now),
            attempts: 0,
            revision: 0,
            log: Vec::new(),
            created_at: now,
            expires_at: job_expires_at
                .clamp(now.plus_days(ATTEMPTS_DAYS).seconds(), now.plus_days(RETENTION_DAYS).seconds()),
        }
    }

    /// Returns the id.
    pub fn id(&self) -> DeliveryId {
        DeliveryId::new(self.created_at, &self.event.id)
    }

    /// Returns the key.
    pub fn key(&self) -> DeliveryKey {
        DeliveryKey { tenant: self.tenant.clone(), endpoint_id: self.endpoint_id, id: self.id() }
    }

    /// Returns the time of the next attempt, if one is left.
    pub fn due(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Pending { next_at, .. } => Some(next_at),
            DeliveryState::Delivered { .. } | DeliveryState::Failed { .. } => None,
        }
    }

    /// Records an attempt of this revision. Returns false, and changes nothing, if another attempt or a replay was recorded
    /// meanwhile, unless the endpoint has accepted the event: then no further attempt is needed, and it has not failed.
    pub fn record(&mut self, revision: u32, attempt: Attempt, retry_after_s: Option<i64>, random: f64) -> bool {
        let is_accepted = attempt.result.is_accepted();
        let is_over = match self.state {
            DeliveryState::Pending { .. } => false,
            DeliveryState::Failed { .. } => !is_accepted,
            DeliveryState::Delivered { .. } => true,
        };
        if is_over || (self.revision != revision && !is_accepted) {
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
            next.map_or(DeliveryState::Failed { at: ended_at }, DeliveryState::pending)
        };
        self.keep_until_due();
        self.log.push(attempt);
        if self.log.len() > MAX_LOG {
            self.log.remove(0);
        }
        true
    }

    /// Returns true if a call was reserved for the attempt that is due. One that comes late needs another reservation, or
    /// those of an outage would be made at once.
    pub fn has_reserved_call(&self, now: Timestamp) -> bool {
        match self.state {
            DeliveryState::Pending { next_at, is_reserved, .. } => {
                is_reserved && now <= next_at.plus_seconds(RESERVED_S)
            }
            DeliveryState::Delivered { .. } | DeliveryState::Failed { .. } => false,
        }
    }

    /// Puts off the attempt, which does not count. `is_reserved` is true if a call was reserved for this time.
    pub fn postpone(&mut self, until: Timestamp, is_reserved: bool) {
        self.put_off(DeliveryState::Pending { next_at: until, is_reserved, unchecked_since: None });
    }

    /// Puts off the attempt until the endpoint has passed a check, or until this time. The attempt does not count.
    pub fn wait_for_check(&mut self, now: Timestamp, until: Timestamp) {
        let unchecked_since = Some(self.unchecked_since().unwrap_or(now));
        self.put_off(DeliveryState::Pending { next_at: until, is_reserved: false, unchecked_since });
    }

    fn put_off(&mut self, state: DeliveryState) {
        if self.due().is_some() {
            self.state = state;
            self.revision += 1;
            self.keep_until_due();
        }
    }

    /// Returns the time since which the attempt waits for a check of the endpoint, if it does.
    pub fn unchecked_since(&self) -> Option<Timestamp> {
        match self.state {
            DeliveryState::Pending { unchecked_since, .. } => unchecked_since,
            DeliveryState::Delivered { .. } | DeliveryState::Failed { .. } => None,
        }
    }

    /// Returns true if a replay that was requested at this time changes the delivery: it waits for a check, whenever it
    /// was created, or for a later attempt, or the replay is not only for those that wait, and an attempt failed that
    /// had begun before. Then the next attempt can be under way; its failure would put off the one after it.
    pub fn is_replayed_by(&self, requested_at: Timestamp, only_waiting: bool) -> bool {
        let has_failed = !only_waiting && self.attempts > 0;
        match self.state {
            DeliveryState::Failed { at } => {
                let begun_at = self.log.last().map_or(at, |attempt| attempt.at.min(at));
                !only_waiting && begun_at <= requested_at
            }
            // The rate limit permits its call no sooner.
            DeliveryState::Pending { is_reserved: true, .. } => has_failed,
            DeliveryState::Pending { unchecked_since: Some(_), .. } => true,
            DeliveryState::Pending { next_at, .. } => {
                (self.created_at <= requested_at && next_at > requested_at) || has_failed
            }
            DeliveryState::Delivered { .. } => false,
        }
    }

    /// Returns true if the delivery has waited for a check of its endpoint as long as its attempts would take.
    pub fn has_waited_too_long(&self, now: Timestamp) -> bool {
        self.unchecked_since().is_some_and(|since| now >= since.plus_days(ATTEMPTS_DAYS))
    }

    /// Makes all attempts available again, the first one now, or at the time for which a call is reserved.
    pub fn replay(&mut self, now: Timestamp) {
        if !matches!(self.state, DeliveryState::Pending { is_reserved: true, .. }) {
            self.state = DeliveryState::pending(now);
        }
        self.attempts = 0;
        self.revision += 1;
        self.keep_until_due();
    }

    /// Extends the time of expiry until the next attempts were made.
    fn keep_until_due(&mut self) {
        if let Some(due) = self.due() {
            self.expires_at = self.expires_at.max(due.plus_days(ATTEMPTS_DAYS).seconds());
        }
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
#[path = "delivery_tests.rs"]
mod tests;
