//! Endpoints and deliveries.

use longshore_domain::ports::{ConditionalWrite, DeliveriesQuery, PortResult, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Delivery, DeliveryKey, Endpoint};

use super::{Stepwise, cloned, stepwise};
use crate::faults::{Fault, after, again, before};

impl<T: Webhooks> Webhooks for Stepwise<T> {
    stepwise! {
        async fn endpoints(&self, tenant: &TenantId) -> PortResult<Vec<Endpoint>>;
        async fn put_endpoint(&self, endpoint: &Endpoint, read: Option<&Endpoint>) -> PortResult<ConditionalWrite>;
        async fn disable_endpoint(&self, disabled: &Endpoint, read: &Endpoint, deliveries: &[Delivery], now: Timestamp) -> PortResult<ConditionalWrite>;
        async fn delete_endpoint(&self, read: &Endpoint) -> PortResult<ConditionalWrite>;
        async fn reserve_call(&self, tenant: &TenantId, now: Timestamp) -> PortResult<Timestamp>;
        async fn delivery(&self, key: &DeliveryKey) -> PortResult<Option<Delivery>>;
        async fn deliveries_of(&self, query: &DeliveriesQuery<'_>) -> PortResult<Vec<Delivery>>;
        async fn put_delivery(&self, delivery: &Delivery, read_revision: u32) -> PortResult<ConditionalWrite>;
        async fn due_deliveries(&self, before: Timestamp, limit: usize) -> PortResult<Vec<DeliveryKey>>;
    }
}
