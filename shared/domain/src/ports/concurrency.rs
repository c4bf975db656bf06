//! The gates of job types that may run only so many chunks at once: slots, and a room to wait in.

use std::future::Future;

use super::PortResult;
use crate::concurrency::{ParkedChunk, Permit};
use crate::time_stamp::Timestamp;

/// The slots of a job type.
pub trait Permits: Send + Sync {
    /// All leases that were taken and not given back, ended ones among them; consistent.
    fn permits(&self, job_type: &str) -> impl Future<Output = PortResult<Vec<Permit>>> + Send;
    /// Takes the lease's slot, on the condition of [`Permit::may_replace`]; false if another holds it.
    fn acquire(&self, job_type: &str, permit: &Permit, now: Timestamp)
    -> impl Future<Output = PortResult<bool>> + Send;
    /// Gives the slot back, if this holder still has it. Harmless twice.
    fn release(&self, job_type: &str, permit: &Permit) -> impl Future<Output = PortResult<()>> + Send;
}

/// The chunks of a job type that wait for a slot.
pub trait ParkedChunks: Send + Sync {
    /// The `first` ones by their turn, consistent.
    fn parked(&self, job_type: &str, first: usize) -> impl Future<Output = PortResult<Vec<ParkedChunk>>> + Send;
    /// Puts a chunk down, not called. Harmless twice: a chunk waits once.
    fn park(&self, job_type: &str, parked: &ParkedChunk) -> impl Future<Output = PortResult<()>> + Send;
    /// Notes that the chunk is called at `now`, if nothing has changed since it was read; false if something has, so
    /// that of two callers one sends its message.
    fn mark_woken(
        &self,
        job_type: &str,
        parked: &ParkedChunk,
        now: Timestamp,
    ) -> impl Future<Output = PortResult<bool>> + Send;
    /// Takes the chunk out, if nothing has changed since it was read: one that was put down again meanwhile stays.
    fn forget(&self, job_type: &str, parked: &ParkedChunk) -> impl Future<Output = PortResult<()>> + Send;
}
