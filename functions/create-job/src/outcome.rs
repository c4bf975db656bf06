//! Outcomes of a split.

use longshore::chunk::{ChunkError, GroupMissing};
use longshore_domain::ports::PortError;

use crate::part_source::SourceGone;

/// Outcome of a delivery that processed its message. The message is acknowledged in every case.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum SplitEnd {
    /// Every group is committed and sent.
    Ended,
    /// The function's time is nearly over: another message continues the split.
    Continued,
    /// The file must be converted before it can be split: `prepare` gets the job, and then sends another message.
    Preparing,
    /// The file cannot be read, or none of its rows could be processed: the job fails.
    Failed,
    /// Another splitter is ahead; or the job is split already, is stopping or has ended.
    NothingToDo,
    /// An operator has paused the job type or the tenant: the sweeper continues the split after the pause.
    Paused,
    /// The job no longer exists: it was deleted.
    Absent,
    /// An earlier delivery failed. A copy of the message in the copies lane has replaced it.
    Replaced,
}

/// Reasons to retry a split.
#[derive(Debug, thiserror::Error)]
pub enum SplitError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The remaining items of an earlier generation cannot be read or replanned.
    #[error(transparent)]
    Chunk(#[from] ChunkError),
    /// This function does not know the job's definition: it was deployed with other job types.
    #[error("job {0}: its job type or its options are unknown to this function")]
    Definition(String),
    /// The ledger names a group that does not exist.
    #[error(transparent)]
    GroupMissing(#[from] GroupMissing),
    /// The ledger names a manifest that does not exist.
    #[error("manifest of group {0} is missing")]
    ManifestMissing(u32),
}

/// Reasons for which a split stops early.
pub(crate) enum Halt {
    End(SplitEnd),
    /// A write was refused: another splitter is ahead, the job is stopping, or it was our own write whose response was
    /// lost.
    Refused,
    /// The part of another job can no longer be copied: the job fails.
    SourceGone(SourceGone),
    Error(SplitError),
}

impl From<SourceGone> for Halt {
    fn from(gone: SourceGone) -> Self {
        Self::SourceGone(gone)
    }
}

impl<E: Into<SplitError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}
