//! The record of a job.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::error::{JobError, Stop};
use super::priority::Priority;
use super::status::{Stage, Status};
use super::stored_parts::{CompletionState, JobTimes, RetryState, SourceFile, SplitState, Validation};
use super::tolerance::Tolerance;
use crate::ids::{FileGuid, JobId};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// Maximum number of issues that a job keeps.
pub(super) const MAX_ISSUES: usize = 20;

/// A job as it is stored. Its options and its schema are stored separately: this item is rewritten often.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Id of the job.
    pub job_id: JobId,
    /// Tenant that owns the job.
    pub tenant: TenantId,
    /// Name of its job type.
    pub job_type: String,
    /// Priority, which selects the queue of its chunks.
    #[serde(default)]
    pub priority: Priority,
    /// Generation: 0, and one more with each retry.
    pub generation: u32,
    /// Status.
    pub status: Status,
    /// Stage.
    pub stage: Stage,
    /// The job's file; `None` for a job that is one item.
    pub source: Option<SourceFile>,
    /// Tolerated number of failures.
    pub tolerance: Tolerance,
    /// The reason to stop, if a stop was requested.
    pub stop: Option<Stop>,
    /// The error of the job as a whole.
    pub error: Option<JobError>,
    /// Non-fatal warnings.
    pub issues: Vec<JobError>,
    /// Number of times that the sweeper has sent the job's create or complete message again since the last progress of
    /// the split or the completion.
    pub resends: u32,
    /// The retry that the current generation is.
    #[serde(flatten)]
    pub retry: RetryState,
    /// The progress of the split.
    #[serde(flatten)]
    pub split: SplitState,
    /// The progress and the result of completion.
    #[serde(flatten)]
    pub completion: CompletionState,
    /// Times of the job.
    #[serde(flatten)]
    pub times: JobTimes,
    /// The link between a validation and the import started from it.
    #[serde(flatten)]
    pub validation: Validation,
}

impl Job {
    /// A job that was just accepted: one item, no tolerance, no deadline, no expiry. The caller sets the other fields.
    pub fn waiting(job_id: JobId, tenant: TenantId, job_type: impl Into<String>, now: Timestamp) -> Self {
        Self {
            job_id,
            tenant,
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
