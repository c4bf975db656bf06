//! Port of the sweep position, which one sweep stores for the next.

use std::future::Future;

use super::{JobPosition, PortResult};

/// The order of a list by the age of its jobs.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ByAge {
    /// The oldest first.
    OldestFirst,
    /// The newest first.
    NewestFirst,
}

/// The position of the sweeps among the unfinished jobs.
pub trait Sweeps: Send + Sync {
    /// Reads the last job that a sweep has looked at; `None` if the last sweep reached the end.
    fn sweep_position(&self) -> impl Future<Output = PortResult<Option<JobPosition>>> + Send;
    /// Stores the position. Idempotent, also for concurrent sweeps: the last write counts, and the next sweep continues
    /// from there.
    fn set_sweep_position(&self, position: Option<JobPosition>) -> impl Future<Output = PortResult<()>> + Send;
}
