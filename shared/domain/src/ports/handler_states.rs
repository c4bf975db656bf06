//! Port of the states that the workers of a registered job type share.

use std::future::Future;

use super::PortResult;
use crate::remote::{HandlerState, RateRequest, ReadState};

/// The outcome of replacing a state.
#[derive(Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum Replaced {
    /// The state is stored.
    Replaced,
    /// Another worker has written since the state was read; holds the current state.
    Changed(ReadState),
}

/// The outcome of a reservation under the rate limit, with the state after it.
#[derive(Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum Reserved {
    /// The items are reserved; their time ends at `reserved` of the state.
    Reserved(ReadState),
    /// Nothing is reserved: others have reserved for longer than a worker waits.
    TooLate(ReadState),
}

/// The shared states of registered job types.
pub trait HandlerStates: Send + Sync {
    /// Reads the state; consistent. A type without a record has the state of a working handler.
    fn handler_state(&self, job_type: &str) -> impl Future<Output = PortResult<ReadState>> + Send;

    /// Replaces the state, on condition that nobody has written since version `read`. `writer` is a unique name of this
    /// write: if its response was lost, a repetition finds the name and is `Replaced`.
    fn replace_handler_state(
        &self,
        job_type: &str,
        read: u64,
        state: &HandlerState,
        writer: &str,
    ) -> impl Future<Output = PortResult<Replaced>> + Send;

    /// Reserves items, whoever else reserves or replaces the state at the same time. A repetition reserves them twice:
    /// the limit is kept, and one reservation of it is not used.
    fn reserve_items(&self, job_type: &str, request: &RateRequest)
    -> impl Future<Output = PortResult<Reserved>> + Send;
}
