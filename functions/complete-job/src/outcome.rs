//! Outcomes of a completion, and the reasons why a job cannot be ended now.

use longshore::chunk::{ChunkError, GroupMissing};
use longshore_domain::job::Status;
use longshore_domain::ports::PortError;
use rust_xlsxwriter::XlsxError;

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

/// Reasons why a job could not be ended. The message goes back to its queue, and no final status is written.
#[derive(Debug, thiserror::Error)]
pub enum CompleteError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The job marks every group as done, but some groups are not done.
    #[error("the job is marked as done, but {0} of its groups are not")]
    Unfinished(usize),
    /// The ledger names a manifest that does not exist.
    #[error("manifest of group {0} is missing")]
    ManifestMissing(u32),
    /// The ledger names a group that does not exist.
    #[error(transparent)]
    GroupMissing(#[from] GroupMissing),
    /// A chunk's work files or its range of the source cannot be read correctly.
    #[error("cannot read chunk {chunk} of group {group} for the report")]
    Chunk {
        /// Number of the group.
        group: u32,
        /// Number of the chunk within the group.
        chunk: u32,
        /// Cause of the error.
        #[source]
        source: ChunkError,
    },
    /// The counts of the ledger and of the work files differ: a report would be wrong.
    #[error("group {group}: the ledger counts {counted} {outcome} items, the work files contain {found}")]
    Miscounted {
        /// Number of the group.
        group: u32,
        /// Outcome of the miscounted items.
        outcome: &'static str,
        /// Count in the ledger.
        counted: u64,
        /// Count in the files.
        found: u64,
    },
    /// The outputs of a commit are missing, or differ from their description.
    #[error("the outputs {0} are missing or damaged")]
    OutputsMissing(String),
    /// The results could not be compressed.
    #[error("cannot compress the results")]
    Compress(#[source] std::io::Error),
    /// The results do not fit into a workbook. The completion writes them as CSV.
    #[error("the results cannot be a workbook")]
    Workbook(#[from] WorkbookError),
    /// An upload of the report no longer exists: another completion was first, or the upload has expired.
    #[error("an upload of the report no longer exists")]
    UploadGone,
    /// The result document could not be serialized as JSON.
    #[error("cannot serialize the result document")]
    Result(#[from] serde_json::Error),
}

/// Reasons why results do not fit into a workbook. They become CSV instead.
#[derive(Debug, thiserror::Error)]
pub enum WorkbookError {
    /// There are too many cells, bytes or slices.
    #[error("the results are too large for a workbook")]
    TooLarge,
    /// The rows could not be written in the time of one invocation.
    #[error("the time of the function is too short for the workbook")]
    OutOfTime,
    /// Earlier invocations ended while they wrote it.
    #[error("writing the workbook has failed repeatedly")]
    TooManyTries,
    /// A cell has too much text, or the temporary storage is full.
    #[error(transparent)]
    Library(#[from] XlsxError),
    /// The temporary storage failed.
    #[error(transparent)]
    Io(#[from] std::io::Error),
    /// A line is not JSON.
    #[error(transparent)]
    Line(#[from] serde_json::Error),
}
