//! A part of an ended job as the source of another job's items.

use serde::{Deserialize, Serialize};

use crate::ids::JobId;
use crate::records::Format;

/// A part of a job: the items with one outcome, or the outputs of those that succeeded.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[schema(as = JobPart)]
#[serde(rename_all = "camelCase")]
pub enum Part {
    /// The outputs of the items that succeeded.
    Results,
    /// The items that failed.
    Failed,
    /// The items that were skipped.
    Skipped,
    /// The items that a stopped job has not processed.
    Unprocessed,
}

impl Part {
    /// Returns the name of the part in requests and documents.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Results => "results",
            Self::Failed => "failed",
            Self::Skipped => "skipped",
            Self::Unprocessed => "unprocessed",
        }
    }
}

/// The items of a part of an ended job, in the order of its report. They are copied into the folder of the new job.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PartSource {
    /// The ended job, which belongs to the same tenant.
    pub job_id: JobId,
    /// The part.
    pub part: Part,
    /// Generation of the ended job. A retry changes its parts, and so fails a job that has not copied them.
    pub generation: u32,
    /// Format of the records.
    pub format: Format,
    /// Name for people, from which the names of the report's files are made.
    pub name: String,
}
