//! The callback of a job: a webhook of the tenant, in requests and responses, and in the meaning of an idempotency key.

use serde_json::{Value, json};

use crate::world::World;

const JSON: (&str, &str) = ("content-type", "application/json");
const KEY: (&str, &str) = ("idempotency-key", "7c6f0a2e");

/// Creates a webhook, and returns its id.
async fn webhook(world: &World) -> Value {
    let webhook = json!({ "url": "https://example.com/", "jobs": "named", "enabled": false });
    let reply = world.post_to("/api/webhooks", &webhook).await;
    assert_eq!((reply.status, &reply.body["jobs"]), (201, &json!("named")), "{}", reply.body);
    reply.body["webhookId"].clone()
}

#[tokio::test]
async fn the_callback_is_returned_by_every_response_with_the_job() {
    let world = World::default();
    let callback = webhook(&world).await;
    let created = world.create(&json!({ "jobType": "ping", "callback": callback })).await;
    assert_eq!(created.status, 202, "{}", created.body);
    let path = format!("/api/jobs/{}", created.body["jobId"].as_str().unwrap());
    for reply in [created, world.get(&path).await] {
        assert_eq!(reply.body["callback"], callback);
    }
    let without = world.create(&json!({ "jobType": "ping", "callback": null })).await;
    assert_eq!((without.status, without.body.get("callback")), (202, None));
}

#[tokio::test]
async fn a_callback_is_a_webhook_of_the_own_tenant() {
    let world = World::default();
    let foreign = webhook(&world.as_tenant("other")).await;
    for callback in [foreign, json!("019817a2-0b7c-4a3e-9d54-3a1f6c0e8b12"), json!("x"), json!(7), json!({})] {
        let reply = world.create(&json!({ "jobType": "ping", "callback": callback })).await;
        let error = &reply.body["errors"][0];
        assert_eq!(
            (reply.status, &error["pointer"], &error["code"]),
            (422, &json!("/callback"), &json!("unknown_webhook"))
        );
    }
    assert!(world.unfinished().await.is_empty(), "no job is created");
}

#[tokio::test]
async fn the_callback_is_a_part_of_the_meaning_of_an_idempotency_key() {
    let world = World::default();
    let [one, other] = [webhook(&world).await, webhook(&world).await];
    let body = |callback: &Value| json!({ "jobType": "ping", "callback": callback }).to_string();
    let first = world.post(body(&one), &[JSON, KEY]).await;
    assert_eq!(world.post(body(&one), &[JSON, KEY]).await.body["jobId"], first.body["jobId"]);
    assert_eq!(world.post(body(&other), &[JSON, KEY]).await.status, 422);
}

#[tokio::test]
async fn the_jobs_of_a_webhook_are_all_or_named() {
    let world = World::default();
    let url = "https://example.com/";
    let reply = world.post_to("/api/webhooks", &json!({ "url": url, "enabled": false })).await;
    assert_eq!((reply.status, &reply.body["jobs"]), (201, &json!("all")));
    let reply = world.post_to("/api/webhooks", &json!({ "url": url, "jobs": "some" })).await;
    assert_eq!((reply.status, &reply.body["errors"][0]["code"]), (422, &json!("invalid_job_scope")));
}

#[tokio::test]
async fn a_webhook_is_changed_from_all_jobs_to_named_ones() {
    let world = World::default();
    let url = "https://example.com/";
    let created = world.post_to("/api/webhooks", &json!({ "url": url, "enabled": false })).await;
    let path = format!("/api/webhooks/{}", created.body["webhookId"].as_str().unwrap());
    let body = json!({ "url": url, "jobs": "named", "enabled": false }).to_string();
    let changed = world.call_with("PUT", &path, &[JSON], body).await;
    assert_eq!((changed.status, &changed.body["jobs"]), (200, &json!("named")), "{}", changed.body);
}
