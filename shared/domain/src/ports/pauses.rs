//! Port of pauses: what functions read before they work, and the changes of operators.

use std::future::Future;

use super::PortResult;
use crate::pause::Pause;

/// The pauses of job types and tenants.
pub trait Pauses: Send + Sync {
    /// Reads all pauses, consistently. Some may have ended.
    fn pauses(&self) -> impl Future<Output = PortResult<Vec<Pause>>> + Send;
    /// Reads all pauses at half the cost, for what is only shown: changes of the last second may be missing.
    fn recent_pauses(&self) -> impl Future<Output = PortResult<Vec<Pause>>> + Send {
        self.pauses()
    }
}

/// Outcome of a pause.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum PauseOutcome {
    /// The pause is stored, by this call or an earlier one whose response was lost.
    Made,
    /// Another pause of the same scope is in force, and unchanged.
    InForce(Pause),
}

/// Changes of pauses.
pub trait PauseRecords: Pauses {
    /// Stores a pause, unless one of its scope is in force at its start.
    fn put_pause(&self, pause: &Pause) -> impl Future<Output = PortResult<PauseOutcome>> + Send;
    /// Removes a pause, unless another one of its scope has replaced it. Idempotent.
    fn end_pause(&self, pause: &Pause) -> impl Future<Output = PortResult<()>> + Send;
}
