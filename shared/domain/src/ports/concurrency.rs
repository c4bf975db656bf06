//! Ports of the concurrency limits: permits of a job type, and its parked chunks.

use std::future::Future;

use super::PortResult;
use crate::concurrency::{ParkedChunk, Permit};
use crate::time_stamp::Timestamp;

/// The permits of a job type.
pub trait Permits: Send + Sync {
    /// Lists all permits that were acquired and not released, expired ones included; consistent.
    fn permits(&self, job_type: &str) -> impl Future<Output = PortResult<Vec<Permit>>> + Send;
    /// Acquires the permit, on the condition of [`Permit::may_replace`]; false if another holds it.
    fn acquire(&self, job_type: &str, permit: &Permit, now: Timestamp)
    -> impl Future<Output = PortResult<bool>> + Send;
    /// Releases the permit, if this holder still has it. Idempotent.
    fn release(&self, job_type: &str, permit: &Permit) -> impl Future<Output = PortResult<()>> + Send;
}

/// The parked chunks of a job type.
pub trait ParkedChunks: Send + Sync {
    /// Lists the `first` chunks by turn; consistent.
    fn parked(&self, job_type: &str, first: usize) -> impl Future<Output = PortResult<Vec<ParkedChunk>>> + Send;
    /// Parks a chunk, not woken. Idempotent: a chunk is parked once.
    fn park(&self, job_type: &str, parked: &ParkedChunk) -> impl Future<Output = PortResult<()>> + Send;
    /// Records that the chunk is woken at `now`, if it is unchanged since it was read; false if it has changed. So only
    /// one of two concurrent callers sends its message.
    fn mark_woken(
        &self,
        job_type: &str,
        parked: &ParkedChunk,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<bool>> + Send;
    /// Removes the parked chunk, if it is unchanged since it was read: one that was parked again meanwhile stays.
    fn forget(&self, job_type: &str, parked: &ParkedChunk) -> impl Future<Output = PortResult<()>> + Send;
}
