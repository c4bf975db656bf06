//! The state and the health of an endpoint.

use std::collections::BTreeMap;

use futures::future::join_all;
use longshore::events::EventDocument;
use longshore_domain::event::EventType;
use longshore_domain::ids::EndpointId;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{ConditionalWrite, Webhooks};
use longshore_domain::webhook::{CheckResult, DisabledReason, Endpoint, EndpointState, JobScope};

use crate::world::{TENANT, World, at, now};

#[tokio::test]
async fn a_dead_endpoint_is_called_once_for_each_pause() {
    let world = World::new(&[0], EndpointState::Active).await;
    for _ in 0..100 {
        world.event().await;
    }
    let messages = world.sent();
    let handle_all = async || {
        let mut ends = BTreeMap::new();
        for sent in &messages {
            *ends.entry(world.handle(&sent.message).await.unwrap()).or_insert(0_usize) += 1;
        }
        ends
    };
    let ends = |ends: &[(&str, usize)]| ends.iter().map(|(end, count)| ((*end).to_owned(), *count)).collect();
    assert_eq!(handle_all().await, ends(&[("Failed", 5), ("Postponed", 95)]));
    assert_eq!(world.calls(), 5, "then it is paused, and the others wait without an attempt");
    assert_eq!(world.deliveries().await.iter().filter(|delivery| delivery.attempts > 0).count(), 5);
    at(20);
    assert_eq!(handle_all().await, ends(&[("Failed", 1), ("Postponed", 99)]));
    assert_eq!(world.calls(), 6, "one of them probes");
    world.change(|endpoint| endpoint.health.paused_until = Some(now().plus_seconds(300))).await;
    at(100);
    let failed = handle_all().await;
    assert!(failed["Failed"] >= 99, "a long pause takes an attempt: {failed:?}");
    let codes = world.deliveries().await.iter().filter_map(|delivery| delivery.log.last().cloned()).collect::<Vec<_>>();
    let paused = codes.iter().filter(|attempt| format!("{:?}", attempt.result).contains("endpoint_paused")).count();
    assert_eq!((paused, world.calls()), (failed["Failed"], 6));
}

#[tokio::test]
async fn an_endpoint_that_is_gone_or_deleted_gets_nothing_more() {
    let world = World::new(&[410], EndpointState::Active).await;
    let store = &world.function.store;
    let other = Endpoint { endpoint_id: EndpointId::generate(), place: 1, ..world.endpoint.clone() };
    let notices = Endpoint { event_types: [EventType::EndpointDisabled].into(), jobs: JobScope::Named, ..other };
    assert_eq!(store.put_endpoint(&notices, None).await.unwrap(), ConditionalWrite::Stored);
    world.event().await;
    world.event().await;
    let [first, second] = world.sent().try_into().unwrap();
    assert_eq!(world.handle(&first.message).await.unwrap(), "Failed");
    let [notice] = world.sent().try_into().unwrap();
    let WebhookMessage::Deliver { delivery } = notice.message else { panic!("not a delivery") };
    assert_eq!(delivery.endpoint_id, notices.endpoint_id, "the other endpoint is told");
    let event = store.delivery(&delivery).await.unwrap().unwrap().event;
    let document = serde_json::to_value(EventDocument::new(&event)).unwrap();
    assert_eq!(
        (&document["type"], &document["data"]["webhookId"], &document["data"]["reason"]),
        (&"endpoint.disabled".into(), &world.endpoint.endpoint_id.to_string().into(), &"gone".into())
    );
    assert!(matches!(world.stored().await.state, EndpointState::Disabled { reason: DisabledReason::Gone, .. }));
    assert_eq!(world.handle(&second.message).await.unwrap(), "Abandoned");
    world.event().await;
    assert_eq!((world.sent().len(), world.deliveries().await.len()), (0, 2), "a disabled endpoint gets no delivery");
    let world = World::new(&[200], EndpointState::Active).await;
    world.event().await;
    assert_eq!(world.function.store.delete_endpoint(&world.endpoint).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Abandoned");
    assert_eq!(world.calls(), 0);
}

#[tokio::test]
async fn an_endpoint_that_fails_for_days_is_disabled() {
    let world = World::new(&[500], EndpointState::Active).await;
    for day in 0..=5 {
        at(day * 86_400);
        world.event().await;
        let message = world.only_message().await;
        world.handle(&message).await.unwrap();
        world.sent();
        let is_active = world.stored().await.state == EndpointState::Active;
        assert_eq!(is_active, day < 5, "day {day}");
    }
}

#[tokio::test]
async fn an_endpoint_that_has_passed_no_check_is_not_called() {
    let world = World::new(&[200], EndpointState::Active).await;
    world.event().await;
    world.change(|endpoint| endpoint.state = EndpointState::Pending).await;
    let message = world.only_message().await;
    assert_eq!(world.handle(&message).await.unwrap(), "Postponed");
    assert_eq!((world.calls(), world.deliveries().await[0].attempts), (0, 0), "it waits without an attempt");
    at(4 * 86_400);
    assert_eq!(world.handle(&message).await.unwrap(), "Abandoned", "no check was passed for days");
}

#[tokio::test]
async fn another_url_loses_no_event() {
    let world = World::new(&[200], EndpointState::Active).await;
    world.change(|endpoint| endpoint.state = EndpointState::Pending).await;
    let read = world.stored().await;
    let checking = read.clone().with_check("c1".into(), now());
    assert_eq!(world.function.store.put_endpoint(&checking, Some(&read)).await.unwrap(), ConditionalWrite::Stored);
    world.event().await;
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Postponed");
    at(5);
    let check = WebhookMessage::Check { tenant: TENANT, endpoint_id: checking.endpoint_id, challenge: "c1".to_owned() };
    assert_eq!(world.handle(&check).await.unwrap(), "Checked(Passed)");
    let replay = world.only_message().await;
    assert_eq!(world.handle(&replay).await.unwrap(), "1 deliveries are replayed");
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Accepted");
}

#[tokio::test]
async fn a_check_activates_an_endpoint_once() {
    let world = World::new(&[500, 200], EndpointState::Pending).await;
    let check = async |challenge: &str| {
        let read = world.stored().await;
        let checking = read.clone().with_check(challenge.into(), now());
        assert_eq!(world.function.store.put_endpoint(&checking, Some(&read)).await.unwrap(), ConditionalWrite::Stored);
        WebhookMessage::Check { tenant: TENANT, endpoint_id: checking.endpoint_id, challenge: challenge.into() }
    };
    let first = check("c1").await;
    assert_eq!(world.handle(&first).await.unwrap(), "Checked(Refused)");
    assert_eq!(world.handle(&first).await.unwrap(), "Stale", "the message came twice");
    let second = check("c2").await;
    assert_eq!(world.handle(&first).await.unwrap(), "Stale", "another check was requested");
    assert_eq!(world.handle(&second).await.unwrap(), format!("Checked({:?})", CheckResult::Passed));
    assert_eq!((world.stored().await.state, world.calls()), (EndpointState::Active, 2));
}

#[tokio::test]
async fn calls_that_fail_together_pause_an_endpoint_for_the_shortest_time() {
    let world = World::new(&[502], EndpointState::Active).await;
    for _ in 0..20 {
        world.event().await;
    }
    let messages = world.sent();
    // Every call waits for the others, so that all of them have read a healthy endpoint.
    join_all(messages.iter().map(|sent| world.handle(&sent.message))).await;
    assert_eq!(world.calls(), 20);
    let health = world.stored().await.health;
    assert_eq!((health.failures, health.paused_until), (5, Some(now().plus_seconds(5))));
}
