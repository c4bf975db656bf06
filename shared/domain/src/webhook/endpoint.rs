//! An endpoint: its URL, the events that it gets, its state and its secrets.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::health::Health;
use crate::event::{EndpointDisabled, Event, EventType};
use crate::ids::EndpointId;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Maximum number of endpoints of a tenant.
pub const MAX_ENDPOINTS: usize = 10;

/// Seconds from a check to the next one, unless the first one has a result.
const CHECK_S: i64 = 5;

/// Days for which a pending endpoint gets events after the request to check it.
const UNCHECKED_DAYS: i64 = 1;

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
    /// Number of changes, except those of the health alone. A change is conditional on it.
    pub revision: u32,
    /// Place among the tenant's endpoints, below [`MAX_ENDPOINTS`]: a tenant has no more endpoints than places.
    pub place: u8,
    /// The last check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<Check>,
    /// Time of the last request to replay all deliveries.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub replayed_at: Option<Timestamp>,
}

impl Endpoint {
    /// Creates a pending endpoint of this URL in the first place, which gets all events.
    pub fn new(tenant: TenantId, url: impl Into<String>, created_at: Timestamp) -> Self {
        Self {
            endpoint_id: EndpointId::generate(),
            tenant,
            url: url.into(),
            description: String::new(),
            event_types: BTreeSet::new(),
            jobs: JobScope::All,
            state: EndpointState::Pending,
            secret: SecretVersions::default(),
            health: Health::default(),
            created_at,
            revision: 0,
            place: 0,
            check: None,
            replayed_at: None,
        }
    }
}

/// A check of an endpoint: a message with a challenge, which the endpoint answers with the challenge. Its result shows no
/// more than a class, because the endpoint may be a server that its owner cannot see.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Check {
    /// The challenge.
    pub challenge: String,
    /// Time of the request to check.
    pub requested_at: Timestamp,
    /// Time from which the endpoint may be called, if that is later than the request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub begins_at: Option<Timestamp>,
    /// The result; `None` until there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub result: Option<CheckResult>,
}

impl Check {
    /// Returns the time from which the endpoint may be called.
    pub fn begins_at(&self) -> Timestamp {
        self.begins_at.unwrap_or(self.requested_at)
    }
}

/// The result of a check.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum CheckResult {
    /// The endpoint answered with a status from 200 to 299, and with the challenge.
    Passed,
    /// The endpoint answered with a status from 200 to 299, but not with the challenge.
    WrongAnswer,
    /// The endpoint answered with another status.
    Refused,
    /// The endpoint did not answer.
    NoAnswer,
}

/// The state of an endpoint. Only an active endpoint is called with events.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase", tag = "status")]
pub enum EndpointState {
    /// The endpoint has passed no check since its URL was set. Its events wait, for a day after the request to check.
    Pending,
    /// The endpoint has passed a check.
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
    /// Returns the versions after a rotation. While the previous one is still used they stay, because a third secret would
    /// end it early: a client whose response was lost gets the new secret again.
    #[must_use]
    pub fn rotated(self, now: Timestamp) -> Self {
        if self.previous(now).is_some() {
            return self;
        }
        Self { current: self.current + 1, previous_until: Some(now.plus_seconds(ROTATION_S)) }
    }

    /// Returns the previous version, while it is used.
    pub fn previous(self, now: Timestamp) -> Option<u32> {
        self.previous_until.filter(|until| now < *until).and_then(|_| self.current.checked_sub(1))
    }
}

impl Endpoint {
    /// Returns true if the endpoint gets this event. `is_named` is true if the event's job names the endpoint.
    pub fn gets(&self, event: &Event, is_named: bool, now: Timestamp) -> bool {
        let is_listed = self.event_types.contains(&event.event_type());
        // An endpoint for single jobs gets other events only if it lists them.
        let is_in_scope = self.jobs == JobScope::All || is_named || (event.job().is_none() && is_listed);
        self.keeps_events(now) && is_in_scope && (is_listed || self.event_types.is_empty())
    }

    /// Returns true if events are kept for the endpoint: it is active, or it waits for a check that was requested a day ago
    /// at most. So a change of the URL loses no event.
    fn keeps_events(&self, now: Timestamp) -> bool {
        match self.state {
            EndpointState::Active => true,
            EndpointState::Pending => {
                self.check.as_ref().is_some_and(|check| now < check.requested_at.plus_days(UNCHECKED_DAYS))
            }
            EndpointState::Disabled { .. } => false,
        }
    }

    /// Returns the endpoint after this change, with the next revision.
    #[must_use]
    pub fn changed(self, change: impl FnOnce(&mut Self)) -> Self {
        let mut changed = Self { revision: self.revision.saturating_add(1), ..self };
        change(&mut changed);
        changed
    }

    /// Returns the endpoint with a new check, in place of an earlier one.
    #[must_use]
    pub fn with_check(self, challenge: String, now: Timestamp) -> Self {
        let begins_at = Some(self.next_check_at(now)).filter(|at| *at > now);
        self.changed(|endpoint| endpoint.check = Some(Check { challenge, requested_at: now, begins_at, result: None }))
    }

    /// Returns the earliest time of a new check: now, or [`CHECK_S`] after one without a result, whose call can be
    /// under way. A check that has not begun passes on its time, so that any number of changes make one call in each
    /// interval.
    fn next_check_at(&self, now: Timestamp) -> Timestamp {
        let Some(check) = self.check.as_ref().filter(|check| check.result.is_none()) else { return now };
        let begins_at = check.begins_at();
        let next_at = if begins_at > now { begins_at } else { begins_at.plus_seconds(CHECK_S) };
        // At most one interval ahead, also if another clock was fast.
        next_at.clamp(now, now.plus_seconds(CHECK_S))
    }

    /// Returns the endpoint after a check; `None` if another check was requested meanwhile, or it has a result. An
    /// endpoint that waits for its first check becomes active. One that passes is healthy: it was repaired.
    #[must_use]
    pub fn checked(&self, challenge: &str, result: CheckResult) -> Option<Self> {
        let check = self.check.as_ref().filter(|check| check.challenge == challenge && check.result.is_none())?;
        let check = Check { result: Some(result), ..check.clone() };
        Some(self.clone().changed(|endpoint| {
            endpoint.check = Some(check);
            if result == CheckResult::Passed {
                endpoint.health = Health::default();
                if endpoint.state == EndpointState::Pending {
                    endpoint.state = EndpointState::Active;
                }
            }
        }))
    }

    /// Returns true if a check has not begun, or began a moment ago, and has no result yet.
    pub fn is_being_checked(&self, now: Timestamp) -> bool {
        self.check.as_ref().is_some_and(|check| check.result.is_none() && now < check.begins_at().plus_seconds(CHECK_S))
    }

    /// Returns the event that tells of an endpoint that was disabled without its client; `None` for any other endpoint.
    pub fn disabled_event(&self) -> Option<Event> {
        let EndpointState::Disabled { reason, at } = self.state else { return None };
        let (endpoint_id, description) = (self.endpoint_id, self.description.clone());
        let disabled = EndpointDisabled { endpoint_id, description, reason, at };
        (reason != DisabledReason::Client).then(|| Event::endpoint_disabled(disabled))
    }

    /// Returns the endpoint without its events; `None` unless it is active.
    #[must_use]
    pub fn disabled(&self, reason: DisabledReason, at: Timestamp) -> Option<Self> {
        let is_active = self.state == EndpointState::Active;
        is_active.then(|| self.clone().changed(|endpoint| endpoint.state = EndpointState::Disabled { reason, at }))
    }
}

#[cfg(test)]
#[path = "endpoint_tests.rs"]
pub(super) mod tests;
