//! Webhooks: conditional changes, rotations, and the limits of replays.

use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::Webhooks;
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::webhook::{AttemptResult, CheckResult, DisabledReason, Endpoint, EndpointState};
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
    changed(&world, |read| read.changed(|endpoint| endpoint.state = EndpointState::Active)).await;
    let reply = put(&world, &path, "*", &json!({ "url": "https://example.com/other" })).await;
    assert_eq!((reply.status, &reply.body["status"]), (200, &json!("pending")), "{}", reply.body);
    assert!(reply.body["check"]["result"].is_null());
}
