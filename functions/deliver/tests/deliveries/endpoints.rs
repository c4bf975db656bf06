//! The state and the health of an endpoint.

use futures::future::join_all;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{WebhookWrite, Webhooks};
use longshore_domain::webhook::{CheckResult, DisabledReason, EndpointState};

use crate::world::{TENANT, World, at, now};

#[tokio::test]
async fn a_dead_endpoint_is_called_once_for_each_pause() {
    let world = World::new(&[0], EndpointState::Active).await;
    for _ in 0..100 {
        world.event().await;
    }
    let messages = world.sent();
    for sent in &messages {
        assert_eq!(world.handle(&sent.message).await.unwrap(), "Failed");
    }
    assert_eq!(world.calls(), 5, "then it is paused");
    let codes =
        world.deliveries().await.iter().map(|delivery| format!("{:?}", delivery.log[0].result)).collect::<Vec<_>>();
    assert_eq!(codes.iter().filter(|result| result.contains("endpoint_paused")).count(), 95);
    at(20);
    for sent in &messages {
        world.handle(&sent.message).await.unwrap();
    }
    assert_eq!(world.calls(), 6, "one of them probes");
}

#[tokio::test]
async fn an_endpoint_that_is_gone_or_deleted_gets_nothing_more() {
    let world = World::new(&[410], EndpointState::Active).await;
    world.event().await;
    world.event().await;
    let [first, second] = world.sent().try_into().unwrap();
    assert_eq!(world.handle(&first.message).await.unwrap(), "Failed");
    assert!(matches!(world.stored().await.state, EndpointState::Disabled { reason: DisabledReason::Gone, .. }));
    assert_eq!(world.handle(&second.message).await.unwrap(), "Abandoned");
    world.event().await;
    assert_eq!((world.sent().len(), world.deliveries().await.len()), (0, 2), "a disabled endpoint gets no delivery");
    let world = World::new(&[200], EndpointState::Active).await;
    world.event().await;
    assert_eq!(world.function.store.delete_endpoint(&world.endpoint).await.unwrap(), WebhookWrite::Stored);
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
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Failed");
    assert_eq!(world.calls(), 0);
    let due = world.deliveries().await[0].due().unwrap();
    assert_eq!(due.millis_since(now()), 60_000);
}

#[tokio::test]
async fn a_check_activates_an_endpoint_once() {
    let world = World::new(&[500, 200], EndpointState::Pending).await;
    let check = async |challenge: &str| {
        let read = world.stored().await;
        let checking = read.clone().with_check(challenge.into(), now());
        assert_eq!(world.function.store.put_endpoint(&checking, Some(&read)).await.unwrap(), WebhookWrite::Stored);
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
