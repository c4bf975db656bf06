//! Notes of how recently sent the messages are that workers receive.

use std::future::Future;

use super::PortResult;
use crate::deliveries::Deliveries;
use crate::job::Priority;
use crate::time_stamp::Timestamp;

/// The receipt of one chunk message.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Delivered<'a> {
    /// The tenant of its job.
    pub tenant: &'a str,
    /// The priority of its job, and so its queue.
    pub priority: Priority,
    /// When it was sent, by the queue's clock.
    pub sent_at: Timestamp,
    /// When it was received, by the worker's clock.
    pub at: Timestamp,
}

/// Notes of deliveries, by tenant and priority.
pub trait DeliveryRecords: Send + Sync {
    /// Notes a receipt, unless a message that was sent later is noted for its slot. Harmless twice, and in any order.
    fn record_delivery(&self, delivered: &Delivered<'_>) -> impl Future<Output = PortResult<()>> + Send;
    /// Reads the notes of one tenant and priority, consistently.
    fn deliveries(&self, tenant: &str, priority: Priority) -> impl Future<Output = PortResult<Deliveries>> + Send;
}
