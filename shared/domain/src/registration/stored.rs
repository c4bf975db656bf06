//! The stored state of a job type: its active registration and its candidate.
//!
//! | event | active | candidate |
//! | --- | --- | --- |
//! | PUT of other content | stays | replaced, with a new version |
//! | PUT of the active content | stays | removed |
//! | PUT of the pending candidate's content | stays | stays; pinged again |
//! | good ping of the candidate's version | the candidate | removed |
//! | bad ping of the candidate's version | stays | refused, unless it is already |
//! | ping of any other version | stays | stays |
//!
//! A good ping counts even if a bad one of the same version came first: the proof is good, whatever the order of the
//! messages. So any number of pings of one version, in any order, ends in the same state.

use serde::{Deserialize, Serialize};

use super::content::Registration;
use super::version::{Revision, Version};
use crate::remote::Mode;
use crate::text::shortened;
use crate::timestamp::Timestamp;

/// Maximum characters of the reason of a refusal.
const MAX_REASON_CHARS: usize = 1_000;

/// The stored state of a job type: an active registration, a candidate, or both.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct StoredRegistration {
    /// The registration that new jobs use.
    pub active: Option<VersionedRegistration>,
    /// The registration that is to become active.
    pub candidate: Option<Candidate>,
}

/// An active registration.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionedRegistration {
    /// Its version.
    pub version: Version,
    /// Its content.
    pub registration: Registration,
    /// The answer to its ping.
    pub activation: Activation,
}

/// The good answer to the ping of a candidate.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Activation {
    /// The modes that the handler knows.
    pub modes: Vec<Mode>,
    /// Time of the answer.
    pub at: Timestamp,
}

/// A registration whose handler has not answered a ping well.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// Its version.
    pub version: Version,
    /// Its content.
    pub registration: Registration,
    /// Time of the call that stored it.
    pub created_at: Timestamp,
    /// The result of its ping, if it was bad.
    pub refusal: Option<Refusal>,
}

/// The bad result of a candidate's ping.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Refusal {
    /// The reason, for operators.
    pub reason: String,
    /// Time of the result.
    pub at: Timestamp,
}

impl Refusal {
    /// Creates a refusal; a long reason is shortened.
    pub fn new(reason: &str, at: Timestamp) -> Self {
        Self { reason: shortened(reason, MAX_REASON_CHARS), at }
    }
}

impl Candidate {
    /// Creates a candidate with a new version.
    pub fn new(registration: Registration, now: Timestamp) -> Self {
        Self { version: Version::generate(now), registration, created_at: now, refusal: None }
    }
}

/// Status of a job type.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, utoipa::ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = JobTypeStatus)]
pub enum RegistrationStatus {
    /// The handler has not answered a ping yet.
    Pending,
    /// Jobs of this type can be created.
    Active,
    /// The handler's answer to the ping was not good.
    Refused,
}

/// The effect of a PUT.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum PutPlan<'a> {
    /// The content is active, and there is no candidate.
    Unchanged,
    /// The content is active: the candidate is removed.
    Withdraw,
    /// The content is that of the pending candidate with this version, which is pinged again.
    PingAgain(&'a Version),
    /// The content becomes the candidate.
    Replace,
}

impl StoredRegistration {
    /// Plans a PUT of this content.
    pub fn plan_put(&self, registration: &Registration) -> PutPlan<'_> {
        let is_active = self.active.as_ref().is_some_and(|active| active.registration == *registration);
        match &self.candidate {
            None if is_active => PutPlan::Unchanged,
            Some(_) if is_active => PutPlan::Withdraw,
            Some(candidate) if candidate.refusal.is_none() && candidate.registration == *registration => {
                PutPlan::PingAgain(&candidate.version)
            }
            _ => PutPlan::Replace,
        }
    }

    /// Returns the revision that a conditional write refers to.
    pub fn revision(&self) -> Revision {
        Revision {
            active: self.active.as_ref().map(|active| active.version.clone()),
            candidate: self.candidate.as_ref().map(|candidate| candidate.version.clone()),
            is_refused: self.candidate.as_ref().is_some_and(|candidate| candidate.refusal.is_some()),
        }
    }

    /// Returns the state with the candidate activated; `None` if its version is another one.
    #[must_use]
    pub fn activated(&self, version: &Version, activation: &Activation) -> Option<Self> {
        let Candidate { version, registration, .. } = self.candidate_with(version)?.clone();
        let active = VersionedRegistration { version, registration, activation: activation.clone() };
        Some(Self { active: Some(active), candidate: None })
    }

    /// Returns the state with the candidate refused; `None` if its version is another one, or it is refused already.
    #[must_use]
    pub fn refused(&self, version: &Version, refusal: &Refusal) -> Option<Self> {
        let candidate = self.candidate_with(version).filter(|candidate| candidate.refusal.is_none())?;
        let candidate = Candidate { refusal: Some(refusal.clone()), ..candidate.clone() };
        Some(Self { active: self.active.clone(), candidate: Some(candidate) })
    }

    /// Returns the registration to show: the active one, or else the candidate.
    pub fn shown(&self) -> Option<&Registration> {
        let active = self.active.as_ref().map(|active| &active.registration);
        active.or_else(|| self.candidate.as_ref().map(|candidate| &candidate.registration))
    }

    /// Returns the status.
    pub fn status(&self) -> RegistrationStatus {
        match (&self.active, &self.candidate) {
            (Some(_), _) => RegistrationStatus::Active,
            (None, Some(candidate)) => candidate.status(),
            (None, None) => RegistrationStatus::Pending,
        }
    }

    /// Returns the time of the last change.
    pub fn updated_at(&self) -> Option<Timestamp> {
        let active = self.active.as_ref().map(|active| active.activation.at);
        active.max(self.candidate.as_ref().map(Candidate::changed_at))
    }

    fn candidate_with(&self, version: &Version) -> Option<&Candidate> {
        self.candidate.as_ref().filter(|candidate| candidate.version == *version)
    }
}

impl Candidate {
    /// Returns the status of the candidate: pending or refused.
    pub const fn status(&self) -> RegistrationStatus {
        match self.refusal {
            None => RegistrationStatus::Pending,
            Some(_) => RegistrationStatus::Refused,
        }
    }

    /// Returns the time at which it was stored or refused.
    pub fn changed_at(&self) -> Timestamp {
        self.refusal.as_ref().map_or(self.created_at, |refusal| refusal.at)
    }
}

#[cfg(test)]
#[path = "stored_tests.rs"]
mod tests;
