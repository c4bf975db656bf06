//! Port of registered job types.

use std::future::Future;

use super::{Page, PortResult};
use crate::registration::{Activation, Candidate, Refusal, Revision, StoredRegistration, TypeName, Version};

/// The outcome of a write of a candidate.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum TypeWrite {
    /// The candidate is stored, or removed.
    Stored,
    /// The stored revision is another one. Nothing was written.
    Changed,
    /// The stack has [`MAX_JOB_TYPES`](crate::registration::MAX_JOB_TYPES) job types. Nothing was written.
    TooMany,
}

/// The outcome of a deletion.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum TypeDeletion {
    /// The job type does not exist any more, or never did.
    Deleted,
    /// The stored revision is another one. Nothing was deleted.
    Changed,
}

/// The outcome of recording a ping.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum PingRecord {
    /// The result is recorded, by this call or an earlier one.
    Recorded,
    /// The version is no longer the candidate: it was replaced, decided otherwise, or deleted. Nothing was written.
    Stale,
}

/// The registered job types of the stack, for all tenants. They never expire.
pub trait JobTypes: Send + Sync {
    /// Reads a job type, consistently.
    fn job_type(&self, name: &TypeName) -> impl Future<Output = PortResult<Option<StoredRegistration>>> + Send;
    /// Lists up to `limit` job types (fewer if they are large) in the order of their names, after `after`, consistently;
    /// `next` is the last name of the page.
    fn job_types(
        &self,
        after: Option<&TypeName>,
        limit: usize,
    ) -> impl Future<Output = PortResult<Page<StoredRegistration>>> + Send;
    /// Stores the candidate in place of an earlier one; `None` only removes it. `seen` is the revision that was read,
    /// `None` if there was no job type: the write is applied if and only if it is still the stored one.
    fn put_candidate(
        &self,
        name: &TypeName,
        candidate: Option<&Candidate>,
        seen: Option<&Revision>,
    ) -> impl Future<Output = PortResult<TypeWrite>> + Send;
    /// Deletes a job type with its candidate, if `seen` is the stored revision, or `None`. Idempotent. Ends nothing: jobs
    /// have copies of their registration.
    fn delete_job_type(
        &self,
        name: &TypeName,
        seen: Option<&Revision>,
    ) -> impl Future<Output = PortResult<TypeDeletion>> + Send;
    /// Makes the candidate active if and only if it has this version. Idempotent; the first activation stays.
    fn activate(
        &self,
        name: &TypeName,
        version: &Version,
        activation: &Activation,
    ) -> impl Future<Output = PortResult<PingRecord>> + Send;
    /// Refuses the candidate if and only if it has this version. Idempotent; the first refusal stays.
    fn refuse(
        &self,
        name: &TypeName,
        version: &Version,
        refusal: &Refusal,
    ) -> impl Future<Output = PortResult<PingRecord>> + Send;
}
