//! An endpoint: its URL, the events that it gets, its state and its secrets.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::attempt::AttemptResult;
use crate::event::{Event, EventType};
use crate::ids::EndpointId;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Maximum number of endpoints of a tenant.
pub const MAX_ENDPOINTS: usize = 10;

/// Days without any accepted event after which an endpoint is disabled.
pub const FAILING_DAYS: i64 = 5;

/// Seconds for which the previous secret is used beside the new one after a rotation.
pub const ROTATION_S: i64 = 86_400;

/// The jobs about which an endpoint gets events.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum JobScope {
    /// All jobs of the tenant.
    #[default]
    All,
    /// Jobs that name the endpoint as their `callback`.
    Named,
}

/// An endpoint as it is stored.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Endpoint {
    /// Id of the endpoint.
    pub endpoint_id: EndpointId,
    /// Tenant that owns the endpoint.
    pub tenant: TenantId,
    /// HTTPS URL that is called.
    pub url: String,
    /// The client's description; empty if there is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Types of events that it gets; empty for all, including those of later versions.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub event_types: BTreeSet<EventType>,
    /// Jobs about which it gets events.
    #[serde(default)]
    pub jobs: JobScope,
    /// The state.
    pub state: EndpointState,
    /// Versions of the secret.
    pub secret: SecretVersions,
    /// Recent outcomes of deliveries.
    #[serde(default)]
    pub health: Health,
    /// Time of creation.
    pub created_at: Timestamp,
    /// Number of the client's changes. A change is conditional on it.
    pub revision: u32,
}

/// The state of an endpoint. Only an active endpoint gets events.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum EndpointState {
    /// The endpoint has not answered its challenge yet.
    Pending {
        /// The challenge.
        challenge: String,
        /// The last failed attempt.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failure: Option<AttemptResult>,
    },
    /// The endpoint has answered its challenge.
    Active,
    /// The endpoint gets no events.
    Disabled {
        /// The reason.
        reason: DisabledReason,
        /// Time of the change.
        at: Timestamp,
    },
}

/// Why an endpoint is disabled.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DisabledReason {
    /// A client has disabled it.
    Client,
    /// It answered 410.
    Gone,
    /// It has accepted no event for days.
    Failing,
}

/// Recent outcomes of an endpoint's deliveries.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Health {
    /// Time of the first failure since the last accepted event; `None` if the last one was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing_since: Option<Timestamp>,
}

impl Health {
    /// Returns the health after an attempt.
    #[must_use]
    pub fn after(self, result: &AttemptResult, at: Timestamp) -> Self {
        let failing_since = (!result.is_accepted()).then(|| self.failing_since.unwrap_or(at));
        Self { failing_since }
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

/// The versions of an endpoint's secret. A secret is derived from the root secret, the endpoint's id and a version.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SecretVersions {
    /// The version with which requests are signed.
    pub current: u32,
    /// The version before, with which they are signed too until this time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub previous_until: Option<Timestamp>,
}

impl Default for SecretVersions {
    fn default() -> Self {
        Self { current: 1, previous_until: None }
    }
}

impl SecretVersions {
    /// Returns the versions after a rotation; `None` while the previous one is still used, because a third secret would end
    /// it early.
    pub fn rotated(self, now: Timestamp) -> Option<Self> {
        let is_overlapping = self.previous(now).is_some();
        (!is_overlapping)
            .then(|| Self { current: self.current + 1, previous_until: Some(now.plus_seconds(ROTATION_S)) })
    }

    /// Returns the previous version, while it is used.
    pub fn previous(self, now: Timestamp) -> Option<u32> {
        self.previous_until.filter(|until| now < *until).and_then(|_| self.current.checked_sub(1))
    }
}

impl Endpoint {
    /// Returns true if the endpoint gets this event. `is_named` is true if the event's job names the endpoint.
    pub fn gets(&self, event: &Event, is_named: bool) -> bool {
        let is_of_type = self.event_types.is_empty() || self.event_types.contains(&event.change.event_type);
        self.state == EndpointState::Active && is_of_type && (is_named || self.jobs == JobScope::All)
    }

    /// Returns the endpoint after an answered challenge; `None` if it has another challenge now, or none.
    #[must_use]
    pub fn verified(&self, challenge: &str) -> Option<Self> {
        let is_current = matches!(&self.state, EndpointState::Pending { challenge: own, .. } if own == challenge);
        is_current.then(|| Self { state: EndpointState::Active, ..self.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::PendingEvent;
    use crate::ids::JobId;
    use crate::job::Job;

    const NOW: Timestamp = Timestamp(1_000_000_000);

    fn endpoint(state: EndpointState) -> Endpoint {
        Endpoint {
            endpoint_id: EndpointId::generate(),
            tenant: TenantId::from_static("t"),
            url: "https://example.org/hooks".into(),
            description: String::new(),
            event_types: [].into(),
            jobs: JobScope::All,
            state,
            secret: SecretVersions::default(),
            health: Health::default(),
            created_at: NOW,
            revision: 0,
        }
    }

    fn started() -> Event {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
        Event::new(&job, PendingEvent::started(0, NOW))
    }

    #[test]
    fn an_endpoint_gets_the_events_of_its_types_and_jobs_once_it_is_active() {
        let active = endpoint(EndpointState::Active);
        assert!(active.gets(&started(), false));
        let ends = Endpoint { event_types: [EventType::Completed, EventType::Failed].into(), ..active.clone() };
        assert!(!ends.gets(&started(), true));
        let named = Endpoint { jobs: JobScope::Named, ..active };
        assert!(named.gets(&started(), true) && !named.gets(&started(), false));
        let pending = EndpointState::Pending { challenge: "c".into(), failure: None };
        let disabled = EndpointState::Disabled { reason: DisabledReason::Client, at: NOW };
        assert!([pending, disabled].into_iter().all(|state| !endpoint(state).gets(&started(), true)));
    }

    #[test]
    fn an_endpoint_is_verified_by_its_own_challenge_once() {
        let pending = endpoint(EndpointState::Pending { challenge: "c1".into(), failure: None });
        assert_eq!(pending.verified("c0"), None);
        let active = pending.verified("c1").unwrap();
        assert_eq!((&active.state, active.verified("c1")), (&EndpointState::Active, None));
    }

    #[test]
    fn days_without_an_accepted_event_disable_and_410_does_at_once() {
        let [bad, good, gone] = [500, 204, 410].map(|status| AttemptResult::Answered { status });
        let later = |days| NOW.plus_days(days);
        let failing = Health::default().after(&bad, NOW);
        assert_eq!(failing.after(&bad, later(3)), failing, "the first failure counts");
        assert_eq!(failing.disables(&bad, later(5)), Some(DisabledReason::Failing));
        assert_eq!(failing.disables(&bad, Timestamp(later(5).0 - 1)), None);
        assert_eq!(failing.disables(&good, later(9)), None);
        assert_eq!(failing.after(&good, later(4)), Health::default());
        assert_eq!(Health::default().disables(&bad, later(9)), None, "nothing has failed before");
        assert_eq!(Health::default().disables(&gone, NOW), Some(DisabledReason::Gone));
    }

    #[test]
    fn two_secrets_are_valid_for_a_day_after_a_rotation() {
        let first = SecretVersions::default();
        assert_eq!((first.current, first.previous(NOW)), (1, None));
        let second = first.rotated(NOW).unwrap();
        assert_eq!((second.current, second.previous(NOW)), (2, Some(1)));
        assert_eq!(
            second.rotated(NOW.plus_seconds(ROTATION_S - 1)),
            None,
            "a third secret would end the first one early"
        );
        let later = NOW.plus_seconds(ROTATION_S);
        assert_eq!((second.previous(later), second.rotated(later).unwrap().current), (None, 3));
    }
}
