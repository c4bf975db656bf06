//! The list of events, as a client reads it: page by page from its cursor, while jobs run.

use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::cost::{Cost, Month};
use longshore_domain::event::{EventPosition, EventType, EventsQuery, JobChange, LISTED_AFTER_S, ListedEvent};
use longshore_domain::ids::{EndpointId, JobId};
use longshore_domain::job::Job;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{ConditionalWrite, DeliveriesFrom, DeliveriesQuery, Events};
use longshore_domain::ports::{JobStore, TenantCounts, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Endpoint, EndpointState};

use super::state::Customer;
use super::{World, now};
use crate::clock::true_time;

/// Number of events on a page of a client.
const PAGE: usize = 3;

/// The clients' view of events, and the changes of the status that were seen in the store.
#[derive(Default)]
pub(super) struct EventReader {
    read: BTreeMap<&'static str, Vec<EventPosition>>,
    starts: BTreeMap<(JobId, u32), Timestamp>,
    ends: BTreeMap<(JobId, u32), End>,
}

/// The end of a generation: status, counts and time.
type End = (EventType, Option<Counts>, Option<Timestamp>);

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

    /// Records the start and the end of a job's generation.
    pub(super) fn record_status(&mut self, job: &Job) {
        let generation = (job.job_id, job.generation);
        if let Some(started_at) = job.times.started_at {
            let earliest = job.times.start_at.map_or(0, |start_at| start_at.0 - 2 * self.environment.skew_ms);
            assert!(started_at.0 >= earliest, "a job was started before its time");
            self.event_reader.starts.insert(generation, started_at);
        }
        if let Some(event_type) = EventType::of_status(job.status).filter(|_| job.status.is_final()) {
            let end = (event_type, job.completion.totals, job.times.finished_at);
            self.event_reader.ends.insert(generation, end);
        }
    }

    /// Checks that each start and each end of a generation has one event that says the same, that no other event is
    /// listed, and that a client that reads from its cursor has read all events.
    pub(crate) fn check_events(&mut self) {
        self.pass(1000 * (1 + LISTED_AFTER_S) + self.environment.skew_ms);
        let tenants: BTreeSet<_> = self.customers.iter().map(|customer| customer.tenant).collect();
        let (mut starts, mut ends, mut outages) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        for tenant in tenants {
            let query = EventsQuery {
                tenant: &TenantId::from_static(tenant),
                after: None,
                before: true_time().plus_seconds(-LISTED_AFTER_S),
                limit: usize::MAX,
            };
            let listed = now(self.store.events(&query)).unwrap();
            self.check_reader(tenant, &listed);
            self.check_deliveries(tenant, &listed);
            for JobChange { job_id, change, .. } in listed.iter().filter_map(|listed| listed.event.job()) {
                let generation = (*job_id, change.generation);
                let is_listed_twice = match change.event_type {
                    EventType::Started => starts.insert(generation, change.at).is_some(),
                    EventType::Waiting => !outages.insert((generation, change.at)),
                    end => ends.insert(generation, (end, change.counts, Some(change.at))).is_some(),
                };
                assert!(!is_listed_twice, "an event is listed twice: {change:?}");
            }
        }
        // The events of a job that expires can expire with it.
        let is_observed = |customer: &&Customer| customer.expired.is_none();
        let observed: BTreeSet<_> = self.customers.iter().filter(is_observed).map(|customer| customer.id).collect();
        let is_kept = |(job, _): &(JobId, u32)| observed.contains(job);
        starts.retain(|generation, _| is_kept(generation));
        ends.retain(|generation, _| is_kept(generation));
        let EventReader { starts: started, ends: ended, .. } = &mut self.event_reader;
        started.retain(|generation, _| is_kept(generation));
        ended.retain(|generation, _| is_kept(generation));
        assert_eq!(&starts, started, "the listed starts differ from those of the jobs");
        assert_eq!(&ends, ended, "the listed ends differ from those of the jobs");
        self.check_charges();
    }

    /// Checks that each end of a generation was charged once, with the cost that the job states, unless a job can have
    /// ended unobserved.
    fn check_charges(&self) {
        if self.customers.iter().any(|customer| customer.expired.is_some()) {
            return;
        }
        let ends = &self.event_reader.ends;
        let months: BTreeSet<_> = ends.values().filter_map(|(.., at)| at.map(Month::from_time)).collect();
        let of_months = months.iter().flat_map(|month| now(self.store.month_costs(month, None)).unwrap());
        let charged = of_months.fold((0, Cost::default()), |(runs, sum), month| (runs + month.runs, sum + month.cost));
        assert_eq!(charged.0, ends.len() as u64, "the charged runs differ from the ends of the jobs");
        let ids: BTreeSet<_> = ends.keys().map(|(job, _)| *job).collect();
        let jobs: Vec<_> = ids.iter().filter_map(|id| now(self.store.job(*id)).unwrap()).collect();
        // A job that was removed does not state its cost any more.
        if jobs.len() == ids.len() {
            let of_job = |job: &Job| job.retry.carried_over.cost + job.completion.cost.unwrap_or_default();
            let stated = jobs.iter().map(of_job).fold(Cost::default(), |sum, cost| sum + cost);
            assert_eq!(charged.1, stated, "the charged cost differs from that of the jobs");
        }
    }

    /// Creates an active endpoint of each tenant.
    pub(super) fn create_endpoints(&mut self) {
        let tenants: BTreeSet<_> = self.customers.iter().map(|customer| customer.tenant).collect();
        for (tenant, number) in tenants.into_iter().zip(1_u32..) {
            let id = format!("00000000-0000-4000-8000-{number:012}");
            let endpoint = Endpoint {
                endpoint_id: EndpointId::parse(&id).unwrap(),
                state: EndpointState::Active,
                ..Endpoint::new(TenantId::from_static(tenant), "https://example.org/hooks", true_time())
            };
            assert_eq!(now(self.store.put_endpoint(&endpoint, None)).unwrap(), ConditionalWrite::Stored);
        }
    }

    /// Checks that each listed event has one delivery to the tenant's endpoint, and that there is no other delivery.
    fn check_deliveries(&self, tenant: &'static str, listed: &[ListedEvent]) {
        let tenant = TenantId::from_static(tenant);
        let endpoints = now(self.store.endpoints(&tenant)).unwrap();
        let (endpoint_id, from) = (endpoints[0].endpoint_id, DeliveriesFrom::Before(None));
        let query = DeliveriesQuery { tenant: &tenant, endpoint_id, from, limit: usize::MAX };
        let mut deliveries: Vec<_> =
            now(self.store.deliveries_of(&query)).unwrap().into_iter().map(|delivery| delivery.event.id).collect();
        let mut events: Vec<_> = listed.iter().map(|listed| listed.event.id.clone()).collect();
        deliveries.sort_unstable();
        events.sort_unstable();
        assert_eq!(deliveries, events, "the deliveries differ from the events");
    }

    /// Runs the function of the first job's message for this number of steps, and then not for half a minute, in which that
    /// of the second one runs and the client reads the list.
    pub(crate) fn pause_the_first_function(&mut self, steps: usize) {
        self.collect();
        let [first, second] = self.visible()[..] else { panic!("not two messages") };
        self.deliver(first);
        self.steps(0, steps);
        self.pass(1_000);
        self.deliver(second);
        let paused = self.tasks.len() - 1;
        while self.tasks.len() > paused {
            self.step(paused);
        }
        self.pass(1_000 * (1 + LISTED_AFTER_S));
        self.each(Self::read_events);
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
