//! What is due in a sweep.

use longshore_domain::event::to_move;
use longshore_domain::ids::ScheduleId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Definition, Events, EventsMoved, JobStore, JobTransitions, Schedules};
use longshore_domain::schedule::{JobTemplate, Overlap, Schedule, Timing};
use longshore_domain::tenant::TenantId;
use longshore_domain::webhook::{Endpoint, EndpointState, deliveries};
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};

use super::*;

const START: Timestamp = Timestamp(1_700_000_000_000);
/// A time after the clock.
const LATER: Timestamp = Timestamp(1_700_000_200_000);

/// Returns a store with these numbers of overdue deliveries of tenants.
async fn overdue(tenants: &[(&'static str, usize)]) -> MemoryStore {
    let store = MemoryStore::default();
    for (tenant, count) in tenants {
        let tenant = TenantId::from_static(tenant);
        let endpoint = Endpoint {
            state: EndpointState::Active,
            ..Endpoint::new(tenant.clone(), "https://example.org/hooks", START)
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

fn clock() -> Timestamp {
    START.plus_seconds(100)
}

#[tokio::test]
async fn the_deliveries_of_a_tenant_delay_no_other_and_a_full_queue_gets_few_more() {
    let (store, queues) = (overdue(&[("many", 2_500), ("one", 1)]).await, MemoryQueues::default());
    let ports = Ports { store, queues: queues.clone(), files: MemoryFiles::default() };
    let sweep = DueSweep { ports: &ports, clock, retention_days: 14 };
    let mut summary = SweepSummary::default();
    let has_one = |sent: &[longshore_testing::SentWebhook]| {
        sent.iter().filter(|sent| sent.message.tenant().as_str() == "one").count()
    };
    sweep.send_deliveries(LATER, &mut summary).await.unwrap();
    assert_eq!(summary.deliveries, 2_000);
    sweep.send_deliveries(LATER, &mut summary).await.unwrap();
    let sent = queues.take_webhooks();
    assert_eq!((sent.len(), has_one(&sent[..2_000]), has_one(&sent[2_000..])), (2_200, 1, 1), "the queue is full");
    sweep.send_deliveries(LATER, &mut summary).await.unwrap();
    assert_eq!(queues.take_webhooks().len(), 2_000, "the queue is empty again");
}

#[tokio::test]
async fn messages_for_deliveries_are_sent_within_their_time() {
    let (store, queues) = (overdue(&[("a", 300)]).await, MemoryQueues::default());
    let ports = Ports { store, queues, files: MemoryFiles::default() };
    let (sweep, mut summary) = (DueSweep { ports: &ports, clock, retention_days: 14 }, SweepSummary::default());
    sweep.send_deliveries(clock(), &mut summary).await.unwrap();
    assert_eq!(summary.deliveries, 0);
    sweep.send_deliveries(LATER, &mut summary).await.unwrap();
    assert_eq!(summary.deliveries, 300);
}

fn schedule(tenant: &'static str, place: u8) -> Schedule {
    Schedule {
        schedule_id: ScheduleId::generate(),
        tenant: TenantId::from_static(tenant),
        place,
        name: "every five minutes".into(),
        timing: Timing::Every { minutes: 5, from: START },
        overlap: Overlap::Allow,
        paused: false,
        job: JobTemplate::new("ping", serde_json::json!({})),
        next_at: Some(START),
        last_at: None,
        last_job: None,
        created_at: START,
        revision: 0,
    }
}

#[tokio::test]
async fn due_schedules_make_a_job_each_and_a_failing_one_holds_up_none() {
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    for place in 0..3 {
        let _ = ports.store.put_schedule(&schedule("t", place), None).await.unwrap();
    }
    // Another version of this program has stored what this one cannot read.
    let timing = Timing::Cron { pattern: "every day".into(), time_zone: "UTC".into() };
    let unreadable = Schedule { timing, next_at: Some(START.plus_seconds(-9)), ..schedule("t", 3) };
    let _ = ports.store.put_schedule(&unreadable, None).await.unwrap();
    let sweep = DueSweep { ports: &ports, clock, retention_days: 14 };
    let mut summary = SweepSummary::default();
    sweep.fire_schedules(clock().plus_seconds(50), &mut summary).await;
    assert_eq!((summary.occurrences, summary.failures, ports.queues.take_creates().len()), (3, 1, 3));
    assert_eq!(ports.store.schedule(&unreadable.key()).await.unwrap(), Some(unreadable), "it is kept");
    sweep.fire_schedules(clock(), &mut summary).await;
    assert_eq!(summary.occurrences, 0, "there is no time");
}

#[tokio::test]
async fn missed_occurrences_have_a_reason_each_and_the_newest_makes_a_job() {
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    let timing = Timing::Every { minutes: 5, from: START.plus_seconds(-3_000) };
    let missed = Schedule { timing, next_at: Some(START.plus_seconds(-1_500)), ..schedule("t", 0) };
    let _ = ports.store.put_schedule(&missed, None).await.unwrap();
    let sweep = DueSweep { ports: &ports, clock, retention_days: 14 };
    let mut summary = SweepSummary::default();
    sweep.fire_schedules(clock().plus_seconds(50), &mut summary).await;
    assert_eq!((summary.occurrences, ports.queues.take_creates().len()), (6, 1));
}
