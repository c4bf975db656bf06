//! Deliveries that wait for the check of their endpoint, and their release.

use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{ConditionalWrite, Webhooks};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Delivery, DeliveryId, DeliveryState, EndpointState};

use crate::world::{START, TENANT, World, at, now};

/// Changes the URL of the endpoint, as the API does, and returns the message of its check.
async fn another_url(world: &World, challenge: &str) -> WebhookMessage {
    let read = world.change(|endpoint| endpoint.state = EndpointState::Pending).await;
    let checking = read.clone().with_check(challenge.into(), now());
    assert_eq!(world.function.store.put_endpoint(&checking, Some(&read)).await.unwrap(), ConditionalWrite::Stored);
    WebhookMessage::Check { tenant: TENANT, endpoint_id: checking.endpoint_id, challenge: challenge.to_owned() }
}

/// The release after a check that was answered now.
fn release(world: &World, answered_at: Timestamp) -> WebhookMessage {
    let (endpoint_id, after) = (world.endpoint.endpoint_id, DeliveryId::before(START));
    WebhookMessage::Replay { tenant: TENANT, endpoint_id, after, requested_at: answered_at, only_waiting: true }
}

/// Changes the stored delivery as another worker does.
async fn changed(world: &World, change: impl FnOnce(&mut Delivery)) {
    let [mut delivery] = world.deliveries().await.try_into().unwrap();
    let read_revision = delivery.revision;
    change(&mut delivery);
    let write = world.function.store.put_delivery(&delivery, read_revision).await.unwrap();
    assert_eq!(write, ConditionalWrite::Stored);
}

/// Makes an event while a check is being answered. `created_at` and `answered_at` are seconds by the clocks of the
/// worker that makes the event, and of the one that checks.
async fn an_event_during_a_check_is_sent(created_at: i64, answered_at: i64) {
    let world = World::new(&[200], EndpointState::Active).await;
    let check = another_url(&world, "c1").await;
    let meanwhile = async {
        while world.calls() == 0 {
            tokio::task::yield_now().await;
        }
        at(created_at);
        world.event().await;
        assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Postponed");
        at(answered_at);
    };
    let (checked, ()) = tokio::join!(world.handle(&check), meanwhile);
    assert_eq!(checked.unwrap(), "Checked(Passed)");
    at(answered_at + 5);
    let release = world.only_message().await;
    assert_eq!(world.handle(&release).await.unwrap(), "1 deliveries are replayed");
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Accepted");
    assert_eq!(world.handle(&release).await.unwrap(), "0 deliveries are replayed", "the message came twice");
    assert_eq!((world.sent().len(), world.calls()), (0, 2));
}

#[tokio::test]
async fn an_event_during_a_check_is_sent_once_it_has_passed() {
    an_event_during_a_check_is_sent(9, 14).await;
}

#[tokio::test]
async fn an_event_during_a_check_is_sent_also_if_its_worker_has_a_fast_clock() {
    an_event_during_a_check_is_sent(69, 14).await;
}

#[tokio::test]
async fn a_release_waits_until_the_endpoint_is_active() {
    let world = World::new(&[200], EndpointState::Active).await;
    another_url(&world, "c1").await;
    world.event().await;
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Postponed");
    let (release, waiting) = (release(&world, now()), world.deliveries().await);
    at(5);
    assert_eq!(world.handle(&release).await.unwrap(), "0 deliveries are replayed", "its worker is slow");
    let [again] = world.sent().try_into().unwrap();
    assert_eq!((&again.message, again.delay_s, world.deliveries().await), (&release, 5, waiting));
    at(60);
    assert_eq!(world.handle(&release).await.unwrap(), "0 deliveries are replayed", "its worker has died");
    assert_eq!(world.sent(), []);
    at(10);
    world.change(|endpoint| endpoint.state = EndpointState::Active).await;
    assert_eq!(world.handle(&release).await.unwrap(), "1 deliveries are replayed");
    assert_eq!(world.handle(&world.only_message().await).await.unwrap(), "Accepted");
}

/// The worker that put it off had read the endpoint before, and died after its write.
#[tokio::test]
async fn a_delivery_that_is_put_off_after_the_release_is_sent_when_its_message_comes_again() {
    let world = World::new(&[200], EndpointState::Active).await;
    another_url(&world, "c1").await;
    world.event().await;
    let message = world.only_message().await;
    changed(&world, |delivery| delivery.wait_for_check(now(), now().plus_seconds(21_600))).await;
    assert_eq!((world.handle(&message).await.unwrap().as_str(), world.calls()), ("NotDue", 0), "it waits");
    world.change(|endpoint| endpoint.state = EndpointState::Active).await;
    assert_eq!(world.handle(&message).await.unwrap(), "Accepted");
}

#[tokio::test]
async fn a_release_leaves_new_deliveries_whose_attempts_fail() {
    let world = World::new(&[500], EndpointState::Active).await;
    at(3);
    world.event().await;
    let message = world.only_message().await;
    assert_eq!(world.handle(&message).await.unwrap(), "Failed");
    at(9);
    assert_eq!(world.handle(&message).await.unwrap(), "Failed");
    let failing = world.deliveries().await;
    assert_eq!(world.handle(&release(&world, START)).await.unwrap(), "0 deliveries are replayed");
    assert_eq!((world.deliveries().await, failing[0].attempts), (failing, 2));
}

/// Its first attempts have failed long ago, and another URL is set after the replay.
#[tokio::test]
async fn an_old_delivery_that_is_replayed_waits_for_a_check() {
    let world = World::new(&[200], EndpointState::Active).await;
    world.event().await;
    let message = world.only_message().await;
    changed(&world, |delivery| delivery.abandon(now())).await;
    let days = |days: i64| at(days * 86_400);
    days(5);
    changed(&world, |delivery| delivery.replay(now())).await;
    let check = another_url(&world, "c1").await;
    assert_eq!(world.handle(&message).await.unwrap(), "Postponed");
    assert_eq!(world.handle(&check).await.unwrap(), "Checked(Passed)");
    days(6);
    assert_eq!(world.handle(&message).await.unwrap(), "Accepted");
    changed(&world, |delivery| delivery.replay(now())).await;
    another_url(&world, "c2").await;
    assert_eq!(world.handle(&message).await.unwrap(), "Postponed");
    days(10);
    assert_eq!(world.handle(&message).await.unwrap(), "Abandoned", "no check was passed for days");
    assert!(matches!(world.deliveries().await[0].state, DeliveryState::Failed { .. }));
}
