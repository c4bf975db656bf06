//! The endpoints of tenants, and the deliveries to them.

use std::future::Future;

use super::{CallCount, PortResult};
use crate::ids::EndpointId;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use crate::webhook::{Delivery, DeliveryId, DeliveryKey, Endpoint};

/// The outcome of a conditional write of an endpoint or a delivery.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum WebhookWrite {
    /// The record is stored.
    Stored,
    /// Another writer was first: the caller reads the record again.
    Changed,
}

/// The filter of a list of deliveries.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct DeliveriesQuery<'a> {
    /// Tenant of the endpoint.
    pub tenant: &'a TenantId,
    /// The endpoint.
    pub endpoint_id: EndpointId,
    /// Only deliveries with greater ids, oldest first; or only those with lower ids, newest first.
    pub from: DeliveriesFrom<'a>,
    /// Maximum number of deliveries.
    pub limit: usize,
}

/// The start and the order of a list of deliveries.
#[derive(Copy, Clone, PartialEq, Debug)]
pub enum DeliveriesFrom<'a> {
    /// After this id, oldest first.
    After(&'a DeliveryId),
    /// Before this id, or from the newest one, newest first.
    Before(Option<&'a DeliveryId>),
}

/// Endpoints and deliveries. Deliveries are created by [`Events::move_events`](super::Events::move_events).
pub trait Webhooks: Send + Sync {
    /// Returns all endpoints of a tenant, oldest first. Reads consistently.
    fn endpoints(&self, tenant: &TenantId) -> impl Future<Output = PortResult<Vec<Endpoint>>> + Send;
    /// Stores an endpoint: a new one if its place is free, another one if revision and health are those that were read.
    /// A repetition returns `Stored`, except one that changes the health alone: two calls can have the same result.
    fn put_endpoint(
        &self,
        endpoint: &Endpoint,
        read: Option<&Endpoint>,
    ) -> impl Future<Output = PortResult<WebhookWrite>> + Send;
    /// Deletes an endpoint if it has the revision that was read. Its deliveries expire.
    fn delete_endpoint(&self, read: &Endpoint) -> impl Future<Output = PortResult<WebhookWrite>> + Send;
    /// Counts an attempt of a delivery to one of the tenant's endpoints, if its window has room; see
    /// [`TenantLimits::webhook_attempts`](super::TenantLimits::webhook_attempts).
    fn count_attempt(&self, tenant: &TenantId, now: Timestamp) -> impl Future<Output = PortResult<CallCount>> + Send;
    /// Returns a delivery, or `None`. Reads consistently.
    fn delivery(&self, key: &DeliveryKey) -> impl Future<Output = PortResult<Option<Delivery>>> + Send;
    /// Lists deliveries of an endpoint.
    fn deliveries_of(&self, query: &DeliveriesQuery<'_>) -> impl Future<Output = PortResult<Vec<Delivery>>> + Send;
    /// Replaces a delivery if it has the revision that was read.
    fn put_delivery(
        &self,
        delivery: &Delivery,
        read_revision: u32,
    ) -> impl Future<Output = PortResult<WebhookWrite>> + Send;
    /// Lists deliveries whose attempt was due before this time, the longest overdue first. Some changes of the last
    /// seconds may be missing.
    fn due_deliveries(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<DeliveryKey>>> + Send;
}
