//! Outcomes of creating an upload or a job, and of starting, undoing or reopening a job: done, repeated under its
//! idempotency key, or refused.

use super::QuotaExceeded;
use crate::ids::JobId;
use crate::job::Job;
use crate::timestamp::Timestamp;

/// The outcome of a create with an idempotency key; `Id` is a job's or an upload's.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Created<Id> {
    /// Stored as new.
    New,
    /// The same request was accepted before, with this id.
    Replayed(Id),
    /// The key was used for another request.
    KeyReused,
    /// The tenant has reached one of its limits. Nothing is stored.
    OverQuota(QuotaExceeded),
}

/// The outcome of a start of an import. At most one import is started from a validated job, however often it is
/// requested.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Started {
    /// Stored as new.
    New,
    /// This job was started before.
    Before(JobId),
    /// The validated job was deleted, or has been reopened.
    Refused,
    /// The tenant has reached one of its limits. Nothing is stored.
    OverQuota(QuotaExceeded),
}

/// The outcome of a retry.
#[derive(Clone, PartialEq, Debug)]
pub enum Reopened {
    /// Reopened; the job as it is now.
    Made(Box<Job>),
    /// The job has not ended, is deleted, or was reopened by another call.
    Refused,
    /// The tenant has reached one of its limits. Nothing is stored.
    OverQuota(QuotaExceeded),
}

/// The outcome of the creation of an undo.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum UndoCreated {
    /// Stored as new, and the import is marked.
    New,
    /// The import has not ended, was reopened or deleted, or has another undo than the one that was read.
    Refused,
    /// The tenant has reached one of its limits. Nothing is stored.
    OverQuota(QuotaExceeded),
}

/// A client's idempotency key for a create, with the hash of its request. Keys of jobs and of uploads are separate.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct IdempotencyKey {
    /// The key as sent.
    pub key: String,
    /// SHA-256 of the request, in hexadecimal.
    pub request_hash: String,
    /// Time of the request.
    pub at: Timestamp,
}

impl IdempotencyKey {
    /// Lifetime of a key: one day. It is longer than any client retries, and no longer than the shortest life of a
    /// created object.
    pub const RETENTION_S: i64 = 86_400;

    /// Returns the time of expiry, in seconds.
    pub fn expires_at(&self) -> i64 {
        self.at.plus_seconds(Self::RETENTION_S).seconds()
    }
}
