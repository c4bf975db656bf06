//! The gates of job types that may run only so many chunks at once: slots, and a room to wait in.

use std::future::Future;

use super::PortResult;
use crate::gate::{Lease, Waiting};
use crate::time_stamp::Timestamp;

/// The slots of a job type.
pub trait Slots: Send + Sync {
    /// All leases that were taken and not given back, ended ones among them; consistent.
    fn leases(&self, job_type: &str) -> impl Future<Output = PortResult<Vec<Lease>>> + Send;
    /// Takes the lease's slot, on the condition of [`Lease::may_replace`]; false if another holds it.
    fn take(&self, job_type: &str, lease: &Lease, now: Timestamp) -> impl Future<Output = PortResult<bool>> + Send;
    /// Gives the slot back, if this holder still has it. Harmless twice.
    fn give_back(&self, job_type: &str, lease: &Lease) -> impl Future<Output = PortResult<()>> + Send;
}

/// The chunks of a job type that wait for a slot.
pub trait WaitingRoom: Send + Sync {
    /// The `first` ones by their turn, consistent.
    fn waiting(&self, job_type: &str, first: usize) -> impl Future<Output = PortResult<Vec<Waiting>>> + Send;
    /// Puts a chunk down, not called. Harmless twice: a chunk waits once.
    fn wait(&self, job_type: &str, waiting: &Waiting) -> impl Future<Output = PortResult<()>> + Send;
    /// Notes that the chunk is called at `now`, if nothing has changed since it was read; false if something has, so
    /// that of two callers one sends its message.
    fn call(&self, job_type: &str, waiting: &Waiting, now: Timestamp) -> impl Future<Output = PortResult<bool>> + Send;
    /// Takes the chunk out, if nothing has changed since it was read: one that was put down again meanwhile stays.
    fn forget(&self, job_type: &str, waiting: &Waiting) -> impl Future<Output = PortResult<()>> + Send;
}
