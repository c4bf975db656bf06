//! Why a job cannot be ended now: a service fails, or the ledger and the files do not agree.

use longshore::chunk::ChunkError;
use longshore_domain::ports::PortError;

/// Why a job could not be ended: the message goes back to its queue. No final status is written.
#[derive(Debug, thiserror::Error)]
pub enum CompleteError {
    /// A service failed.
    #[error(transparent)]
    Port(#[from] PortError),
    /// The job says that every group is done, and its groups do not.
    #[error("the job has ended and {0} of its groups have not")]
    Unfinished(usize),
    /// The ledger names a manifest that is not there.
    #[error("manifest of group {0} is missing")]
    ManifestMissing(u32),
    /// A chunk's work files or its range of the source cannot be read as they must.
    #[error("chunk {chunk} of group {group} cannot be reported")]
    Chunk {
        /// Number of the group.
        group: u32,
        /// Number of the chunk within it.
        chunk: u32,
        /// What is wrong.
        #[source]
        source: ChunkError,
    },
    /// The ledger counted other items than the work files hold: a report would be false.
    #[error("group {group} counted {counted} {outcome} items, {found} are found")]
    Miscounted {
        /// Number of the group.
        group: u32,
        /// Which items.
        outcome: &'static str,
        /// As the ledger has it.
        counted: u64,
        /// As the files have it.
        found: u64,
    },
    /// An upload of the report has ended: another completion was first, or it lay too long.
    #[error("an upload of the report is not there any more")]
    UploadGone,
    /// The result document could not be written as JSON.
    #[error("the result document could not be written")]
    Result(#[from] serde_json::Error),
}
