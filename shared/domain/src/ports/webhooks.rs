//! The endpoints of tenants, and the deliveries to them.

use std::future::Future;

use super::{ConditionalWrite, PortResult};
use crate::ids::EndpointId;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use crate::webhook::{Delivery, DeliveryId, DeliveryKey, Endpoint};

/// The rate limit of the calls of a tenant's endpoints: the generic cell rate algorithm
/// (<https://en.wikipedia.org/wiki/Generic_cell_rate_algorithm>), with room for the calls of ten seconds at once.
///
/// Each call reserves the next time, also one in the future. So a call waits once, however many wait before it, and no
/// call has to try again.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct CallTimes {
    /// Microseconds between two times.
    pub interval_us: i64,
}

impl CallTimes {
    const WINDOW_US: i64 = 10_000_000;

    /// Returns the times of a limit of calls in ten seconds; `None` if there is no limit.
    pub fn new(calls: u64) -> Option<Self> {
        let calls = i64::try_from(calls).ok().filter(|calls| *calls <= Self::WINDOW_US)?;
        Some(Self { interval_us: Self::WINDOW_US / calls.max(1) })
    }

    /// Returns the next free time after a reservation, in microseconds since 1970. `next_us` is the one before it.
    pub fn after_reservation(self, next_us: Option<i64>, now: Timestamp) -> i64 {
        next_us.unwrap_or(0).max(now.0.saturating_mul(1_000)).saturating_add(self.interval_us)
    }

    /// Returns the time from which the call may be made after whose reservation this time is free.
    pub fn time_of(self, next_us: i64, now: Timestamp) -> Timestamp {
        // The calls of ten seconds can be made at once.
        let time_us = next_us.saturating_sub(Self::WINDOW_US);
        Timestamp(time_us.saturating_add(999).div_euclid(1_000)).max(now)
    }
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

/// Endpoints and deliveries. Deliveries are created with their events, by
/// [`Events::move_events`](super::Events::move_events) and [`Webhooks::disable_endpoint`].
pub trait Webhooks: Send + Sync {
    /// Returns all endpoints of a tenant, oldest first. Reads consistently.
    fn endpoints(&self, tenant: &TenantId) -> impl Future<Output = PortResult<Vec<Endpoint>>> + Send;
    /// Stores an endpoint: a new one if its place is free, another one if revision and health are those that were read.
    /// A repetition returns `Stored`, except one that changes the health alone: two calls can have the same result.
    fn put_endpoint(
        &self,
        endpoint: &Endpoint,
        read: Option<&Endpoint>,
    ) -> impl Future<Output = PortResult<ConditionalWrite>> + Send;
    /// Stores an endpoint that was disabled, its [event](Endpoint::disabled_event), which enters the list with the time
    /// `now`, and `deliveries` of the event, if revision and health of the endpoint are those that were read. Fails if there is
    /// no answer within [`MOVE_S`](crate::event::MOVE_S) seconds; then all of it may be stored.
    fn disable_endpoint(
        &self,
        disabled: &Endpoint,
        read: &Endpoint,
        deliveries: &[Delivery],
        now: Timestamp,
    ) -> impl Future<Output = PortResult<ConditionalWrite>> + Send;
    /// Deletes an endpoint if it has the revision that was read. Its deliveries expire.
    fn delete_endpoint(&self, read: &Endpoint) -> impl Future<Output = PortResult<ConditionalWrite>> + Send;
    /// Reserves a call of one of the tenant's endpoints, and returns the time from which it may be made: now, or later if
    /// the tenant has reached [`TenantLimits::webhook_calls`](super::TenantLimits::webhook_calls).
    fn reserve_call(&self, tenant: &TenantId, now: Timestamp) -> impl Future<Output = PortResult<Timestamp>> + Send;
    /// Returns a delivery, or `None`. Reads consistently.
    fn delivery(&self, key: &DeliveryKey) -> impl Future<Output = PortResult<Option<Delivery>>> + Send;
    /// Lists deliveries of an endpoint. Reads consistently from an id on: a replay misses none.
    fn deliveries_of(&self, query: &DeliveriesQuery<'_>) -> impl Future<Output = PortResult<Vec<Delivery>>> + Send;
    /// Replaces a delivery if it has the revision that was read.
    fn put_delivery(
        &self,
        delivery: &Delivery,
        read_revision: u32,
    ) -> impl Future<Output = PortResult<ConditionalWrite>> + Send;
    /// Lists deliveries whose attempt was due before this time. Tenants take turns, each with its longest overdue first.
    /// Some changes of the last seconds may be missing.
    fn due_deliveries(
        &self,
        before: Timestamp,
        limit: usize,
    ) -> impl Future<Output = PortResult<Vec<DeliveryKey>>> + Send;
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(1_000_000);

    #[test]
    fn the_calls_of_ten_seconds_are_made_at_once_and_later_ones_one_after_the_other() {
        let times = CallTimes::new(4).unwrap();
        let (mut next, mut waits) = (None, Vec::new());
        for _ in 0..7 {
            let reserved = times.after_reservation(next, NOW);
            waits.push(times.time_of(reserved, NOW).millis_since(NOW));
            next = Some(reserved);
        }
        assert_eq!(waits, [0, 0, 0, 0, 2_500, 5_000, 7_500]);
        let later = NOW.plus_seconds(60);
        let reserved = times.after_reservation(next, later);
        assert_eq!(times.time_of(reserved, later), later, "unused times are not saved up");
        assert_eq!(reserved, later.0 * 1_000 + times.interval_us);
    }

    #[test]
    fn a_limit_that_is_practically_infinite_has_no_times() {
        assert_eq!(
            [0, 1, 500, 10_000_000].map(|calls| CallTimes::new(calls).unwrap().interval_us),
            [10_000_000, 10_000_000, 20_000, 1]
        );
        assert_eq!(CallTimes::new(u64::MAX), None);
    }
}
