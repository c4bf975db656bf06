//! The parts of a stored [`Job`](super::Job). They are flattened: on disk a job is one flat item.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::{ChunkId, FileGuid, JobId};
use crate::outcome::Counts;
use crate::records::Format;
use crate::timestamp::Timestamp;

/// The file of a job, as it was when the job was created.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceFile {
    /// Object key.
    pub key: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag: every read names it, so that a changed file fails the job.
    pub etag: String,
    /// Format of its records.
    pub format: Format,
    /// The client's name for the file.
    pub name: String,
}

impl SourceFile {
    /// Returns the upload that the file came from: the last part of its key.
    pub fn upload(&self) -> Option<FileGuid> {
        FileGuid::parse(self.key.rsplit('/').next()?)
    }
}

/// The point from which the next invocation continues a generation's completion: a stored part of its report.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// Name of the attempt that writes the report.
    pub attempt: String,
    /// Unique name of the stored part of the report.
    pub token: String,
    /// Number of checkpoints of this generation so far.
    pub step: u32,
}

/// The retry that the current generation is; all empty in generation 0.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RetryState {
    /// Counts and groups that are carried over from earlier generations.
    #[serde(default, rename = "base")]
    pub carried_over: CarriedOver,
    /// First chunk of the earlier generations whose remaining items are not yet replanned; a retry resumes here.
    #[serde(default, rename = "refiled")]
    pub replanned: ChunkId,
    /// The corrected failures file that the current generation runs with.
    #[serde(default)]
    pub corrected: Option<SourceFile>,
    /// The chunks of earlier generations whose dead letters the current one replays: see
    /// [`Reopen::selected_chunks`](super::Reopen::selected_chunks).
    #[serde(default, rename = "only")]
    pub selected_chunks: Option<BTreeSet<ChunkId>>,
    /// The corrected files of earlier generations. They are no longer read, and are removed with the job.
    #[serde(default, rename = "spent", skip_serializing_if = "BTreeSet::is_empty")]
    pub used_corrections: BTreeSet<FileGuid>,
}

/// Counts and groups that are carried over from earlier generations.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CarriedOver {
    /// Items that ended for good: succeeded and skipped.
    pub counts: Counts,
    /// Number of groups of all earlier generations: the number of this generation's first group.
    pub groups: u32,
    /// True if the whole file was counted before.
    pub split_ended: bool,
    /// First chunk whose remaining items this generation replans.
    #[serde(default, rename = "refiled")]
    pub replanned: ChunkId,
    /// End of the retried groups: a later generation has retried all failed items of the groups below this number.
    #[serde(default, rename = "offered")]
    pub retried_groups: u32,
}

/// The progress of the split.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SplitState {
    /// The source is split up to this byte.
    #[serde(rename = "splitOffset")]
    pub offset: u64,
    /// Items in the groups committed so far; all items once `ended`.
    pub item_count: u64,
    /// Groups committed so far; with `generation` it is the split cursor.
    pub groups: u32,
    /// Groups whose messages are known to be sent: all below this number.
    pub sent_groups: u32,
    /// True if every group is committed.
    #[serde(rename = "splitEnded")]
    pub ended: bool,
    /// Groups whose items have all ended.
    #[serde(skip)]
    pub done_groups: BTreeSet<u32>,
}

/// The progress and the result of completion.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct CompletionState {
    /// The final counts.
    pub totals: Option<Counts>,
    /// Checkpoint of the current generation's completion, if it takes more than one invocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Name of the report written with the final status: the attempt, and the invocation that ended it. `None` before
    /// the end, for a job that ended without a report, and for one that ended before attempts had names.
    #[serde(default)]
    pub report: Option<String>,
}

/// The times of a job.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobTimes {
    /// Time at which the job was accepted.
    pub created_at: Timestamp,
    /// Time at which the job was started.
    pub started_at: Option<Timestamp>,
    /// Time of the final status.
    pub finished_at: Option<Timestamp>,
    /// Time of the last change to the job itself; its groups have their own.
    pub updated_at: Timestamp,
    /// Maximum run time in seconds.
    #[serde(default)]
    pub timeout_s: i64,
    /// Time at which the job is stopped unless it has ended.
    pub deadline_at: Timestamp,
    /// Time in seconds at which the job and its files expire: DynamoDB's time to live.
    pub expires_at: i64,
    /// Time at which the client deleted the job; absent on other jobs. From then on, no response and no list shows the
    /// job. It remains stored until it has ended and the sweeper has removed its data.
    #[serde(default)]
    pub deleted_at: Option<Timestamp>,
}

impl JobTimes {
    /// The times of a job that was just accepted: no deadline, no expiry.
    pub fn accepted(now: Timestamp) -> Self {
        Self {
            created_at: now,
            started_at: None,
            finished_at: None,
            updated_at: now,
            timeout_s: 0,
            deadline_at: Timestamp(i64::MAX),
            expires_at: i64::MAX,
            deleted_at: None,
        }
    }
}

/// The link between a job that only validates and the import that is started from it.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Validation {
    /// True if the job only validates its file: an import can be started from it.
    #[serde(default)]
    pub checks_only: bool,
    /// The import that was started from this job; at most one ever.
    #[serde(default)]
    pub started_as: Option<JobId>,
    /// The validated job from which this one was started.
    #[serde(default)]
    pub started_from: Option<JobId>,
}
