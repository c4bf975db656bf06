//! What a call that makes something met: it is new, it was made before, or it may not be.

use crate::ids::JobId;
use crate::time_stamp::Timestamp;

/// What a create with an idempotency key met; `Id` is a job's or an upload's.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Created<Id> {
    /// It is stored.
    New,
    /// The same request was accepted before, as this.
    Replayed(Id),
    /// The key was used for another request.
    KeyReused,
    /// The tenant has no room for it, see [`super::TenantLimits`]: so many jobs are active, or so many bytes
    /// were promised that day. Nothing is stored.
    OverLimit(u64),
    /// The tenant's jobs of the day have files of so many bytes, and there is no room for this one. Nothing is stored.
    OverDailyBytes(u64),
    /// The tenant has used up its calls that make work in this window, see [`super::TenantCounts::count_call`]. Nothing
    /// is stored.
    RateLimited,
}

/// What a start met: one job is started from another, however often it is asked for.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Started {
    /// It is stored.
    New,
    /// This one was started before.
    Before(JobId),
    /// The job from which it was to be started was deleted, or has been opened again.
    Refused,
    /// The tenant has no room for it, see [`super::TenantLimits`]: so many jobs are active. Nothing is stored.
    OverLimit(u64),
    /// The tenant's jobs of the day have files of so many bytes, and there is no room for this one. Nothing is stored.
    OverDailyBytes(u64),
}

/// A client's key for a create, with the hash of the request that came with it. Keys of jobs and of uploads are apart.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct IdempotencyKey {
    /// As sent.
    pub key: String,
    /// SHA-256 of the request, in hexadecimal.
    pub request_hash: String,
    /// When the request came.
    pub at: Timestamp,
}

impl IdempotencyKey {
    /// A day: longer than any client tries again, and no longer than the shortest life of what a key made.
    pub const KEPT_SECONDS: i64 = 86_400;

    /// When it is free again, in seconds.
    pub fn expires_at(&self) -> i64 {
        self.at.plus_seconds(Self::KEPT_SECONDS).seconds()
    }
}
