//! Records of sweeps and workers for the next sweep.

use longshore_domain::deliveries::{Deliveries, INTERVAL_S, INTERVALS};
use longshore_domain::ids::JobId;
use longshore_domain::job::Priority;
use longshore_domain::ports::{DeliveryRecord, DeliveryRecords, JobPosition, Store, Sweeps};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::fixtures::{at, unfinished};

on_both_stores! {
    a_sweep_continues_at_the_stored_position,
    the_sweep_position_is_not_listed_as_a_job,
    each_interval_keeps_the_newest_message_of_a_tenant_and_priority,
    interval_records_are_reused,
}

async fn a_sweep_continues_at_the_stored_position(store: impl Sweeps) {
    let position = |millis| JobPosition { created_at: at(millis), job_id: JobId::generate() };
    assert_eq!(store.sweep_position().await.unwrap(), None);
    for position in [Some(position(5)), Some(position(3)), None, None, Some(position(9))] {
        store.set_sweep_position(position).await.unwrap();
        assert_eq!(store.sweep_position().await.unwrap(), position);
    }
}

async fn the_sweep_position_is_not_listed_as_a_job(store: impl Store + Sweeps) {
    store.set_sweep_position(Some(JobPosition { created_at: at(1), job_id: JobId::generate() })).await.unwrap();
    assert_eq!(unfinished(&store).await, []);
}

fn later(seconds: i64) -> Timestamp {
    at(0).plus_seconds(seconds)
}

async fn record_delivery(store: &impl DeliveryRecords, tenant: &TenantId, sent_s: i64, at_s: i64) {
    let delivery = DeliveryRecord { tenant, priority: Priority::Low, sent_at: later(sent_s), at: later(at_s) };
    store.record_delivery(&delivery).await.unwrap();
}

async fn each_interval_keeps_the_newest_message_of_a_tenant_and_priority(store: impl DeliveryRecords) {
    let [a, b] = ["a", "b"].map(TenantId::from_static);
    for (sent_s, at_s) in [(50, 100), (40, 101), (50, 100), (20, 101 + INTERVAL_S)] {
        record_delivery(&store, &a, sent_s, at_s).await;
    }
    record_delivery(&store, &b, 99, 100).await;
    let mut expected = Deliveries::default();
    expected.record(later(50), later(100));
    expected.record(later(20), later(101 + INTERVAL_S));
    assert_eq!(store.deliveries(&a, Priority::Low).await.unwrap(), expected);
    assert_eq!(store.deliveries(&a, Priority::High).await.unwrap(), Deliveries::default());
    assert_eq!(store.deliveries(&b, Priority::Low).await.unwrap().newest_by(later(1_000)), Some(later(99)));
}

async fn interval_records_are_reused(store: impl DeliveryRecords) {
    let a = TenantId::from_static("a");
    let mut expected = Deliveries::default();
    for interval in 0..INTERVALS + 3 {
        record_delivery(&store, &a, 1_000 - interval, interval * INTERVAL_S).await;
        expected.record(later(1_000 - interval), later(interval * INTERVAL_S));
    }
    // A worker whose clock is far behind.
    record_delivery(&store, &a, 5_000, 0).await;
    assert_eq!(store.deliveries(&a, Priority::Low).await.unwrap(), expected);
}
