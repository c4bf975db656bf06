//! Overdue deliveries in a sweep.

use longshore_domain::event::to_move;
use longshore_domain::ids::EndpointId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Definition, Events, EventsMoved, JobStore, JobTransitions};
use longshore_domain::tenant::TenantId;
use longshore_domain::webhook::{Endpoint, EndpointState, Health, JobScope, SecretVersions, deliveries};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

use super::tests::NoDeadLetters;
use super::*;

const START: Timestamp = Timestamp(1_700_000_000_000);

/// Returns a store with these numbers of overdue deliveries of tenants.
async fn overdue(tenants: &[(&'static str, usize)]) -> MemoryStore {
    let store = MemoryStore::default();
    for (tenant, count) in tenants {
        let tenant = TenantId::from_static(tenant);
        let endpoint = Endpoint {
            endpoint_id: EndpointId::generate(),
            tenant: tenant.clone(),
            url: "https://example.org/hooks".into(),
            description: String::new(),
            event_types: [].into(),
            jobs: JobScope::All,
            state: EndpointState::Active,
            secret: SecretVersions::default(),
            health: Health::default(),
            created_at: START,
            revision: 0,
            place: 0,
            check: None,
            replayed_at: None,
        };
        for _ in 0..*count {
            let job = Job::waiting(JobId::generate(), tenant.clone(), "import", START);
            store.create_job(&job, &Definition::new(serde_json::json!({})), None).await.unwrap();
            store.begin(job.job_id, 0, START).await.unwrap();
            let job = store.job(job.job_id).await.unwrap().unwrap();
            let made = deliveries(&job, &to_move(&job), std::slice::from_ref(&endpoint), START);
            assert_eq!(store.move_events(&job, &made, START).await.unwrap(), EventsMoved::Moved);
        }
    }
    store
}

#[tokio::test]
async fn the_backlog_of_a_tenant_delays_no_other_and_a_full_queue_gets_no_more() {
    let (store, queues) = (overdue(&[("many", 2_500), ("one", 1)]).await, MemoryQueues::default());
    let ports = Ports { store, queues: queues.clone(), files: MemoryFiles::default() };
    let sweep = Sweep { ports, dead_letters: NoDeadLetters, stall_s: 60, clock: || START.plus_seconds(100) };
    let mut summary = SweepSummary::default();
    sweep.deliveries(&mut summary).await.unwrap();
    assert_eq!(summary.deliveries, 2_000);
    sweep.deliveries(&mut summary).await.unwrap();
    let sent = queues.take_webhooks();
    assert_eq!(sent.len(), 2_000, "the queue is full");
    assert_eq!(sent.iter().filter(|sent| sent.message.tenant().as_str() == "one").count(), 1);
    sweep.deliveries(&mut summary).await.unwrap();
    assert_eq!(queues.take_webhooks().len(), 2_000, "the queue is empty again");
}
