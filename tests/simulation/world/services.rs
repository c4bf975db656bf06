//! Services and state that all functions of a world share.

use std::cell::RefCell;
use std::collections::BTreeSet;

use longshore::chunk::DefinitionCache;
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_testing::MemoryFiles;
use longshore_testing::MemoryQueues;
use longshore_testing::MemoryStore;

use crate::stepwise::Stepwise;
use crate::unguarded::Unguarded;

pub(super) type Services =
    Ports<Stepwise<Unguarded<MemoryStore>>, Stepwise<Unguarded<MemoryQueues>>, Stepwise<Unguarded<MemoryFiles>>>;

/// Services and state that all functions of a world share.
pub(super) struct Shared {
    pub(super) ports: Services,
    pub(super) dead_letters: Stepwise<MemoryQueues>,
    pub(super) registry: Registry,
    pub(super) definitions: DefinitionCache,
    pub(super) retry_base_s: i64,
    /// Seconds without progress that count as healthy.
    pub(super) stall_s: i64,
    /// Generations of jobs that clients have stopped.
    pub(super) canceled: RefCell<BTreeSet<(JobId, u32)>>,
}
