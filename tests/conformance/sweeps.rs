//! Records of sweeps and workers for the next sweep.

use longshore_domain::deliveries::{Deliveries, INTERVAL_S, INTERVALS};
use longshore_domain::ids::JobId;
use longshore_domain::job::Priority;
use longshore_domain::ports::{Delivered, DeliveryRecords, JobPosition, Store, Sweeps};
use longshore_domain::tenant::TenantId;
use longshore_domain::time_stamp::Timestamp;

use crate::fixtures::{at, unfinished};

on_both_stores! {
    a_sweep_continues_at_the_last_stored_position,
    the_position_is_no_unfinished_job,
    the_newest_message_of_each_interval_is_kept_for_each_tenant_and_priority,
    intervals_are_used_again,
}

async fn a_sweep_continues_at_the_last_stored_position(store: impl Sweeps) {
    let position = |millis| JobPosition { created_at: at(millis), job_id: JobId::generate() };
    assert_eq!(store.sweep_position().await.unwrap(), None);
    for position in [Some(position(5)), Some(position(3)), None, None, Some(position(9))] {
        store.set_sweep_position(position).await.unwrap();
        assert_eq!(store.sweep_position().await.unwrap(), position);
    }
}

async fn the_position_is_no_unfinished_job(store: impl Store + Sweeps) {
    store.set_sweep_position(Some(JobPosition { created_at: at(1), job_id: JobId::generate() })).await.unwrap();
    assert_eq!(unfinished(&store).await, []);
}

fn later(seconds: i64) -> Timestamp {
    at(0).plus_seconds(seconds)
}

async fn note(store: &impl DeliveryRecords, tenant: &TenantId, sent_s: i64, at_s: i64) {
    let delivered = Delivered { tenant, priority: Priority::Low, sent_at: later(sent_s), at: later(at_s) };
    store.record_delivery(&delivered).await.unwrap();
}

async fn the_newest_message_of_each_interval_is_kept_for_each_tenant_and_priority(store: impl DeliveryRecords) {
    let [a, b] = ["a", "b"].map(TenantId::from_static);
    for (sent_s, at_s) in [(50, 100), (40, 101), (50, 100), (20, 101 + INTERVAL_S)] {
        note(&store, &a, sent_s, at_s).await;
    }
    note(&store, &b, 99, 100).await;
    let mut expected = Deliveries::default();
    expected.note(later(50), later(100));
    expected.note(later(20), later(101 + INTERVAL_S));
    assert_eq!(store.deliveries(&a, Priority::Low).await.unwrap(), expected);
    assert_eq!(store.deliveries(&a, Priority::High).await.unwrap(), Deliveries::default());
    assert_eq!(store.deliveries(&b, Priority::Low).await.unwrap().newest_by(later(1_000)), Some(later(99)));
}

async fn intervals_are_used_again(store: impl DeliveryRecords) {
    let a = TenantId::from_static("a");
    let mut expected = Deliveries::default();
    for interval in 0..INTERVALS + 3 {
        note(&store, &a, 1_000 - interval, interval * INTERVAL_S).await;
        expected.note(later(1_000 - interval), later(interval * INTERVAL_S));
    }
    // A worker whose clock is far behind.
    note(&store, &a, 5_000, 0).await;
    assert_eq!(store.deliveries(&a, Priority::Low).await.unwrap(), expected);
}
