//! Endpoints of a tenant, and deliveries: created with the events, listed, found when they are due, and replaced.

use longshore_domain::event::{EventsQuery, to_move};
use longshore_domain::ids::EndpointId;
use longshore_domain::job::Job;
use longshore_domain::ports::{ConditionalWrite, DeliveriesFrom, DeliveriesQuery, EventsMoved, Store, TenantLimits};
use longshore_domain::tenant::TenantId;
use longshore_domain::webhook::{
    Attempt, AttemptResult, Delivery, DeliveryId, DisabledReason, Endpoint, EndpointState, Health, deliveries,
    deliveries_of_endpoint_event,
};

use crate::fixtures::{accepted, at, job_after};
use crate::tenant_limits::Limited;

on_both_stores! {
    a_place_has_one_endpoint,
    an_endpoint_is_changed_as_it_was_read,
    the_health_is_replaced_as_it_was_read,
    an_endpoint_is_deleted_as_it_was_read,
    an_endpoint_is_disabled_with_its_event,
    deliveries_are_created_with_their_events,
    a_delivery_is_replaced_as_it_was_read,
    deliveries_are_listed_in_both_directions,
    due_deliveries_are_listed_by_time,
    the_tenants_of_due_deliveries_take_turns,
    calls_reserve_times_one_after_the_other,
}

fn endpoint(tenant: &'static str, place: u8) -> Endpoint {
    let created = Endpoint::new(TenantId::from_static(tenant), "https://example.org/hooks", at(i64::from(place)));
    Endpoint { state: EndpointState::Active, place, ..created }
}

async fn stored(store: &impl Store, place: u8) -> Endpoint {
    let endpoint = endpoint("default", place);
    assert_eq!(store.put_endpoint(&endpoint, None).await.unwrap(), ConditionalWrite::Stored);
    endpoint
}

async fn a_place_has_one_endpoint(store: impl Store) {
    let [second, first] = [stored(&store, 1).await, stored(&store, 0).await];
    assert_eq!(store.put_endpoint(&second, None).await.unwrap(), ConditionalWrite::Stored, "the response was lost");
    assert_eq!(store.put_endpoint(&endpoint("default", 1), None).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.put_endpoint(&endpoint("default2", 1), None).await.unwrap(), ConditionalWrite::Stored);
    let tenant = first.tenant.clone();
    assert_eq!(store.endpoints(&tenant).await.unwrap(), [first, second], "oldest first");
    assert_eq!(store.endpoints(&TenantId::from_static("defaul")).await.unwrap(), []);
}

async fn an_endpoint_is_changed_as_it_was_read(store: impl Store) {
    let read = stored(&store, 0).await;
    let [one, other] = ["one", "other"].map(|text| read.clone().changed(|endpoint| endpoint.description = text.into()));
    assert_eq!(store.put_endpoint(&one, Some(&read)).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.put_endpoint(&one, Some(&read)).await.unwrap(), ConditionalWrite::Stored, "the response was lost");
    assert_eq!(store.put_endpoint(&other, Some(&read)).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.endpoints(&read.tenant).await.unwrap(), std::slice::from_ref(&one));
    let replaced = Endpoint { endpoint_id: EndpointId::generate(), ..one.clone() };
    let write = store.put_endpoint(&replaced.clone().changed(|_| ()), Some(&replaced)).await.unwrap();
    assert_eq!(write, ConditionalWrite::Changed, "another endpoint of the place");
    let absent = endpoint("default", 5);
    assert_eq!(
        store.put_endpoint(&absent.clone().changed(|_| ()), Some(&absent)).await.unwrap(),
        ConditionalWrite::Changed
    );
}

async fn the_health_is_replaced_as_it_was_read(store: impl Store) {
    let read = stored(&store, 0).await;
    let failed = |at| Health::default().after(&AttemptResult::Answered { status: 500 }, at);
    let [failing, other] = [failed(at(1)), failed(at(2))].map(|health| Endpoint { health, ..read.clone() });
    assert_eq!(store.put_endpoint(&failing, Some(&read)).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(
        store.put_endpoint(&other, Some(&read)).await.unwrap(),
        ConditionalWrite::Changed,
        "one delivery may probe"
    );
    assert_eq!(
        store.put_endpoint(&failing, Some(&read)).await.unwrap(),
        ConditionalWrite::Changed,
        "two calls fail at once"
    );
    let changed = read.clone().changed(|endpoint| endpoint.description = "changed".into());
    let write = store.put_endpoint(&changed, Some(&read)).await.unwrap();
    assert_eq!(write, ConditionalWrite::Changed, "it would undo the health");
    assert_eq!(store.endpoints(&read.tenant).await.unwrap(), [failing]);
}

async fn an_endpoint_is_deleted_as_it_was_read(store: impl Store) {
    let read = stored(&store, 0).await;
    let changed = read.clone().changed(|endpoint| endpoint.description = "changed".into());
    assert_eq!(store.put_endpoint(&changed, Some(&read)).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.delete_endpoint(&read).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.delete_endpoint(&changed).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.delete_endpoint(&changed).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.endpoints(&read.tenant).await.unwrap(), []);
    let next = stored(&store, 0).await;
    assert_eq!(store.delete_endpoint(&read).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.endpoints(&read.tenant).await.unwrap(), [next], "another one has its place");
}

async fn an_endpoint_is_disabled_with_its_event(store: impl Store) {
    let [read, other] = [stored(&store, 0).await, stored(&store, 1).await];
    let disabled = read.disabled(DisabledReason::Gone, at(4)).unwrap();
    let event = disabled.disabled_event().unwrap();
    let made = deliveries_of_endpoint_event(&event, std::slice::from_ref(&other), at(5));
    let failing = Endpoint { health: Health { failures: 1, ..read.health }, ..read.clone() };
    let write = store.disable_endpoint(&disabled, &failing, &made, at(5)).await.unwrap();
    assert_eq!(write, ConditionalWrite::Changed, "another health was read");
    let list = async || {
        let query = EventsQuery { tenant: &read.tenant, after: None, before: at(1_000), limit: 100 };
        store.events(&query).await.unwrap().into_iter().map(|listed| listed.event).collect::<Vec<_>>()
    };
    assert_eq!((list().await, store.delivery(&made[0].key()).await.unwrap()), (vec![], None));
    assert_eq!(store.disable_endpoint(&disabled, &read, &made, at(5)).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.disable_endpoint(&disabled, &read, &made, at(6)).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.endpoints(&read.tenant).await.unwrap(), [disabled, other]);
    assert_eq!(list().await, [event]);
    assert_eq!(store.delivery(&made[0].key()).await.unwrap().as_ref(), made.first());
}

/// A job whose start is pending.
async fn started(store: &impl Store) -> Job {
    let id = accepted(store).await.job_id;
    job_after(store.begin(id, 0, at(1)).await.unwrap())
}

/// Starts a job, and moves its event at this time.
async fn delivered(store: &impl Store, endpoint: &Endpoint, time: i64) -> Delivery {
    let job = started(store).await;
    let made = deliveries(&job, &to_move(&job), std::slice::from_ref(endpoint), at(time));
    assert_eq!(store.move_events(&job, &made, at(time)).await.unwrap(), EventsMoved::Moved);
    made.into_iter().next().unwrap()
}

async fn deliveries_are_created_with_their_events(store: impl Store) {
    let endpoints = [stored(&store, 0).await, stored(&store, 1).await];
    let job = started(&store).await;
    let made = deliveries(&job, &to_move(&job), &endpoints, at(5));
    assert_eq!(made.len(), 2);
    assert_eq!(store.move_events(&job, &made, at(5)).await.unwrap(), EventsMoved::Moved);
    for delivery in &made {
        assert_eq!(store.delivery(&delivery.key()).await.unwrap().as_ref(), Some(delivery));
    }
    let late = deliveries(&job, &to_move(&job), &endpoints, at(6));
    assert_eq!(store.move_events(&job, &late, at(6)).await.unwrap(), EventsMoved::Changed);
    assert_eq!(store.delivery(&late[0].key()).await.unwrap(), None, "no delivery without its event");
}

async fn a_delivery_is_replaced_as_it_was_read(store: impl Store) {
    let endpoint = stored(&store, 0).await;
    let read = delivered(&store, &endpoint, 5).await;
    let attempt = |status, ms| Attempt { at: at(6), ms, result: AttemptResult::Answered { status } };
    let [mut failed, mut other] = [read.clone(), read.clone()];
    assert!(failed.record(0, attempt(500, 1), None, 0.0) && other.record(0, attempt(500, 2), None, 0.0));
    assert_eq!(store.put_delivery(&failed, 0).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.put_delivery(&failed, 0).await.unwrap(), ConditionalWrite::Stored, "the response was lost");
    assert_eq!(store.put_delivery(&other, 0).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.delivery(&read.key()).await.unwrap(), Some(failed));
    let absent = Delivery { created_at: at(77), ..read };
    assert_eq!(store.put_delivery(&absent, 0).await.unwrap(), ConditionalWrite::Changed, "it has expired");
}

async fn the_tenants_of_due_deliveries_take_turns(store: impl Store) {
    let endpoint = stored(&store, 0).await;
    let mut overdue = Vec::new();
    for time in 2..5 {
        overdue.push(delivered(&store, &endpoint, time).await.key());
    }
    let due = store.due_deliveries(at(20), 10).await.unwrap();
    assert_eq!(due, overdue);
    let other = Endpoint { tenant: TenantId::from_static("other"), ..endpoint };
    let late = delivered(&store, &other, 9).await.key();
    let [first, second, _] = overdue.try_into().unwrap();
    assert_eq!(store.due_deliveries(at(20), 3).await.unwrap(), [first, late, second]);
}

async fn calls_reserve_times_one_after_the_other(store: impl Limited) {
    let store = store.limited(TenantLimits { webhook_calls: 2, ..TenantLimits::default() });
    let [tenant, other] = ["t", "other"].map(TenantId::from_static);
    let reserve = async |tenant, millis| store.reserve_call(tenant, at(millis)).await.unwrap();
    let mut times = Vec::new();
    for _ in 0..4 {
        times.push(reserve(&tenant, 100).await);
    }
    assert_eq!(times, [at(100), at(100), at(5_100), at(10_100)]);
    assert_eq!(reserve(&other, 100).await, at(100), "tenants have separate limits");
    assert_eq!(reserve(&tenant, 11_000).await, at(15_100));
    assert_eq!(reserve(&tenant, 50_000).await, at(50_000), "after a pause, calls are made at once again");
}

async fn deliveries_are_listed_in_both_directions(store: impl Store) {
    let [endpoint, other] = [stored(&store, 0).await, stored(&store, 1).await];
    delivered(&store, &other, 4).await;
    let mut made = Vec::new();
    for time in [7, 3, 5] {
        made.push(delivered(&store, &endpoint, time).await);
    }
    made.sort_by_key(|delivery| delivery.created_at);
    let list = async |from, limit| {
        let (tenant, endpoint_id) = (&endpoint.tenant, endpoint.endpoint_id);
        store.deliveries_of(&DeliveriesQuery { tenant, endpoint_id, from, limit }).await.unwrap()
    };
    let newest: Vec<_> = made.iter().rev().cloned().collect();
    assert_eq!(list(DeliveriesFrom::Before(None), 10).await, newest);
    assert_eq!(list(DeliveriesFrom::Before(None), 2).await, newest[..2]);
    let (middle, start, first) = (newest[1].id(), DeliveryId::before(at(5)), made[0].id());
    assert_eq!(list(DeliveriesFrom::Before(Some(&middle)), 10).await, newest[2..]);
    assert_eq!(list(DeliveriesFrom::After(&start), 10).await, made[1..]);
    assert_eq!(list(DeliveriesFrom::After(&first), 1).await, made[1..2]);
}

async fn due_deliveries_are_listed_by_time(store: impl Store) {
    let endpoint = stored(&store, 0).await;
    let [late, early] = [delivered(&store, &endpoint, 9).await, delivered(&store, &endpoint, 4).await];
    assert_eq!(store.due_deliveries(at(9), 10).await.unwrap(), [early.key()]);
    assert_eq!(store.due_deliveries(at(10), 10).await.unwrap(), [early.key(), late.key()]);
    assert_eq!(store.due_deliveries(at(10), 1).await.unwrap(), [early.key()]);
    let mut accepted = early.clone();
    let attempt = Attempt { at: at(10), ms: 1, result: AttemptResult::Answered { status: 204 } };
    assert!(accepted.record(0, attempt, None, 0.0));
    assert_eq!(store.put_delivery(&accepted, 0).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.due_deliveries(at(10), 10).await.unwrap(), [late.key()]);
    let mut replayed = accepted.clone();
    replayed.replay(at(11));
    assert_eq!(store.put_delivery(&replayed, accepted.revision).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.due_deliveries(at(12), 10).await.unwrap(), [late.key(), early.key()]);
}
