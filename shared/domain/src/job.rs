//! A job: what is asked, how far it is, and how it ended. A final status never changes.

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

/// Bytes of an error's code and message.
const CODE_BYTES: usize = 100;
const MESSAGE_BYTES: usize = 4 * 1024;
/// Issues that a job keeps.
const MAX_ISSUES: usize = 20;

/// Where a job stands, coarsely. The last three are final.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Status {
    /// Accepted; nobody has begun it.
    Waiting,
    /// Begun.
    Running,
    /// Every item has ended, and the report is written.
    Completed,
    /// Stopped for the reason in `error`, or failed at its end; the report is written.
    Failed,
    /// Stopped at the client's wish; the report is written.
    Canceled,
}

impl Status {
    /// It will never change again.
    pub fn is_final(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled)
    }
}

/// Where a job stands, finely. `finishing` is derived: all items ended, the report not yet written.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// Its create message waits.
    Queued,
    /// The file is being cut; the chunks that exist already run.
    Splitting,
    /// Every chunk exists.
    Processing,
    /// No item starts any more; completion closes the groups and counts.
    Stopping,
    /// Completion writes the report.
    Finishing,
    /// The status is final.
    Done,
}

/// A sentence and a stable code for what went wrong with a job as a whole. Both are short, whoever wrote them: they are
/// stored in the job's item, which DynamoDB holds to 400 KB.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
#[serde(from = "JobErrorParts")]
#[non_exhaustive]
pub struct JobError {
    /// Stable, in snake case, for programs.
    pub code: String,
    /// What, where and the way out, for people.
    pub message: String,
}

/// An error as it is stored.
#[derive(Deserialize)]
struct JobErrorParts {
    code: String,
    message: String,
}

impl JobError {
    /// An error from its two parts, each cut to its bound.
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

/// Why a job is to stop before its end.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct Stop {
    /// The final status that it will get: failed or canceled.
    pub status: Status,
    /// What the document will say.
    pub error: Option<JobError>,
    /// Since when.
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
    /// How its records are told apart.
    pub format: Format,
    /// The client's name for it.
    pub name: String,
}

impl SourceFile {
    /// The upload that put it there: the end of its key.
    pub fn upload(&self) -> Option<FileGuid> {
        FileGuid::parse(self.key.rsplit('/').next()?)
    }
}

/// A job, as it is stored. Its options and its schema are kept apart: this item is rewritten often.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Its id.
    pub job_id: JobId,
    /// Whose it is.
    pub tenant: String,
    /// Name of its job type.
    pub job_type: String,
    /// How urgent it is: which queue its chunks travel in.
    #[serde(default)]
    pub priority: Priority,
    /// 0, and one more with each retry.
    pub generation: u32,
    /// Where it stands.
    pub status: Status,
    /// Where it stands, finely.
    pub stage: Stage,
    /// Its file; none for a job that is one item.
    pub source: Option<SourceFile>,
    /// How many failures it tolerates.
    pub tolerance: Tolerance,
    /// Why it is to stop.
    pub stop: Option<Stop>,
    /// What went wrong with the job as a whole.
    pub error: Option<JobError>,
    /// Things to know that stopped nothing.
    pub issues: Vec<JobError>,
    /// Number of times that the sweeper has sent the job's create or complete message again since the last progress of
    /// the split or the completion.
    pub resends: u32,
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
}

impl Job {
    /// A job that was just accepted: one item, no tolerance, no deadline, no expiry; the rest is for who accepts it.
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

    /// Waiting or running, and nobody has told it to stop.
    pub fn is_live(&self) -> bool {
        !self.status.is_final() && self.stage != Stage::Stopping
    }

    /// Its client has deleted it: it is to be stopped, ended and removed, and to be shown to nobody.
    pub fn is_deleted(&self) -> bool {
        self.times.deleted_at.is_some()
    }

    /// It is deleted and has ended: what belongs to it may go.
    pub fn is_removable(&self) -> bool {
        self.is_deleted() && self.status.is_final()
    }

    /// The sweeper has to look at it: it has not ended, or it is deleted and not yet removed.
    pub fn is_unfinished(&self) -> bool {
        !self.status.is_final() || self.is_deleted()
    }

    /// Split to the end, and every group of this generation done: completion may run.
    pub fn all_done(&self) -> bool {
        let done = self.split.done_groups.range(self.retry.carried_over.groups..).count();
        self.split.ended && done + self.retry.carried_over.groups as usize == self.split.groups as usize
    }

    /// The whole file has been counted, by this generation or by one before.
    pub fn item_count_final(&self) -> bool {
        self.split.ended || self.retry.carried_over.split_ended
    }

    /// Every upload that it uses or has used: its file, and the corrected ones of all generations.
    pub fn uploads(&self) -> BTreeSet<FileGuid> {
        let files = self.source.iter().chain(&self.retry.corrected);
        files.filter_map(SourceFile::upload).chain(self.retry.used_corrections.iter().copied()).collect()
    }

    /// Whether another job can be started that does for real what this one has checked: it has completed, and none was.
    pub fn is_startable(&self) -> bool {
        self.validation.checks_only
            && self.status == Status::Completed
            && self.validation.started_as.is_none()
            && !self.is_deleted()
    }

    /// Whether a group is one of this generation's. Those before are history: nothing is ever written to them.
    pub fn owns(&self, group: u32) -> bool {
        group >= self.retry.carried_over.groups
    }
}
