//! Port of the delivery records: the age of the messages that workers receive.

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
    /// The priority of its job, which selects the queue.
    pub priority: Priority,
    /// Sending time, by the queue's clock.
    pub sent_at: Timestamp,
    /// Receiving time, by the worker's clock.
    pub at: Timestamp,
}

/// Delivery records by tenant and priority.
pub trait DeliveryRecords: Send + Sync {
    /// Records a receipt, unless a message that was sent later is recorded for its interval. Idempotent, in any order.
    fn record_delivery(&self, delivered: &Delivered<'_>) -> impl Future<Output = PortResult<()>> + Send;
    /// Reads the records of one tenant and priority, consistently.
    fn deliveries(&self, tenant: &str, priority: Priority) -> impl Future<Output = PortResult<Deliveries>> + Send;
}
