//! Ports of the concurrency limits: permits of a job type, and its parked chunks.

use std::future::Future;

use super::PortResult;
use crate::concurrency::{ParkedChunk, Permit, Wake};
use crate::timestamp::Timestamp;

/// The outcome of an attempt to acquire a permit.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum Acquisition {
    /// The permit belongs to this holder now.
    Acquired,
    /// Another holder has the permit.
    Unavailable,
}

/// The outcome of recording that a parked chunk is woken.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum WakeMark {
    /// Recorded: the caller sends the chunk's message.
    Marked,
    /// The parked chunk has changed since it was read, or is no longer parked.
    Changed,
}

/// The permits of a job type.
pub trait Permits: Send + Sync {
    /// Lists all permits that were acquired and not released, expired ones included; consistent.
    fn permits(&self, job_type: &str) -> impl Future<Output = PortResult<Vec<Permit>>> + Send;
    /// Acquires the permit, on the condition of [`Permit::may_replace`].
    fn acquire(
        &self,
        job_type: &str,
        permit: &Permit,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<Acquisition>> + Send;
    /// Releases the permit, if this holder still has it. Idempotent.
    fn release(&self, job_type: &str, permit: &Permit) -> impl Future<Output = PortResult<()>> + Send;
}

/// The parked chunks of a job type.
pub trait ParkedChunks: Send + Sync {
    /// Lists the first `limit` chunks by turn; consistent.
    fn parked(&self, job_type: &str, limit: usize) -> impl Future<Output = PortResult<Vec<ParkedChunk>>> + Send;
    /// Parks a chunk, not woken. Idempotent: a chunk is parked once.
    fn park(&self, job_type: &str, parked: &ParkedChunk) -> impl Future<Output = PortResult<()>> + Send;
    /// Records a wake of the chunk, if it is unchanged since it was read. So only one of two concurrent callers sends its
    /// message.
    fn mark_woken(
        &self,
        job_type: &str,
        parked: &ParkedChunk,
        wake: &Wake,
    ) -> impl Future<Output = PortResult<WakeMark>> + Send;
    /// Removes the parked chunk, if it is unchanged since it was read: one that was parked again meanwhile stays.
    fn unpark(&self, job_type: &str, parked: &ParkedChunk) -> impl Future<Output = PortResult<()>> + Send;
}
