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
    /// Its generation when this was sent.
    pub generation: u32,
    /// Groups that were committed when this was sent; part of the deduplication id only.
    pub position: u32,
    /// 0 from the API and from continuations; n for the sweeper's nth re-send, in a message group of its own.
    #[serde(default)]
    pub resend: u32,
}

impl CreateMessage {
    /// A deduplication id that lets continuations, retries and the sweeper's re-sends through.
    pub fn deduplication_id(&self) -> String {
        format!("{}:{}:{}:{}", self.job_id, self.generation, self.position, self.resend)
    }

    /// One message group per job; a re-send has its own, so that it does not wait behind a dead splitter's message.
    pub fn group_id(&self) -> String {
        match self.resend {
            0 => self.job_id.to_string(),
            n => format!("{}:{n}", self.job_id),
        }
    }
}

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
    pub fn of(job: &Job, (group, chunk): (u32, u32), plan: &ChunkPlan) -> Self {
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
}

impl CompleteMessage {
    /// Deduplicates the messages of the workers that saw the same end.
    pub fn deduplication_id(&self) -> String {
        format!("{}:{}:{}", self.job_id, self.generation, self.resend)
    }

    /// As [`CreateMessage::group_id`].
    pub fn group_id(&self) -> String {
        match self.resend {
            0 => self.job_id.to_string(),
            n => format!("{}:{n}", self.job_id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time_stamp::Timestamp;

    #[test]
    fn a_chunk_travels_at_its_jobs_priority_which_is_said_unless_it_is_normal() {
        let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false };
        for (priority, said) in [(Priority::High, Some("high")), (Priority::Normal, None), (Priority::Low, Some("low"))]
        {
            let job = Job { priority, ..Job::waiting(JobId::generate(), "t", "import", Timestamp(0)) };
            let message = ChunkMessage::of(&job, (5, 6), &plan);
            assert_eq!((message.priority, message.group, message.chunk), (priority, 5, 6));
            let body = serde_json::to_value(&message).unwrap();
            assert_eq!(body.get("priority").and_then(serde_json::Value::as_str), said);
            assert_eq!(serde_json::from_value::<ChunkMessage>(body).unwrap(), message);
        }
    }
}
