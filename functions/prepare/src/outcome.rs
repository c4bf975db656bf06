//! Outcomes of a preparation.

use longshore_domain::ports::PortError;

/// Outcome of a delivery that processed its message. The message is acknowledged in every case.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum PrepareEnd {
    /// The prepared file is the job's, and the split continues.
    Ended,
    /// The file cannot be converted: the job fails.
    Failed,
    /// No file must be prepared: another delivery was first, or the file is gone. The split continues.
    Unneeded,
    /// The job is split already, is stopping or has ended.
    NothingToDo,
    /// An operator has paused the job type or the tenant: the sweeper continues after the pause.
    Paused,
    /// The job no longer exists: it was deleted.
    Absent,
    /// An earlier delivery failed. A copy of the message in the copies lane has replaced it.
    Replaced,
}

/// Reasons to retry a preparation.
#[derive(Debug, thiserror::Error)]
pub enum PrepareError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The thread of the conversion could not be started.
    #[error("the conversion could not be started")]
    Thread(#[from] std::io::Error),
    /// The conversion has failed, and not because of the file.
    #[error("the conversion failed: {0}")]
    Conversion(String),
    /// The file was removed or replaced while it was read.
    #[error("the file was removed or replaced while it was read")]
    FileGone,
    /// The upload of the prepared file was aborted by another call, or is incomplete.
    #[error("the prepared file could not be stored")]
    NotStored,
    /// The function's time is over.
    #[error("the time of the function is over")]
    TimeOver,
}
