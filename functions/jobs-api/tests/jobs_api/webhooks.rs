//! Webhooks: conditional changes, rotations, and the limits of checks and replays.

use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::Webhooks;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::webhook::{AttemptResult, Check, CheckResult, DisabledReason, Endpoint, EndpointState};
use serde_json::{Value, json};

use crate::reply::Reply;
use crate::world::{NOW, World};

const URL: &str = "https://example.com/";
const JSON: (&str, &str) = ("content-type", "application/json");

/// Creates a webhook, and returns its path.
async fn created(world: &World) -> String {
    let reply = world.post_to("/api/webhooks", &json!({ "url": URL })).await;
    assert_eq!(reply.status, 201, "{}", reply.body);
    format!("/api/webhooks/{}", reply.body["webhookId"].as_str().unwrap())
}

/// Changes the stored webhook as a function does.
async fn changed(world: &World, change: impl FnOnce(Endpoint) -> Endpoint) {
    let [read] = world.store.endpoints(&DEFAULT_TENANT).await.unwrap().try_into().unwrap();
    let changed = change(read.clone());
    let _ = world.store.put_endpoint(&changed, Some(&read)).await.unwrap();
}

async fn put(world: &World, path: &str, tag: &str, body: &Value) -> Reply {
    world.call_with("PUT", path, &[JSON, ("if-match", tag)], body.to_string()).await
}

/// Changes the webhook to this body, whatever it is, and returns its new status.
async fn changed_to(world: &World, path: &str, body: &Value) -> Value {
    let reply = put(world, path, "*", body).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.body["status"].clone()
}

async fn activated(world: &World) {
    changed(world, |read| read.changed(|endpoint| endpoint.state = EndpointState::Active)).await;
}

/// The check of the stored webhook.
async fn stored_check(world: &World) -> Check {
    let [read] = world.store.endpoints(&DEFAULT_TENANT).await.unwrap().try_into().unwrap();
    read.check.unwrap()
}

/// Takes the requests for checks that were sent: challenge and delay.
fn checks(world: &World) -> Vec<(String, i32)> {
    let sent = world.queues.take_webhooks().into_iter();
    let check = |message| if let WebhookMessage::Check { challenge, .. } = message { Some(challenge) } else { None };
    sent.filter_map(|sent| Some((check(sent.message)?, sent.delay_s))).collect()
}

#[tokio::test]
async fn a_check_or_a_failure_changes_no_tag_and_a_setting_does() {
    let world = World::default();
    let path = created(&world).await;
    let tag = world.get(&path).await.header("etag").to_owned();
    changed(&world, |read| {
        let challenge = read.check.as_ref().unwrap().challenge.clone();
        read.checked(&challenge, CheckResult::Passed).unwrap()
    })
    .await;
    changed(&world, |read| {
        let health = read.health.after(&AttemptResult::Answered { status: 500 }, NOW);
        Endpoint { health, ..read }
    })
    .await;
    let read = world.get(&path).await;
    assert_eq!((read.header("etag"), &read.body["status"]), (tag.as_str(), &json!("active")));
    let reply = put(&world, &path, &tag, &json!({ "url": URL, "description": "changed" })).await;
    assert_eq!((reply.status, &reply.body["status"]), (200, &json!("active")), "{}", reply.body);
    assert_ne!(reply.header("etag"), tag);
    put(&world, &path, &tag, &json!({ "url": URL })).await.is_problem(412, "precondition-failed");
    let tag = reply.header("etag").to_owned();
    changed(&world, |read| read.disabled(DisabledReason::Gone, NOW).unwrap()).await;
    put(&world, &path, &tag, &json!({ "url": URL })).await.is_problem(412, "precondition-failed");
}

#[tokio::test]
async fn a_repeated_rotation_returns_the_same_secret() {
    let world = World::default();
    let path = created(&world).await;
    let secret = format!("{path}/secret");
    let [first, second] = [world.call("POST", &secret, &[]).await, world.call("POST", &secret, &[]).await];
    assert_eq!((first.status, second.status), (200, 200), "{}", second.body);
    assert_eq!(first.body, second.body);
    let read = world.get(&path).await;
    assert_eq!(read.body["previousSecretUntil"], first.body["previousUntil"]);
    assert!(read.body.get("secret").is_none());
}

#[tokio::test]
async fn another_replay_of_all_deliveries_is_refused_for_a_minute() {
    let world = World::default();
    let path = created(&world).await;
    activated(&world).await;
    let (replay, since) = (format!("{path}/replay"), json!({ "since": "2023-11-14T00:00:00Z" }));
    let reply = world.post_to(&replay, &since).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    let reply = world.post_to(&replay, &since).await;
    reply.is_problem(429, "rate-limited");
    assert_eq!(reply.header("retry-after"), "60");
    let messages = world.queues.take_webhooks();
    let replays = messages.iter().filter(|sent| matches!(sent.message, WebhookMessage::Replay { .. })).count();
    assert_eq!(replays, 1);
}

#[tokio::test]
async fn another_url_is_checked_before_it_is_called() {
    let world = World::default();
    let path = created(&world).await;
    activated(&world).await;
    let reply = put(&world, &path, "*", &json!({ "url": "https://example.com/other" })).await;
    assert_eq!((reply.status, &reply.body["status"]), (200, &json!("pending")), "{}", reply.body);
    assert!(reply.body["check"]["result"].is_null());
}

#[tokio::test]
async fn deliveries_are_replayed_to_an_active_webhook_only() {
    let world = World::default();
    let path = created(&world).await;
    let (replay, since) = (format!("{path}/replay"), json!({ "since": "2023-11-14T00:00:00Z" }));
    let one = format!("{path}/deliveries/001700000000000-e/replay");
    world.post_to(&replay, &since).await.is_problem(409, "webhook-pending");
    world.call("POST", &one, &[]).await.is_problem(409, "webhook-pending");
    changed(&world, |read| {
        let at = NOW;
        read.changed(|endpoint| endpoint.state = EndpointState::Disabled { reason: DisabledReason::Failing, at })
    })
    .await;
    world.post_to(&replay, &since).await.is_problem(409, "webhook-disabled");
    world.call("POST", &one, &[]).await.is_problem(409, "webhook-disabled");
    activated(&world).await;
    world.call("POST", &one, &[]).await.is_problem(404, "not-found");
    assert_eq!(world.post_to(&replay, &since).await.status, 202, "a refused one does not count");
}

#[tokio::test]
async fn changes_of_a_pending_webhook_ask_for_no_more_checks_than_tests() {
    let world = World::default();
    let path = created(&world).await;
    let first = stored_check(&world).await;
    let change = |number: usize| json!({ "url": URL, "description": number.to_string() });
    for number in 0..20 {
        assert_eq!(changed_to(&world, &path, &change(number)).await, "pending");
        assert_eq!(world.call("POST", &format!("{path}/test"), &[]).await.status, 202);
    }
    assert_eq!(checks(&world), [(first.challenge.clone(), 0)], "that of the creation");
    // Its message is lost, and five seconds pass.
    let earlier = Check { requested_at: NOW.plus_seconds(-5), ..first.clone() };
    changed(&world, |read| read.changed(|endpoint| endpoint.check = Some(earlier))).await;
    assert_eq!(changed_to(&world, &path, &change(20)).await, "pending");
    let second = stored_check(&world).await;
    assert_ne!(second.challenge, first.challenge);
    assert_eq!(checks(&world), [(second.challenge.clone(), 0)]);
    changed(&world, |read| read.checked(&second.challenge, CheckResult::Refused).unwrap()).await;
    assert_eq!(changed_to(&world, &path, &change(21)).await, "pending");
    let third = stored_check(&world).await;
    assert_eq!((checks(&world), third.result), (vec![(third.challenge.clone(), 0)], None));
    // A change of an active webhook does not ask for the check of a test again.
    activated(&world).await;
    assert_eq!(changed_to(&world, &path, &change(22)).await, "active");
    assert_eq!((checks(&world), stored_check(&world).await), (vec![], third));
}

#[tokio::test]
async fn the_last_of_many_urls_is_checked_after_the_check_that_is_under_way() {
    let world = World::default();
    let path = created(&world).await;
    assert_eq!(checks(&world).len(), 1);
    for number in 0..20 {
        let url = format!("https://example.com/{number}");
        assert_eq!(changed_to(&world, &path, &json!({ "url": url })).await, "pending");
        assert_eq!(world.call("POST", &format!("{path}/test"), &[]).await.status, 202);
    }
    let (asked, last) = (checks(&world), stored_check(&world).await);
    assert!(asked.len() == 20 && asked.iter().all(|(_, delay_s)| *delay_s == 5), "{asked:?}");
    assert_eq!(asked.last().map(|(challenge, _)| challenge), Some(&last.challenge), "the others are not made any more");
    assert_eq!((last.begins_at(), last.result), (NOW.plus_seconds(5), None));
}

#[tokio::test]
async fn another_url_of_a_disabled_webhook_is_checked_once_it_is_enabled() {
    let world = World::default();
    let path = created(&world).await;
    let first = stored_check(&world).await;
    let other = |enabled: bool| json!({ "url": "https://example.com/other", "enabled": enabled });
    assert_eq!(changed_to(&world, &path, &other(false)).await, "disabled");
    assert_eq!(checks(&world), [(first.challenge.clone(), 0)], "that of the creation");
    assert_eq!(changed_to(&world, &path, &other(true)).await, "pending");
    let second = stored_check(&world).await;
    assert_ne!(second.challenge, first.challenge, "the first one calls the first URL");
    assert_eq!(checks(&world), [(second.challenge, 5)]);
}
