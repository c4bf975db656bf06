//! Endpoints and deliveries in memory.

use longshore::store::dynamo::items;
use longshore_domain::event::EventPosition;
use longshore_domain::ports::{CallTimes, ConditionalWrite, DeliveriesFrom, DeliveriesQuery, PortResult, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::turns::by_turns;
use longshore_domain::webhook::{Delivery, DeliveryKey, Endpoint};

use super::MemoryStore;
use super::records::Records;

impl Webhooks for MemoryStore {
    async fn endpoints(&self, tenant: &TenantId) -> PortResult<Vec<Endpoint>> {
        let records = self.records();
        let own = records.endpoints.values().filter(|endpoint| endpoint.tenant == *tenant);
        let mut endpoints: Vec<_> = own.cloned().collect();
        endpoints.sort_by_key(|endpoint| (endpoint.created_at, endpoint.place));
        Ok(endpoints)
    }

    async fn put_endpoint(&self, endpoint: &Endpoint, read: Option<&Endpoint>) -> PortResult<ConditionalWrite> {
        items::check_endpoint(endpoint)?;
        let mut records = self.records();
        let place = (endpoint.tenant.clone(), endpoint.place);
        let is_expected = is_as_read(&records, endpoint, read);
        let has_identity = read.is_none_or(|read| read.revision != endpoint.revision);
        let is_own = has_identity && records.endpoints.get(&place) == Some(endpoint);
        if is_expected {
            records.endpoints.insert(place, endpoint.clone());
        }
        Ok(written_if(is_expected || is_own))
    }

    async fn disable_endpoint(
        &self,
        disabled: &Endpoint,
        read: &Endpoint,
        deliveries: &[Delivery],
        now: Timestamp,
    ) -> PortResult<ConditionalWrite> {
        let event = disabled.disabled_event();
        event.iter().try_for_each(|event| items::check_disabled(disabled, event, deliveries, now))?;
        let mut records = self.records();
        if !is_as_read(&records, disabled, Some(read)) {
            return Ok(ConditionalWrite::Changed);
        }
        records.endpoints.insert((disabled.tenant.clone(), disabled.place), disabled.clone());
        let listed = records.events.entry(disabled.tenant.clone()).or_default();
        listed.extend(event.map(|event| (EventPosition::of(&event, now), event)));
        records.webhook_deliveries.extend(deliveries.iter().map(|delivery| (delivery.key(), delivery.clone())));
        Ok(ConditionalWrite::Stored)
    }

    async fn delete_endpoint(&self, read: &Endpoint) -> PortResult<ConditionalWrite> {
        let mut records = self.records();
        let place = (read.tenant.clone(), read.place);
        let stored = records.endpoints.get(&place);
        let is_expected =
            stored.is_some_and(|stored| stored.endpoint_id == read.endpoint_id && stored.revision == read.revision);
        if is_expected {
            records.endpoints.remove(&place);
        }
        Ok(written_if(is_expected))
    }

    async fn reserve_call(&self, tenant: &TenantId, now: Timestamp) -> PortResult<Timestamp> {
        let mut records = self.records();
        let Some(times) = CallTimes::new(records.limits.webhook_calls) else { return Ok(now) };
        let next_us = times.after_reservation(records.next_calls.get(tenant).copied(), now);
        records.next_calls.insert(tenant.clone(), next_us);
        Ok(times.time_of(next_us, now))
    }

    async fn delivery(&self, key: &DeliveryKey) -> PortResult<Option<Delivery>> {
        Ok(self.records().webhook_deliveries.get(key).cloned())
    }

    async fn deliveries_of(&self, query: &DeliveriesQuery<'_>) -> PortResult<Vec<Delivery>> {
        let records = self.records();
        let own = |key: &DeliveryKey| key.tenant == *query.tenant && key.endpoint_id == query.endpoint_id;
        let own = records.webhook_deliveries.iter().filter(|(key, _)| own(key));
        let found: Vec<_> = match query.from {
            DeliveriesFrom::After(id) => own.filter(|(key, _)| key.id > *id).take(query.limit).collect(),
            DeliveriesFrom::Before(id) => {
                own.rev().filter(|(key, _)| id.is_none_or(|id| key.id < *id)).take(query.limit).collect()
            }
        };
        Ok(found.into_iter().map(|(_, delivery)| delivery.clone()).collect())
    }

    async fn put_delivery(&self, delivery: &Delivery, read_revision: u32) -> PortResult<ConditionalWrite> {
        items::check_delivery(delivery)?;
        let mut records = self.records();
        let stored = records.webhook_deliveries.get_mut(&delivery.key());
        let stored = stored.filter(|stored| stored.revision == read_revision || **stored == *delivery);
        Ok(written_if(stored.map(|stored| *stored = delivery.clone()).is_some()))
    }

    async fn due_deliveries(&self, before: Timestamp, limit: usize) -> PortResult<Vec<DeliveryKey>> {
        let records = self.records();
        let due = records.webhook_deliveries.iter().filter_map(|(key, delivery)| Some((delivery.due()?, key.clone())));
        let due = by_turns(due.filter(|(at, _)| *at < before).collect(), limit);
        Ok(due.into_iter().map(|(_, key)| key).collect())
    }
}

fn is_as_read(records: &Records, endpoint: &Endpoint, read: Option<&Endpoint>) -> bool {
    match (records.endpoints.get(&(endpoint.tenant.clone(), endpoint.place)), read) {
        (None, None) => true,
        (Some(stored), Some(read)) => {
            let is_same = stored.endpoint_id == endpoint.endpoint_id;
            is_same && stored.revision == read.revision && stored.health == read.health
        }
        (None, Some(_)) | (Some(_), None) => false,
    }
}

fn written_if(is_written: bool) -> ConditionalWrite {
    if is_written { ConditionalWrite::Stored } else { ConditionalWrite::Changed }
}
