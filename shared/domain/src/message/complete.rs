//! The message that completes a job.

use serde::{Deserialize, Serialize};

use super::defaults::is_zero;
use super::lanes::{copy_suffix, group_id, needs_copy};
use crate::ids::JobId;
use crate::job::Job;
use crate::tenant::TenantId;

/// A request to complete a job that has ended or is to stop: write the report and set the final status.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CompleteMessage {
    /// The job.
    pub job_id: JobId,
    /// The generation that ended.
    pub generation: u32,
    /// 0 normally; n for the sweeper's nth re-send.
    #[serde(default)]
    pub resend: u32,
    /// Checkpoint step from which the completion continues, as known to the sender. Part of the deduplication id only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub step: u32,
    /// The job's tenant, for the lane; `None` in messages sent before completions had lanes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<TenantId>,
    /// Failed deliveries of the original message that this copy replaces; 0 for the original.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
}

impl CompleteMessage {
    /// Creates a request to complete the job's current generation, from its checkpoint on.
    pub fn new(job: &Job) -> Self {
        let step = job.completion.checkpoint.as_ref().map_or(0, |at| at.step);
        let (job_id, tenant, generation) = (job.job_id, Some(job.tenant.clone()), job.generation);
        Self { job_id, generation, resend: 0, step, tenant, failures: 0 }
    }

    /// Returns the deduplication id. It is the same for the workers that saw the same end, and differs for
    /// continuations, re-sends and copies of failed messages.
    pub fn deduplication_id(&self) -> String {
        let copy = copy_suffix(self.failures);
        format!("{}:{}:{}:{}{copy}", self.job_id, self.generation, self.resend, self.step)
    }

    /// Returns the copy that replaces a message after this many failed deliveries, as [`CreateMessage::copy_of_failed`](super::CreateMessage::copy_of_failed)
    /// does.
    pub fn copy_of_failed(&self, failures: u32) -> Option<Self> {
        needs_copy(self.tenant.as_ref(), self.failures, failures).then(|| Self { failures, ..self.clone() })
    }

    /// Returns one of the tenant's lanes, as [`CreateMessage::group_id`](super::CreateMessage::group_id) does: the same limit holds for concurrent
    /// completions.
    pub fn group_id(&self) -> String {
        group_id(self.tenant.as_ref(), self.job_id, self.resend, self.failures)
    }
}
