//! Queue messages. Every message may arrive twice, late or out of order; the stored state decides, never a message.

use serde::{Deserialize, Serialize};

use crate::group::ChunkPlan;
use crate::ids::{ChunkId, EndpointId, JobId};
use crate::job::{ChunkQueue, Job, Priority};
use crate::registration::{TypeName, Version};
use crate::remote::Bisection;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use crate::webhook::{DeliveryId, DeliveryKey};

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
}

impl CreateMessage {
    /// Returns the deduplication id. It differs for continuations, retries, the sweeper's re-sends, prepared files and
    /// copies of failed messages.
    pub fn deduplication_id(&self) -> String {
        let (copy, prepared) = (copy_suffix(self.failures), if self.is_prepared { ":prepared" } else { "" });
        format!("{}:{}:{}:{}{prepared}{copy}", self.job_id, self.generation, self.position, self.resend)
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

    /// Creates a request to split the job from its current position.
    pub fn new(job: &Job) -> Self {
        let (generation, position) = (job.generation, job.split.groups);
        Self { tenant: Some(job.tenant.clone()), generation, position, ..Self::of_job(job.job_id) }
    }

    /// Creates the message of an earlier version, without a tenant, for the first generation from its start.
    pub const fn of_job(job_id: JobId) -> Self {
        Self { job_id, tenant: None, generation: 0, position: 0, resend: 0, failures: 0, is_prepared: false }
    }

    /// Returns the message group: one of the tenant's lanes. SQS delivers no message of a group while another one of it
    /// is in flight, so a tenant has at most [`SPLIT_LANES`] splitters in addition to re-sends and copies, and its
    /// continuations wait behind its other jobs.
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

/// Number of lanes of one tenant in the queue of files to be prepared.
const PREPARATION_LANES: u128 = 2;

/// Number of lanes of one tenant in the create queue, and in the complete queue: a fifth of the concurrency.
pub const SPLIT_LANES: u128 = 4;

/// Maximum characters of a tenant's name in a message group, which has up to 128
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>). Two tenants
/// whose longer names begin alike share their lanes.
const MAX_LANE_NAME_BYTES: usize = 120;

/// A request to process a chunk, from its cursor on.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChunkMessage {
    /// The job.
    pub job_id: JobId,
    /// The job's tenant. It is the message group, so that one tenant's load does not starve another.
    pub tenant: TenantId,
    /// The job's priority. Omitted if normal; a message without it means normal.
    #[serde(default, skip_serializing_if = "Priority::is_normal")]
    pub priority: Priority,
    /// True for a registered job type, whose handler is remote.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_registered: bool,
    /// Number of the group.
    pub group: u32,
    /// Number of the chunk within the group.
    pub chunk: u32,
    /// The chunk's items and byte range.
    pub plan: ChunkPlan,
    /// The chunk's bytes if they are few; otherwise they are read by range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<String>,
    /// Failed deliveries of this chunk before it was parked. The message that wakes it is a new one, so the queue
    /// counts its receives from zero.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
    /// Sizes of the batches of a remote handler, and the search for the item that makes a batch fail; `None` before the
    /// first call, and for other handlers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bisection: Option<Bisection>,
    /// Time from which a chunk that was parked for a while can continue; `None` for a chunk that was not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked_until: Option<Timestamp>,
}

impl ChunkMessage {
    /// Creates the message for a chunk, without its bytes.
    pub fn new(job: &Job, ChunkId { group, chunk }: ChunkId, plan: &ChunkPlan) -> Self {
        let (job_id, tenant, plan) = (job.job_id, job.tenant.clone(), plan.clone());
        Self {
            job_id,
            tenant,
            priority: job.priority,
            is_registered: job.is_registered,
            group,
            chunk,
            plan,
            inline: None,
            failures: 0,
            bisection: None,
            parked_until: None,
        }
    }

    /// Returns the queue of the message.
    pub const fn queue(&self) -> ChunkQueue {
        ChunkQueue::new(self.priority, self.is_registered)
    }

    /// Returns the chunk's id.
    pub const fn id(&self) -> ChunkId {
        ChunkId::new(self.group, self.chunk)
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A request to ping the handler of a candidate, and to record the result for its version.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct PingMessage {
    /// Name of the job type.
    pub name: TypeName,
    /// Version of the candidate.
    pub version: Version,
}

/// A request to the function that calls endpoints.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", rename_all_fields = "camelCase", tag = "request", deny_unknown_fields)]
pub enum WebhookMessage {
    /// Attempt a delivery, if its attempt is due.
    Deliver {
        /// The delivery.
        delivery: DeliveryKey,
    },
    /// Check an endpoint.
    Check {
        /// Tenant of the endpoint.
        tenant: TenantId,
        /// The endpoint.
        endpoint_id: EndpointId,
        /// The challenge of the check. A result counts only for it.
        challenge: String,
    },
    /// Replay the deliveries of an endpoint that were not accepted and that were created after another one.
    Replay {
        /// Tenant of the endpoint.
        tenant: TenantId,
        /// The endpoint.
        endpoint_id: EndpointId,
        /// Only deliveries with greater ids.
        after: DeliveryId,
        /// Time of the request: deliveries that were created later are not replayed, unless they wait for a check.
        requested_at: Timestamp,
        /// True for the release after a passed check: only deliveries are replayed that wait for it, or for a later
        /// attempt.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        only_waiting: bool,
    },
}

impl WebhookMessage {
    /// Returns the tenant, which is the message group: the load of one tenant does not delay another.
    pub const fn tenant(&self) -> &TenantId {
        match self {
            Self::Deliver { delivery } => &delivery.tenant,
            Self::Check { tenant, .. } | Self::Replay { tenant, .. } => tenant,
        }
    }
}

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

    /// Returns the copy that replaces a message after this many failed deliveries, as [`CreateMessage::copy_of_failed`]
    /// does.
    pub fn copy_of_failed(&self, failures: u32) -> Option<Self> {
        needs_copy(self.tenant.as_ref(), self.failures, failures).then(|| Self { failures, ..self.clone() })
    }

    /// Returns one of the tenant's lanes, as [`CreateMessage::group_id`] does: the same limit holds for concurrent
    /// completions.
    pub fn group_id(&self) -> String {
        group_id(self.tenant.as_ref(), self.job_id, self.resend, self.failures)
    }
}

/// Returns the tenant's name, shortened to fit into a message group. A name is ASCII.
fn lane_name(tenant: &TenantId) -> &str {
    let name = tenant.as_str();
    &name[..name.len().min(MAX_LANE_NAME_BYTES)]
}

/// Returns true if the failing message blocks other jobs of its message group and is not a copy itself.
fn needs_copy(tenant: Option<&TenantId>, failures_before: u32, failures: u32) -> bool {
    failures > 0 && failures_before == 0 && tenant.is_some()
}

/// Returns the suffix of a copy's deduplication id.
fn copy_suffix(failures: u32) -> &'static str {
    if failures > 0 { ":f" } else { "" }
}

fn group_id(tenant: Option<&TenantId>, job_id: JobId, resend: u32, failures: u32) -> String {
    let lane = job_id.0.as_u128() % SPLIT_LANES;
    match (tenant.map(lane_name), failures, resend) {
        (None, _, 0) => job_id.to_string(),
        (None, _, n) => format!("{job_id}:{n}"),
        (Some(name), 0, 0) => format!("{name}:{lane}"),
        (Some(name), 0, n) => format!("{name}:{lane}:{}", (n - 1) % 2),
        (Some(name), ..) => format!("{name}:{lane}:f"),
    }
}

#[cfg(test)]
#[path = "message_tests.rs"]
mod tests;
