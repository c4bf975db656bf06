//! Ports of the sweeper's own records: its position, and the age of the messages that workers receive.

use std::future::Future;

use super::{JobPosition, PortResult};
use crate::deliveries::Deliveries;
use crate::job::ChunkQueue;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// The order of a list by the age of its jobs.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum ByAge {
    /// The oldest first.
    OldestFirst,
    /// The newest first.
    NewestFirst,
}

/// The position of the sweeps among the unfinished jobs.
pub trait Sweeps: Send + Sync {
    /// Reads the last job that a sweep has looked at; `None` if the last sweep reached the end.
    fn sweep_position(&self) -> impl Future<Output = PortResult<Option<JobPosition>>> + Send;
    /// Stores the position. Idempotent, also for concurrent sweeps: the last write counts, and the next sweep continues
    /// from there.
    fn set_sweep_position(&self, position: Option<JobPosition>) -> impl Future<Output = PortResult<()>> + Send;
}

/// The receipt of one chunk message.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct DeliveryRecord<'a> {
    /// The tenant of its job.
    pub tenant: &'a TenantId,
    /// Its queue.
    pub queue: ChunkQueue,
    /// Sending time, by the queue's clock.
    pub sent_at: Timestamp,
    /// Receiving time, by the worker's clock.
    pub at: Timestamp,
}

/// Delivery records by tenant and queue.
pub trait DeliveryRecords: Send + Sync {
    /// Records a receipt, unless a message that was sent later is recorded for its interval. Idempotent, in any order.
    fn record_delivery(&self, delivery: &DeliveryRecord<'_>) -> impl Future<Output = PortResult<()>> + Send;
    /// Reads the records of one tenant and queue, consistently.
    fn deliveries(&self, tenant: &TenantId, queue: ChunkQueue) -> impl Future<Output = PortResult<Deliveries>> + Send;
}
