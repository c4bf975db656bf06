//! Outcomes of a completion.

use longshore_domain::job::Status;

use crate::error::CompleteError;

/// Outcome of a delivery that processed its message. The message is acknowledged in every case.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum CompleteEnd {
    /// The report is written and the job has this final status.
    Finished(Status),
    /// The job already had a final status, or another delivery was first.
    AlreadyFinished,
    /// The message belongs to another generation than the job's current one.
    OtherGeneration,
    /// The delivery's time is nearly over: another message continues from the checkpoint.
    HandedOver,
    /// Another completion has moved the checkpoint, and continues.
    Overtaken,
    /// Some items have not ended. The worker that ends the last one, or the sweeper, requests completion again.
    NothingToDo,
    /// The job no longer exists: it was deleted.
    Absent,
    /// An earlier delivery failed. A copy of the message in the copies lane has replaced it.
    Replaced,
}

/// Reasons for which a completion stops early.
pub(crate) enum Halt {
    /// There is nothing more to do.
    End(CompleteEnd),
    /// The job must be read again: it was stopped meanwhile, or another completion has written its report.
    Again,
    /// The job cannot be ended now.
    Error(CompleteError),
}

impl<E: Into<CompleteError>> From<E> for Halt {
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}
