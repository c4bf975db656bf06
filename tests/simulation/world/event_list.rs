//! The list of events, as a client reads it: page by page from its cursor, while jobs run.

use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::event::{EventPosition, EventsQuery, LISTED_AFTER_S, ListedEvent};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::Events;
use longshore_domain::tenant::TenantId;

use super::{World, now};
use crate::clock::true_time;

/// Number of events on a page of a client.
const PAGE: usize = 3;

/// The clients' view of events, and the ends of generations that were seen in the store.
#[derive(Default)]
pub(super) struct EventReader {
    read: BTreeMap<&'static str, Vec<EventPosition>>,
    ends: BTreeMap<(JobId, u32), Status>,
}

impl World {
    /// Reads one page of a tenant's events, after the last event that was read.
    pub(super) fn read_events(&mut self) {
        let tenant = self.customer().tenant;
        let before = true_time().plus_seconds(-LISTED_AFTER_S);
        let read = self.event_reader.read.entry(tenant).or_default();
        let query = EventsQuery { tenant: &TenantId::from_static(tenant), after: read.last(), before, limit: PAGE };
        let page = now(self.store.events(&query)).unwrap();
        read.extend(page.into_iter().map(|listed| listed.position));
    }

    /// Records the end of a job's generation.
    pub(super) fn record_end(&mut self, job: &Job) {
        if job.status.is_final() {
            self.event_reader.ends.insert((job.job_id, job.generation), job.status);
        }
    }

    /// Checks that each generation that ended has one event about its end, that no event is listed twice, and that a
    /// client that reads from its cursor has read all events.
    pub(crate) fn check_events(&mut self) {
        self.pass(1000 * (1 + LISTED_AFTER_S) + self.environment.skew_ms);
        let tenants: BTreeSet<_> = self.customers.iter().map(|customer| customer.tenant).collect();
        let mut listed = Vec::new();
        for tenant in tenants {
            let query = EventsQuery {
                tenant: &TenantId::from_static(tenant),
                after: None,
                before: true_time().plus_seconds(-LISTED_AFTER_S),
                limit: usize::MAX,
            };
            let of_tenant = now(self.store.events(&query)).unwrap();
            self.check_reader(tenant, &of_tenant);
            listed.extend(of_tenant.into_iter().map(|listed| listed.event));
        }
        let ids: BTreeSet<_> = listed.iter().map(|event| &event.id).collect();
        assert_eq!(ids.len(), listed.len(), "an event is listed twice: {listed:?}");
        let mut ends = BTreeMap::new();
        for event in listed.iter().filter(|event| event.change.counts.is_some()) {
            let (generation, status) = (event.change.generation, event.change.event_type.status());
            let other = ends.insert((event.job_id, generation), status);
            assert_eq!(other, None, "generation {generation} has two ends: {listed:?}");
        }
        // The events of a job that expires can expire with it.
        let expired: BTreeSet<_> =
            self.customers.iter().filter(|customer| customer.expired.is_some()).map(|customer| customer.id).collect();
        let kept = self.event_reader.ends.iter().filter(|((job, _), _)| !expired.contains(job));
        for (generation, status) in kept {
            assert_eq!(ends.get(generation), Some(status), "{generation:?} has no event about its end: {listed:?}");
        }
    }

    fn check_reader(&mut self, tenant: &'static str, listed: &[ListedEvent]) {
        while self.event_reader.read.get(tenant).map_or(0, Vec::len) < listed.len() {
            let before = self.event_reader.read.get(tenant).map_or(0, Vec::len);
            self.at = self.customers.iter().position(|customer| customer.tenant == tenant).unwrap_or_default();
            self.read_events();
            let after = self.event_reader.read.get(tenant).map_or(0, Vec::len);
            assert!(after > before, "a client has not read every event of {tenant}");
        }
        self.at = 0;
        let positions = listed.iter().map(|listed| &listed.position);
        assert!(self.event_reader.read.get(tenant).into_iter().flatten().eq(positions), "a client has missed an event");
    }

    /// Runs sweeps until the events of every job are listed.
    pub(crate) fn run_until_all_events_are_listed(&mut self) {
        for _ in 0..super::drive::MAX_SWEEPS {
            self.run_until_idle();
            if self.all(|world| world.stored().is_none_or(|job| job.pending_events.is_empty())) {
                return;
            }
            self.pass(60_000);
            self.sweep();
        }
        panic!("an event is not listed");
    }
}
