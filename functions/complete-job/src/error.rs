//! Reasons why a job cannot be ended now: a service fails, or the ledger and the files disagree.

use longshore::chunk::ChunkError;
use longshore_domain::ports::PortError;

/// Reasons why a job could not be ended. The message goes back to its queue, and no final status is written.
#[derive(Debug, thiserror::Error)]
pub enum CompleteError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The job says that every group is done, but its groups disagree.
    #[error("the job has ended and {0} of its groups have not")]
    Unfinished(usize),
    /// The ledger names a manifest that does not exist.
    #[error("manifest of group {0} is missing")]
    ManifestMissing(u32),
    /// A chunk's work files or its range of the source cannot be read correctly.
    #[error("chunk {chunk} of group {group} cannot be reported")]
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
    #[error("group {group} counted {counted} {outcome} items, {found} are found")]
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
    /// An upload of the report no longer exists: another completion was first, or the upload has expired.
    #[error("an upload of the report is not there any more")]
    UploadGone,
    /// The result document could not be serialized as JSON.
    #[error("the result document could not be written")]
    Result(#[from] serde_json::Error),
}
