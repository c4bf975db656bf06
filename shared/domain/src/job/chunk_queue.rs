//! Queues of chunks: one for each priority, and one for the registered job types, whose handlers are remote.

use super::priority::Priority;

/// A queue of chunks. Each has its own concurrency, so that no chunk waits behind one of another queue.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub enum ChunkQueue {
    /// Chunks of jobs of this priority, for handlers in this deployment's code.
    Priority(Priority),
    /// Chunks of registered job types, whatever the priority of their jobs.
    Handler,
}

impl ChunkQueue {
    /// All queues.
    pub const ALL: [Self; 4] = [
        Self::Priority(Priority::High),
        Self::Priority(Priority::Normal),
        Self::Priority(Priority::Low),
        Self::Handler,
    ];

    /// Returns the queue of chunks of jobs with this priority and kind of job type.
    pub const fn new(priority: Priority, is_registered: bool) -> Self {
        if is_registered { Self::Handler } else { Self::Priority(priority) }
    }

    /// Returns the name in keys and logs.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Priority(priority) => priority.as_str(),
            Self::Handler => "handler",
        }
    }
}
