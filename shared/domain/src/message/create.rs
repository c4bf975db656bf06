//! The message that splits a job.

use serde::{Deserialize, Serialize};

use super::defaults::{is_false, is_zero};
use super::lanes::{PREPARATION_LANES, copy_suffix, group_id, lane_name, needs_copy};
use crate::ids::JobId;
use crate::job::Job;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// A request to split a job, from its split cursor on, or to prepare its file for the split.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateMessage {
    /// The job.
    pub job_id: JobId,
    /// The job's tenant, for the lane; `None` in messages sent before lanes existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tenant: Option<TenantId>,
    /// The job's generation when the message was sent.
    pub generation: u32,
    /// Number of groups that were committed when the message was sent; with `resend` 0, their messages had been sent,
    /// too. Part of the deduplication id.
    pub position: u32,
    /// 0 from the API and from continuations; n for the sweeper's nth re-send, in another message group.
    #[serde(default)]
    pub resend: u32,
    /// Failed deliveries of the original message that this copy replaces; 0 for the original.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// True for the message that is sent after the job's file was prepared.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_prepared: bool,
    /// Time of the job's last change, in a re-send by the sweeper. It is only a part of the deduplication id and is not
    /// sent: after a pause, the sweeper uses a number again, and the queue would drop the second message.
    #[serde(skip)]
    pub changed_at: Option<Timestamp>,
}

impl CreateMessage {
    /// Returns the deduplication id. It differs for continuations, retries, the sweeper's re-sends, prepared files and
    /// copies of failed messages.
    pub fn deduplication_id(&self) -> String {
        let (copy, prepared) = (copy_suffix(self.failures), if self.is_prepared { ":prepared" } else { "" });
        let changed = self.changed_at.map(|at| format!(":{}", at.0)).unwrap_or_default();
        format!("{}:{}:{}:{}{changed}{prepared}{copy}", self.job_id, self.generation, self.position, self.resend)
    }

    /// Returns the copy that replaces a message after this many failed deliveries; it is sent to a lane for copies.
    /// Returns `None` on the first delivery, for a copy, and for a message that has its message group to itself.
    ///
    /// A FIFO queue delivers no other message of a group until a failed one is deleted or dead-lettered, so the
    /// tenant's other jobs would wait behind it for up to two hours. Send the copy first, then delete the message: two
    /// copies are as harmless as two deliveries, and deduplication drops the second within five minutes.
    pub fn copy_of_failed(&self, failures: u32) -> Option<Self> {
        needs_copy(self.tenant.as_ref(), self.failures, failures).then(|| Self { failures, ..self.clone() })
    }

    /// Creates the sweeper's next re-send for the job.
    pub fn resend(job: &Job) -> Self {
        Self { resend: job.resends + 1, changed_at: Some(job.times.updated_at), ..Self::new(job) }
    }

    /// Creates a request to split the job from its current position.
    pub fn new(job: &Job) -> Self {
        let (generation, position) = (job.generation, job.split.groups);
        Self { tenant: Some(job.tenant.clone()), generation, position, ..Self::of_job(job.job_id) }
    }

    /// Creates the message of an earlier version, without a tenant, for the first generation from its start.
    pub const fn of_job(job_id: JobId) -> Self {
        Self {
            job_id,
            tenant: None,
            generation: 0,
            position: 0,
            resend: 0,
            failures: 0,
            is_prepared: false,
            changed_at: None,
        }
    }

    /// Returns the message group: one of the tenant's lanes. SQS delivers no message of a group while another one of it
    /// is in flight, so a tenant has at most [`SPLIT_LANES`](super::SPLIT_LANES) splitters in addition to re-sends and
    /// copies, and its continuations wait behind its other jobs.
    ///
    /// Re-sends use lanes of their own, so that they do not wait behind a dead splitter's message. There are only two
    /// of them per regular lane, so that a tenant whose jobs have waited for long does not get a splitter for each.
    /// Copies of failed messages use a third such lane, so that a job that fails repeatedly delays only other failed
    /// messages, and the sweeper soon sends another message for the jobs of those.
    pub fn group_id(&self) -> String {
        group_id(self.tenant.as_ref(), self.job_id, self.resend, self.failures)
    }
}

impl CreateMessage {
    /// Returns the message group in the queue of files to be prepared, where one file can take minutes: one of two
    /// lanes of the tenant, and one for all re-sends and copies.
    pub fn preparation_group_id(&self) -> String {
        match self.tenant.as_ref().map(lane_name) {
            None => self.group_id(),
            Some(name) if self.resend > 0 || self.failures > 0 => format!("{name}:f"),
            Some(name) => format!("{name}:{}", self.job_id.0.as_u128() % PREPARATION_LANES),
        }
    }
}
