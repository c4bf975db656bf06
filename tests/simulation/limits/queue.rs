//! The fair queue of chunk messages: those of a tenant with more than a tenth of the messages in flight come last.

use std::collections::BTreeMap;

use longshore_domain::message::ChunkMessage;
use longshore_domain::timestamp::Timestamp;

use crate::clock::true_time;

/// A message, and the number of its earlier deliveries.
#[derive(Clone, Debug)]
pub(super) struct Queued {
    pub(super) message: ChunkMessage,
    pub(super) failures: u32,
    pub(super) sent_at: Timestamp,
}

/// Messages by tenant, in the order in which they become visible.
#[derive(Default)]
pub(super) struct FairQueue {
    tenants: BTreeMap<String, BTreeMap<(Timestamp, u64), Queued>>,
    in_flight: BTreeMap<String, usize>,
    sent: u64,
}

impl FairQueue {
    pub(super) fn send(&mut self, message: ChunkMessage, visible_at: Timestamp) {
        self.put(Queued { message, failures: 0, sent_at: true_time() }, visible_at);
    }

    /// Returns a message whose worker was killed.
    pub(super) fn put_back(&mut self, queued: Queued, visible_at: Timestamp) {
        self.end(&queued);
        self.put(Queued { failures: queued.failures + 1, ..queued }, visible_at);
    }

    fn put(&mut self, queued: Queued, visible_at: Timestamp) {
        self.sent += 1;
        let tenant = queued.message.tenant.to_string();
        self.tenants.entry(tenant).or_default().insert((visible_at, self.sent), queued);
    }

    /// Takes the next visible message.
    pub(super) fn receive(&mut self) -> Option<Queued> {
        let total: usize = self.in_flight.values().sum();
        let is_noisy = |tenant: &String| self.in_flight.get(tenant).is_some_and(|count| count * 10 > total);
        let heads = self.tenants.iter().filter_map(|(tenant, queued)| Some((tenant, *queued.first_key_value()?.0)));
        let visible = heads.filter(|(_, (visible_at, _))| *visible_at <= true_time());
        let (tenant, key) = visible.min_by_key(|(tenant, key)| (is_noisy(tenant), *key))?;
        let tenant = tenant.clone();
        let queued = self.tenants.get_mut(&tenant)?.remove(&key);
        *self.in_flight.entry(tenant).or_default() += 1;
        queued
    }

    /// Deletes a message that was received.
    pub(super) fn end(&mut self, queued: &Queued) {
        self.in_flight.entry(queued.message.tenant.to_string()).and_modify(|count| *count -= 1);
    }

    /// Returns the time of the next message.
    pub(super) fn next_visible(&self) -> Option<Timestamp> {
        self.tenants.values().filter_map(|queued| Some(queued.first_key_value()?.0.0)).min()
    }
}
