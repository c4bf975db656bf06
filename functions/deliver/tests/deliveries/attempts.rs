//! Attempts of deliveries, and replays.

use longshore::batch::{Delivery as Received, MessageHandler};
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{TenantLimits, Webhooks};
use longshore_domain::webhook::{DeliveryId, DeliveryState, EndpointState, Health, MAX_ATTEMPTS};

use crate::world::{START, TENANT, World, at, now};

#[tokio::test]
async fn an_event_is_sent_under_its_id_until_it_is_accepted() {
    let world = World::new(&[500, 0, 204], EndpointState::Active).await;
    world.event().await;
    let message = world.only_message().await;
    assert_eq!(world.handle(&message).await.unwrap(), "Failed");
    let [sent] = world.sent().try_into().unwrap();
    assert!(sent.message == message && (5..=7).contains(&sent.delay_s), "{sent:?}");
    assert_eq!(world.handle(&message).await.unwrap(), "NotDue", "the message came twice");
    at(6);
    assert_eq!(world.handle(&message).await.unwrap(), "Failed");
    assert!((300..=331).contains(&world.sent()[0].delay_s));
    at(400);
    assert_eq!(world.handle(&message).await.unwrap(), "Accepted");
    assert_eq!((world.sent().len(), world.handle(&message).await.unwrap().as_str()), (0, "NotDue"));
    let [delivery] = world.deliveries().await.try_into().unwrap();
    assert!(matches!(delivery.state, DeliveryState::Delivered { .. }) && delivery.log.len() == 3, "{delivery:?}");
    let calls = world.function.calls.calls.lock().unwrap();
    assert!(
        calls.iter().all(|(id, body)| *id == delivery.event.id && body["id"] == *id && body["type"] == "job.started")
    );
    assert_eq!(calls.len(), 3);
}

#[tokio::test]
async fn a_wait_that_is_longer_than_the_delay_of_a_queue_is_left_to_the_sweeper() {
    let world = World::new(&[500], EndpointState::Active).await;
    world.event().await;
    let message = world.only_message().await;
    for seconds in [0, 10, 400] {
        at(seconds);
        assert_eq!(world.handle(&message).await.unwrap(), "Failed");
    }
    assert_eq!(world.sent().len(), 2);
    let store = &world.function.store;
    assert_eq!(store.due_deliveries(now().plus_seconds(1_700), 9).await.unwrap(), []);
    assert_eq!(store.due_deliveries(now().plus_seconds(2_000), 9).await.unwrap().len(), 1);
}

#[tokio::test]
async fn a_delivery_fails_after_its_last_attempt_and_is_replayed() {
    let world = World::new(&[503], EndpointState::Active).await;
    world.event().await;
    let message = world.only_message().await;
    let mut attempts = 0;
    while let Some(due) = world.deliveries().await[0].due() {
        at(due.millis_since(START) / 1_000 + 1);
        assert_eq!(world.handle(&message).await.unwrap(), "Failed");
        attempts += 1;
    }
    assert_eq!((attempts, world.stored().await.state), (MAX_ATTEMPTS, EndpointState::Active), "three days");
    world.sent();
    *world.function.calls.statuses.lock().unwrap() = vec![200];
    let (tenant, endpoint_id, requested_at) = (TENANT, world.endpoint.endpoint_id, now());
    let replay = |after| WebhookMessage::Replay {
        tenant: tenant.clone(),
        endpoint_id,
        after,
        requested_at,
        only_waiting: false,
    };
    assert_eq!(world.handle(&replay(DeliveryId::before(now()))).await.unwrap(), "0 deliveries are replayed");
    let all = replay(DeliveryId::before(START));
    assert_eq!(world.handle(&all).await.unwrap(), "1 deliveries are replayed");
    assert_eq!(world.handle(&all).await.unwrap(), "0 deliveries are replayed", "the message came twice");
    // The endpoint is probed, because it has failed repeatedly.
    at(now().millis_since(START) / 1_000 + 400);
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Accepted");
    assert_eq!(world.stored().await.health, Health::default());
}

#[tokio::test]
async fn a_delivery_whose_attempt_is_under_way_is_replayed() {
    let world = World::new(&[503, 503, 200], EndpointState::Active).await;
    world.event().await;
    let message = world.only_message().await;
    assert_eq!(world.handle(&message).await.unwrap(), "Failed");
    world.sent();
    at(10);
    let replay = WebhookMessage::Replay {
        tenant: TENANT,
        endpoint_id: world.endpoint.endpoint_id,
        after: DeliveryId::before(START),
        requested_at: now(),
        only_waiting: false,
    };
    let after_its_call = async {
        while world.calls() < 2 {
            tokio::task::yield_now().await;
        }
        world.handle(&replay).await.unwrap()
    };
    let (attempt, replayed) = tokio::join!(world.handle(&message), after_its_call);
    assert_eq!((attempt.unwrap().as_str(), replayed.as_str()), ("Failed", "1 deliveries are replayed"));
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Accepted");
}

#[tokio::test]
async fn a_replay_of_many_deliveries_continues_page_by_page() {
    let world = World::new(&[410], EndpointState::Active).await;
    for second in 0..250 {
        at(second);
        world.event().await;
    }
    for sent in world.sent() {
        world.handle(&sent.message).await.unwrap();
    }
    assert!(world.deliveries().await.iter().all(|delivery| matches!(delivery.state, DeliveryState::Failed { .. })));
    let active = world.change(|endpoint| endpoint.state = EndpointState::Active).await;
    *world.function.calls.statuses.lock().unwrap() = vec![200];
    let (after, requested_at) = (DeliveryId::before(START), now());
    let first = WebhookMessage::Replay {
        tenant: TENANT,
        endpoint_id: active.endpoint_id,
        after,
        requested_at,
        only_waiting: false,
    };
    let (mut queue, mut replays) = (vec![first], 0);
    while let Some(message) = queue.pop() {
        replays += u32::from(matches!(message, WebhookMessage::Replay { .. }));
        world.handle(&message).await.unwrap();
        queue.extend(world.sent().into_iter().map(|sent| sent.message));
    }
    assert_eq!(replays, 3);
    assert!(world.deliveries().await.iter().all(|delivery| matches!(delivery.state, DeliveryState::Delivered { .. })));
}

#[tokio::test]
async fn attempts_above_the_rate_limit_of_a_tenant_are_postponed() {
    let mut world = World::new(&[200], EndpointState::Active).await;
    world.function.store =
        world.function.store.with_limits(TenantLimits { webhook_calls: 3, ..TenantLimits::default() });
    for _ in 0..5 {
        world.event().await;
    }
    let mut ends = Vec::new();
    let messages = world.sent();
    for sent in &messages {
        ends.push(world.handle(&sent.message).await.unwrap());
    }
    assert_eq!(ends, ["Accepted", "Accepted", "Accepted", "Postponed", "Postponed"]);
    let delays: Vec<_> = world.sent().iter().map(|sent| sent.delay_s).collect();
    assert_eq!(delays, [4, 7], "each waits for a time of its own, every 3.3 s");
    assert_eq!(world.handle(&messages[4].message).await.unwrap(), "NotDue", "a duplicate does not multiply");
    assert_eq!(world.sent().len(), 0);
    at(7);
    assert_eq!(world.handle(&messages[4].message).await.unwrap(), "Accepted", "in its time");
    at(70);
    assert_eq!(world.handle(&messages[3].message).await.unwrap(), "Accepted", "a minute late");
    assert!(world.deliveries().await.iter().all(|delivery| delivery.attempts == 1), "waiting is no attempt");
}

#[tokio::test]
async fn without_time_for_a_call_the_message_is_delivered_again() {
    let world = World::new(&[200], EndpointState::Active).await;
    world.event().await;
    let message = world.only_message().await;
    let delivery = Received { deadline: now().plus_seconds(14), failures: 0, sent_at: None };
    assert!(world.function.handle(message, delivery).await.is_err());
    assert_eq!((world.calls(), world.deliveries().await[0].revision), (0, 0));
}
