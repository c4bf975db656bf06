//! The message that processes a chunk.

use serde::{Deserialize, Serialize};

use super::defaults::{is_false, is_zero};
use crate::group::ChunkPlan;
use crate::ids::{ChunkId, JobId};
use crate::job::{ChunkQueue, Job, Priority};
use crate::remote::Bisection;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

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
