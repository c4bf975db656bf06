//! A delivery of a chunk's message: the source of its outcomes, its end, and its errors.

use longshore_domain::cost::Units;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::PortError;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::WorkFileError;

use crate::remote::NotCalled;

/// A delivery in progress.
#[derive(Copy, Clone, Debug)]
pub(super) struct ChunkDelivery<'a> {
    pub(super) message: &'a ChunkMessage,
    pub(super) mode: Mode,
    /// Time by which the function must have stopped.
    pub(super) deadline: Timestamp,
    /// Time when the message was sent, if it is received for the first time.
    pub(super) sent_at: Option<Timestamp>,
    /// Deliveries of this message before this one, which have failed.
    pub(super) failures: u32,
    /// Reading of the meter when the delivery began.
    pub(super) units: Units,
}

/// Source of the items' outcomes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Mode {
    /// The handler decides.
    Work,
    /// All remaining items fail with `dead_lettered`, because no worker could process the chunk.
    GiveUp,
}

/// Result of a delivery. In every case, the message is acknowledged.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ChunkEnd {
    /// Every item of the chunk has ended, in this delivery or before.
    Finished,
    /// Deferred items wait for their next round.
    NextRound,
    /// The turn, or the function's time, has ended: another message continues.
    Continued,
    /// The round is not due yet: the message is sent again with the remaining delay.
    TooEarly,
    /// The type's concurrency limit is reached: the chunk is parked, and sent again when a permit is free.
    Parked,
    /// The remote handler cannot be called now: the chunk is parked, and sent again at a later time.
    HandlerWait,
    /// An operator has paused the job type or the tenant: the sweeper sends the chunk again after the pause.
    Paused,
    /// Another worker has moved the cursor.
    Lost,
    /// The job is stopping or has ended.
    NotLive,
    /// The job was deleted, or belongs to another tenant than the message.
    Absent,
}

/// Error of processing a chunk. The message returns to its queue, and finally goes to its dead-letter queue.
#[derive(Debug, thiserror::Error)]
pub enum ChunkError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// A work file that a commit refers to is missing.
    #[error("work file {0} is missing")]
    WorkFileMissing(String),
    /// A work file is damaged.
    #[error("work file {key} cannot be read")]
    WorkFile {
        /// Key of the file.
        key: String,
        /// The cause.
        #[source]
        source: WorkFileError,
    },
    /// The job's definition cannot be used by this function: it was deployed with other job types.
    #[error("job type {job_type}: {reason}")]
    Definition {
        /// Name of the job type.
        job_type: String,
        /// The reason.
        reason: String,
    },
    /// The chunk does not match its plan.
    #[error("the chunk has {found} items, but its plan has {planned}")]
    Plan {
        /// Items found.
        found: usize,
        /// Items planned.
        planned: u32,
    },
    /// A line of a file of keys, or the row of a deferred item, is not a key.
    #[error("an item of a dataset is not a key")]
    Key(#[source] serde_json::Error),
    /// A remote handler could not be called, for a reason of this stack.
    #[error(transparent)]
    NotCalled(#[from] NotCalled),
    /// A handler returned no outcome at all, or more outcomes than items.
    #[error("the handler returned {outcomes} outcomes for {items} items")]
    Handler {
        /// Outcomes returned.
        outcomes: usize,
        /// Items passed.
        items: usize,
    },
}
