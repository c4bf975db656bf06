//! What travels in the queues. Every message may come twice, late, or out of order; none is an authority.

use serde::{Deserialize, Serialize};

use crate::group::ChunkPlan;
use crate::ids::JobId;
use crate::job::{Job, Priority};

/// Split this job, from its split cursor on.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct CreateMessage {
    /// The job.
    pub job_id: JobId,
    /// Its tenant, for the lane; empty in messages that were sent before lanes existed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// Its generation when this was sent.
    pub generation: u32,
    /// Groups that were committed when this was sent, and with `resend` 0 those whose messages were sent; part of the
    /// deduplication id.
    pub position: u32,
    /// 0 from the API and from continuations; n for the sweeper's nth re-send, in another message group.
    #[serde(default)]
    pub resend: u32,
    /// Deliveries that failed before this copy took the message's place; 0 for the message itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
}

impl CreateMessage {
    /// A deduplication id that lets continuations, retries, the sweeper's re-sends and copies of failed messages through.
    pub fn deduplication_id(&self) -> String {
        let copy = copy_suffix(self.failures);
        format!("{}:{}:{}:{}{copy}", self.job_id, self.generation, self.position, self.resend)
    }

    /// The copy that takes the place of a message of which this many deliveries failed; it travels in a lane for copies.
    /// None on the first delivery, for a copy, and for a message whose message group holds nothing but its job.
    ///
    /// A FIFO queue delivers no other message of a group until one that failed is deleted or dead, so the tenant's other jobs
    /// would wait behind it for up to two hours. Send the copy first, then delete the message: two copies are as harmless as
    /// two deliveries, and deduplication swallows the second within five minutes.
    pub fn copy_of_failed(&self, failures: u32) -> Option<Self> {
        wants_copy(&self.tenant, self.failures, failures).then(|| Self { failures, ..self.clone() })
    }

    /// Splits the job from where it is, as it was read.
    pub fn new(job: &Job) -> Self {
        let (job_id, tenant) = (job.job_id, job.tenant.clone());
        Self { job_id, tenant, generation: job.generation, position: job.split.groups, resend: 0, failures: 0 }
    }

    /// The message group: one of the tenant's lanes. SQS delivers no message of a group while another one of it is in
    /// flight, so a tenant has at most [`SPLIT_LANES`] splitters beside re-sends and copies, and its continuations stand
    /// behind its other jobs.
    ///
    /// A re-send stands in a lane apart, so that it does not wait behind a dead splitter's message; there are two such
    /// lanes beside each, so that a tenant whose jobs have waited for long does not have a splitter for each of them.
    /// A copy of a failed message stands in a third lane beside each, so that a job that fails again and again holds up only
    /// other failed messages, of whose jobs the sweeper sends another message soon.
    pub fn group_id(&self) -> String {
        group_id(&self.tenant, self.job_id, self.resend, self.failures)
    }
}

/// Lanes of one tenant in the queue of splits, and in that of completions: a fifth of what runs at once.
pub const SPLIT_LANES: u128 = 4;

/// Characters of a tenant's name in a message group, which has up to 128
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/quotas-messages.html>). Two tenants with
/// longer names that begin alike share their lanes.
const LANE_NAME: usize = 120;

/// Work this chunk, from its cursor on.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct ChunkMessage {
    /// The job.
    pub job_id: JobId,
    /// Whose: the message group, so that one tenant's flood does not starve another.
    pub tenant: String,
    /// The job's: which queue this travels in. Left out while it is normal, so that a message without it is understood.
    #[serde(default, skip_serializing_if = "Priority::is_normal")]
    pub priority: Priority,
    /// Number of the group.
    pub group: u32,
    /// Number of the chunk within the group.
    pub chunk: u32,
    /// Its items and bytes.
    pub plan: ChunkPlan,
    /// The bytes themselves while they are few; else they are read by range.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inline: Option<String>,
    /// Deliveries of this chunk that failed before it waited at its gate. The message that calls it in is a new one, whose
    /// receives the queue counts from nothing.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
}

impl ChunkMessage {
    /// The message for a job's chunk at this place (group, chunk), without its bytes.
    pub fn new(job: &Job, (group, chunk): (u32, u32), plan: &ChunkPlan) -> Self {
        let (job_id, tenant, plan) = (job.job_id, job.tenant.clone(), plan.clone());
        Self { job_id, tenant, priority: job.priority, group, chunk, plan, inline: None, failures: 0 }
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// Every item has ended, or the job is to stop: report, and give the final status.
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
    /// Step of the checkpoint from which it goes on, as its sender saw it; part of the deduplication id only.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub step: u32,
    /// The job's tenant, for the lane; empty in messages that were sent before completions had lanes.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub tenant: String,
    /// Deliveries that failed before this copy took the message's place; 0 for the message itself.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub failures: u32,
}

impl CompleteMessage {
    /// Ends the present generation of a job, from where its completion is.
    pub fn new(job: &Job) -> Self {
        let step = job.completion.checkpoint.as_ref().map_or(0, |at| at.step);
        let (job_id, tenant, generation) = (job.job_id, job.tenant.clone(), job.generation);
        Self { job_id, generation, resend: 0, step, tenant, failures: 0 }
    }

    /// Deduplicates the messages of the workers that saw the same end, and lets continuations, re-sends and copies of failed
    /// messages through.
    pub fn deduplication_id(&self) -> String {
        let copy = copy_suffix(self.failures);
        format!("{}:{}:{}:{}{copy}", self.job_id, self.generation, self.resend, self.step)
    }

    /// The copy that takes the place of a message of which this many deliveries failed, as
    /// [`CreateMessage::copy_of_failed`].
    pub fn copy_of_failed(&self, failures: u32) -> Option<Self> {
        wants_copy(&self.tenant, self.failures, failures).then(|| Self { failures, ..self.clone() })
    }

    /// One of the tenant's lanes, as [`CreateMessage::group_id`]: a tenant has as many completions at once.
    pub fn group_id(&self) -> String {
        group_id(&self.tenant, self.job_id, self.resend, self.failures)
    }
}

/// The tenant's name as far as a message group holds it.
fn lane_name(tenant: &str) -> String {
    tenant.chars().filter(char::is_ascii_graphic).take(LANE_NAME).collect()
}

/// True if a message of which so many deliveries failed blocks other jobs of its message group, and is not a copy already.
fn wants_copy(tenant: &str, failures_before: u32, failures: u32) -> bool {
    failures > 0 && failures_before == 0 && !lane_name(tenant).is_empty()
}

/// The end of a copy's deduplication id.
fn copy_suffix(failures: u32) -> &'static str {
    if failures > 0 { ":f" } else { "" }
}

fn group_id(tenant: &str, job_id: JobId, resend: u32, failures: u32) -> String {
    let (lane, tenant) = (job_id.0.as_u128() % SPLIT_LANES, lane_name(tenant));
    match (tenant.is_empty(), failures, resend) {
        (true, _, 0) => job_id.to_string(),
        (true, _, n) => format!("{job_id}:{n}"),
        (false, 0, 0) => format!("{tenant}:{lane}"),
        (false, 0, n) => format!("{tenant}:{lane}:{}", (n - 1) % 2),
        (false, ..) => format!("{tenant}:{lane}:f"),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::time_stamp::Timestamp;

    #[test]
    fn a_tenant_has_a_few_lanes_and_shares_them_with_nobody() {
        let sent = |tenant: &str, resend| {
            let job = Job::waiting(JobId::generate(), tenant, "import", Timestamp(0));
            CreateMessage { resend, ..CreateMessage::new(&job) }.group_id()
        };
        let lanes = |tenant: &str, resends: std::ops::Range<u32>| -> BTreeSet<String> {
            (0..400).flat_map(|_| resends.clone().map(|n| sent(tenant, n)).collect::<Vec<_>>()).collect()
        };
        let (own, others) = (lanes("a", 0..1), lanes("b", 0..1));
        assert_eq!((own.len(), own.is_disjoint(&others)), (SPLIT_LANES as usize, true));
        let resent = lanes("a", 1..9);
        assert_eq!((resent.len(), resent.is_disjoint(&own)), (2 * SPLIT_LANES as usize, true));
        assert!(sent(&"t".repeat(128), 7).len() <= 128);
    }

    #[test]
    fn a_failed_message_is_replaced_once_by_a_copy_in_a_lane_apart_that_deduplication_lets_through() {
        let job = Job::waiting(JobId::generate(), "t".repeat(128), "import", Timestamp(0));
        for resend in 0..3 {
            let message = CreateMessage { resend, ..CreateMessage::new(&job) };
            assert_eq!(message.copy_of_failed(0), None, "the first delivery");
            let copy = message.copy_of_failed(1).unwrap();
            let ids = [&message, &copy].map(|sent| (sent.group_id(), sent.deduplication_id()));
            assert!(ids[0].0 != ids[1].0 && ids[0].1 != ids[1].1 && ids[1].0.len() <= 128, "{ids:?}");
            assert_eq!(copy.copy_of_failed(1), None, "a copy");
        }
        let before_lanes = CreateMessage { tenant: String::new(), ..CreateMessage::new(&job) };
        assert_eq!(before_lanes.copy_of_failed(1), None, "nobody waits behind it");
    }

    #[test]
    fn completions_of_a_tenant_have_lanes_as_its_splits_have() {
        for resend in 0..3 {
            let job = Job::waiting(JobId::generate(), "t".repeat(128), "import", Timestamp(0));
            let create = CreateMessage { resend, ..CreateMessage::new(&job) };
            let complete = CompleteMessage { resend, ..CompleteMessage::new(&job) };
            assert_eq!(complete.group_id(), create.group_id());
            assert_eq!(complete.copy_of_failed(0), None, "the first delivery");
            let copy = complete.copy_of_failed(1).unwrap();
            let ids = [&complete, &copy].map(|sent| (sent.group_id(), sent.deduplication_id()));
            assert!(ids[0].0 != ids[1].0 && ids[0].1 != ids[1].1 && ids[1].0.len() <= 128, "{ids:?}");
            assert_eq!(copy.copy_of_failed(1), None, "a copy");
        }
        let old = serde_json::json!({"jobId": JobId::generate(), "generation": 0});
        let message: CompleteMessage = serde_json::from_value(old.clone()).unwrap();
        assert_eq!(message.group_id(), old["jobId"].as_str().unwrap());
        assert_eq!(message.copy_of_failed(1), None, "nobody waits behind it");
    }

    #[test]
    fn a_message_from_before_lanes_is_understood() {
        let old = serde_json::json!({"jobId": JobId::generate(), "generation": 0, "position": 3});
        let message: CreateMessage = serde_json::from_value(old.clone()).unwrap();
        assert_eq!(message.group_id(), old["jobId"].as_str().unwrap());
    }

    #[test]
    fn a_chunk_travels_at_its_jobs_priority_which_is_reported_unless_it_is_normal() {
        let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false };
        for (priority, reported) in
            [(Priority::High, Some("high")), (Priority::Normal, None), (Priority::Low, Some("low"))]
        {
            let job = Job { priority, ..Job::waiting(JobId::generate(), "t", "import", Timestamp(0)) };
            let message = ChunkMessage::new(&job, (5, 6), &plan);
            assert_eq!((message.priority, message.group, message.chunk), (priority, 5, 6));
            let body = serde_json::to_value(&message).unwrap();
            assert_eq!(body.get("priority").and_then(serde_json::Value::as_str), reported);
            assert_eq!(serde_json::from_value::<ChunkMessage>(body).unwrap(), message);
        }
    }
}
