//! A job: its definition, its progress and its result. A final status never changes.

mod checkpoint;
mod deadline;
mod generation;
mod priority;
mod stored_parts;
mod tolerance;
mod transition;

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::ids::{FileGuid, JobId};
use crate::records::Format;
use crate::text::cut;
use crate::time_stamp::Timestamp;

pub use checkpoint::{Checkpoint, MoveCheckpoint};
pub use deadline::{deadline, has_time};
pub use generation::{CORRECTED_ISSUES, CarriedOver, ChunkId, Reopen};
pub use priority::Priority;
pub use stored_parts::{CompletionState, JobTimes, RetryState, SplitState, Validation};
pub use tolerance::Tolerance;
pub use transition::{Finish, Transition};

/// Maximum bytes of an error's code and message: both are stored in the job's item, which DynamoDB limits to 400 KB.
const CODE_BYTES: usize = 100;
const MESSAGE_BYTES: usize = 4 * 1024;
/// Maximum number of issues that a job keeps.
const MAX_ISSUES: usize = 20;

/// The status of a job. The last three are final.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Accepted, but not begun.
    Waiting,
    /// Begun.
    Running,
    /// Every item has ended, and the report is written.
    Completed,
    /// Stopped for the reason in `error`, or failed at the end; the report is written.
    Failed,
    /// Stopped at the client's request; the report is written.
    Canceled,
}

impl Status {
    /// Returns true if the status is final.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled)
    }
}

/// The stage of a job, finer than its status. In `finishing`, all items have ended and the report is not yet written.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// The create message waits in its queue.
    Queued,
    /// The file is being split; existing chunks already run.
    Splitting,
    /// Every chunk exists.
    Processing,
    /// No new item starts; completion closes the groups and counts.
    Stopping,
    /// All items have ended; completion writes the report. Never stored, but derived on each read.
    Finishing,
    /// The status is final.
    Done,
}

/// A problem with the job as a whole: a stable code, and a sentence for people. Both have a maximum length.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(from = "JobErrorParts")]
#[non_exhaustive]
pub struct JobError {
    /// Stable error code in snake case, for programs.
    pub code: String,
    /// Message for people: the problem, its position and the fix.
    pub message: String,
}

/// An error as it is stored.
#[derive(Deserialize)]
struct JobErrorParts {
    code: String,
    message: String,
}

impl JobError {
    /// Creates an error, with both parts cut to their maximum lengths.
    pub fn new(code: impl Into<String>, message: impl Into<String>) -> Self {
        let (mut code, mut message) = (code.into(), message.into());
        cut(&mut code, CODE_BYTES);
        cut(&mut message, MESSAGE_BYTES);
        Self { code, message }
    }
}

impl From<JobErrorParts> for JobError {
    fn from(parts: JobErrorParts) -> Self {
        Self::new(parts.code, parts.message)
    }
}

/// The reason to stop a job early.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct Stop {
    /// The final status of the job: failed or canceled.
    pub status: Status,
    /// The error that the job will report.
    pub error: Option<JobError>,
    /// Time at which the stop was requested.
    pub at: Timestamp,
}

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

/// A job as it is stored. Its options and its schema are stored separately: this item is rewritten often.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Id of the job.
    pub job_id: JobId,
    /// Tenant that owns the job.
    pub tenant: String,
    /// Name of its job type.
    pub job_type: String,
    /// Priority, which selects the queue of its chunks.
    #[serde(default)]
    pub priority: Priority,
    /// Generation: 0, and one more with each retry.
    pub generation: u32,
<<<<<<< HEAD
    /// Where it stands.
=======
    /// Counts and groups that are carried over from earlier generations.
    #[serde(default, rename = "base")]
    pub carried_over: CarriedOver,
    /// First chunk of the earlier generations whose remaining items are not yet replanned; a retry resumes here.
    #[serde(default, rename = "refiled")]
    pub replanned: ChunkId,
    /// Status.
>>>>>>> x
    pub status: Status,
    /// Stage.
    pub stage: Stage,
    /// The job's file; `None` for a job that is one item.
    pub source: Option<SourceFile>,
<<<<<<< HEAD
    /// How many failures it tolerates.
    pub tolerance: Tolerance,
    /// Why it is to stop.
    pub stop: Option<Stop>,
    /// What went wrong with the job as a whole.
=======
    /// The corrected failures file that the present generation runs with.
    #[serde(default)]
    pub corrected: Option<SourceFile>,
    /// The chunks of earlier generations whose dead letters the present one replays: see [`Reopen::selected_chunks`].
    #[serde(default, rename = "only")]
    pub selected_chunks: Option<BTreeSet<ChunkId>>,
    /// The corrected files of earlier generations. They are no longer read, and are removed with the job.
    #[serde(default, rename = "spent", skip_serializing_if = "BTreeSet::is_empty")]
    pub used_corrections: BTreeSet<FileGuid>,
    /// Tolerated number of failures.
    pub tolerance: Tolerance,
    /// The source is split up to this byte.
    pub split_offset: u64,
    /// Items in the groups committed so far; all items once `split_ended`.
    pub item_count: u64,
    /// Groups committed so far; with `generation` it is the split cursor.
    pub groups: u32,
    /// Groups whose messages are known to be sent: all below this number.
    pub sent_groups: u32,
    /// True if every group is committed.
    pub split_ended: bool,
    /// Groups whose items have all ended.
    #[serde(skip)]
    pub done_groups: BTreeSet<u32>,
    /// The reason to stop, if a stop was requested.
    pub stop: Option<Stop>,
    /// The final counts.
    pub totals: Option<Counts>,
    /// Checkpoint of the present generation's completion, if it takes more than one invocation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checkpoint: Option<Checkpoint>,
    /// Name of the report written with the final status: the attempt, and the invocation that ended it. `None` before
    /// the end, for a job that ended without a report, and for one that ended before attempts had names.
    #[serde(default)]
    pub report: Option<String>,
    /// The error of the job as a whole.
>>>>>>> x
    pub error: Option<JobError>,
    /// Non-fatal warnings.
    pub issues: Vec<JobError>,
    /// Number of times that the sweeper has sent the job's create or complete message again since the last progress of
    /// the split or the completion.
    pub resends: u32,
<<<<<<< HEAD
    /// The retry that the present generation is.
    #[serde(flatten)]
    pub retry: RetryState,
    /// The progress of the split.
    #[serde(flatten)]
    pub split: SplitState,
    /// The progress and the result of completion.
    #[serde(flatten)]
    pub completion: CompletionState,
    /// Its times.
    #[serde(flatten)]
    pub times: JobTimes,
    /// The link between a validation and the import started from it.
    #[serde(flatten)]
    pub validation: Validation,
=======
    /// Time at which the job was accepted.
    pub created_at: Timestamp,
    /// Time at which the job was begun.
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
    /// True if the job only validates its file: an import can be started from it.
    #[serde(default)]
    pub checks_only: bool,
    /// The import that was started from this job; at most one ever.
    #[serde(default)]
    pub started_as: Option<JobId>,
    /// The validated job from which this one was started.
    #[serde(default)]
    pub started_from: Option<JobId>,
>>>>>>> x
}

impl Job {
    /// A job that was just accepted: one item, no tolerance, no deadline, no expiry. The caller sets the other fields.
    pub fn waiting(job_id: JobId, tenant: impl Into<String>, job_type: impl Into<String>, now: Timestamp) -> Self {
        Self {
            job_id,
            tenant: tenant.into(),
            job_type: job_type.into(),
            priority: Priority::default(),
            generation: 0,
            status: Status::Waiting,
            stage: Stage::Queued,
            source: None,
            tolerance: Tolerance::default(),
            stop: None,
            error: None,
            issues: Vec::new(),
            resends: 0,
            retry: RetryState::default(),
            split: SplitState::default(),
            completion: CompletionState::default(),
            times: JobTimes::accepted(now),
            validation: Validation::default(),
        }
    }

    /// Returns true if the job waits or runs, and no stop was requested.
    pub fn is_live(&self) -> bool {
        !self.status.is_final() && self.stage != Stage::Stopping
    }

    /// Returns true if the client has deleted the job: it is to be stopped, ended and removed, and is shown to no
    /// client.
    pub fn is_deleted(&self) -> bool {
        self.times.deleted_at.is_some()
    }

    /// Returns true if the job is deleted and has ended: its data may be removed.
    pub fn is_removable(&self) -> bool {
        self.is_deleted() && self.status.is_final()
    }

    /// Returns true if the sweeper has work: the job has not ended, or is deleted and not yet removed.
    pub fn is_unfinished(&self) -> bool {
        !self.status.is_final() || self.is_deleted()
    }

    /// Returns true if the split has ended and every group of this generation is done: completion may run.
    pub fn all_done(&self) -> bool {
        let done = self.split.done_groups.range(self.retry.carried_over.groups..).count();
        self.split.ended && done + self.retry.carried_over.groups as usize == self.split.groups as usize
    }

    /// Returns true if the whole file has been counted, by this generation or an earlier one.
    pub fn item_count_final(&self) -> bool {
        self.split.ended || self.retry.carried_over.split_ended
    }

    /// Returns every upload that the job uses or has used: its file, and the corrected files of all generations.
    pub fn uploads(&self) -> BTreeSet<FileGuid> {
        let files = self.source.iter().chain(&self.retry.corrected);
        files.filter_map(SourceFile::upload).chain(self.retry.used_corrections.iter().copied()).collect()
    }

    /// Returns true if an import can be started from this validated job: it has completed, and none was started before.
    pub fn is_startable(&self) -> bool {
        self.validation.checks_only
            && self.status == Status::Completed
            && self.validation.started_as.is_none()
            && !self.is_deleted()
    }

    /// Returns true if the group belongs to this generation. Groups of earlier generations are never written again.
    pub fn owns(&self, group: u32) -> bool {
        group >= self.retry.carried_over.groups
    }
}
