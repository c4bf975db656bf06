//! The record of a job, and its parts. They are flattened: on disk a job is one flat item.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::chunk_queue::ChunkQueue;
use super::error::{JobError, Stop};
use super::original::Preparation;
use super::priority::Priority;
use super::retry_state::RetryState;
use super::source::{Source, SourceFile};
use super::status::{Stage, Status};
use super::times::JobTimes;
use super::tolerance::Tolerance;
use super::undo::UndoState;
use crate::cost::{Cost, CostEstimate};
use crate::event::PendingEvent;
use crate::ids::{EndpointId, FileGuid, JobId};
use crate::outcome::Counts;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use crate::trace::TraceId;

/// A job as it is stored. Its options and its schema are stored separately: this item is rewritten often.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Job {
    /// Id of the job.
    pub job_id: JobId,
    /// Tenant that owns the job.
    pub tenant: TenantId,
    /// The trace of the request, of the upload or of the job from which it was made; `None` for a trace of its own.
    #[serde(default, rename = "traceId", skip_serializing_if = "Option::is_none")]
    pub trace: Option<TraceId>,
    /// Name of its job type.
    pub job_type: String,
    /// Priority, which selects the queue of its chunks unless its type is registered.
    #[serde(default)]
    pub priority: Priority,
    /// True for a registered job type, whose handler is remote.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_registered: bool,
    /// True until the time of a job that starts later has come. It has no create message yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_scheduled: bool,
    /// The client's labels. No rule reads them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The endpoint that gets the job's events, besides those that get the events of all jobs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub callback: Option<EndpointId>,
    /// Generation: 0, and one more with each retry.
    pub generation: u32,
    /// Status.
    pub status: Status,
    /// Stage.
    pub stage: Stage,
    /// The source of the items; `None` for a job that is one item.
    pub source: Option<Source>,
    /// Tolerated failures and cost.
    pub tolerance: Tolerance,
    /// Cost that was estimated when the job was created. No rule reads it.
    #[serde(default, rename = "estimate", skip_serializing_if = "Option::is_none")]
    pub cost_estimate: Option<CostEstimate>,
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
    /// The progress of the preparation of the file, until it ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub preparation: Option<Preparation>,
    /// The progress and the result of completion.
    #[serde(flatten)]
    pub completion: CompletionState,
    /// Times of the job.
    #[serde(flatten)]
    pub times: JobTimes,
    /// Start of the latest outage of the job's handler that has an event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded_outage: Option<Timestamp>,
    /// Events that are not in the tenant's list yet. The store keeps them as a set, so that any write can add to it.
    #[serde(skip)]
    pub pending_events: BTreeSet<PendingEvent>,
    /// Pending events that another version of this program wrote, and that this one cannot read. That version moves
    /// them.
    #[serde(skip)]
    pub unknown_events: BTreeSet<String>,
    /// The link between a validation and the import started from it.
    #[serde(flatten)]
    pub validation: Validation,
    /// The link between an import and its undo.
    #[serde(flatten)]
    pub undo: UndoState,
}

impl Job {
    /// A job that was just accepted: one item, no metadata, no tolerance, no deadline, no expiry. The caller sets the
    /// other fields.
    pub fn waiting(job_id: JobId, tenant: TenantId, job_type: impl Into<String>, now: Timestamp) -> Self {
        Self {
            job_id,
            tenant,
            trace: None,
            job_type: job_type.into(),
            priority: Priority::default(),
            is_registered: false,
            is_scheduled: false,
            metadata: BTreeMap::new(),
            callback: None,
            generation: 0,
            status: Status::Waiting,
            stage: Stage::Queued,
            source: None,
            tolerance: Tolerance::default(),
            cost_estimate: None,
            stop: None,
            error: None,
            issues: Vec::new(),
            resends: 0,
            retry: RetryState::default(),
            split: SplitState::default(),
            preparation: None,
            completion: CompletionState::default(),
            times: JobTimes::accepted(now),
            recorded_outage: None,
            pending_events: BTreeSet::new(),
            unknown_events: BTreeSet::new(),
            validation: Validation::default(),
            undo: UndoState::default(),
        }
    }

    /// Returns the id of its trace. It never changes.
    pub fn trace_id(&self) -> TraceId {
        self.trace.unwrap_or_else(|| self.job_id.into())
    }

    /// Returns the queue of its chunks.
    pub const fn chunk_queue(&self) -> ChunkQueue {
        ChunkQueue::new(self.priority, self.is_registered)
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

    /// Returns true if the job is deleted and has ended, and its events are in the list: its data may be removed.
    pub fn is_removable(&self) -> bool {
        self.is_deleted() && self.status.is_final() && !self.has_events()
    }

    /// Returns true if the job has not ended, or is deleted and not yet removed.
    pub fn is_unfinished(&self) -> bool {
        !self.status.is_final() || self.is_deleted()
    }

    /// Returns true if the sweeper has work at any time: the job is unfinished and not scheduled, or has events that
    /// are not in the list yet.
    pub fn needs_sweep(&self) -> bool {
        (self.is_unfinished() && !self.is_scheduled) || self.has_events()
    }

    /// Returns true if events of the job are not in the list yet.
    fn has_events(&self) -> bool {
        !self.pending_events.is_empty() || !self.unknown_events.is_empty()
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
        let files = self.file().into_iter().chain(self.retry.selection.corrected());
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

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
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

/// The progress of the split.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SplitState {
    /// The source is split up to this byte.
    #[serde(rename = "splitOffset")]
    pub offset: u64,
    /// Place behind the committed groups; `None` at the beginning.
    ///
    /// - For a dataset: the last key.
    /// - For a part of another job: a position among its groups.
    /// - For an undo, after the end of its file: the next chunk of the import.
    #[serde(default, rename = "splitPlace", skip_serializing_if = "Option::is_none")]
    pub place: Option<String>,
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
    /// Cost of the current generation, written with the final status.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cost: Option<Cost>,
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
