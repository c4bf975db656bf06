//! Schedules: their requests, next times, changes, and calls that trigger them.

use longshore_domain::job::Status;
use longshore_domain::ports::{JobStore, Schedules};
use longshore_domain::tenant::DEFAULT_TENANT;
use serde_json::{Value, json};

use crate::reply::Reply;
use crate::world::{NOW, World};

const JSON: (&str, &str) = ("content-type", "application/json");

fn nightly() -> Value {
    json!({ "name": "nightly", "cron": "30 2 * * *", "timeZone": "Europe/Berlin", "job": { "jobType": "ping" } })
}

/// Returns a request with other members.
fn with(changes: &Value) -> Value {
    let mut request = nightly();
    for (name, value) in changes.as_object().unwrap() {
        request[name] = value.clone();
    }
    request
}

async fn created(world: &World, request: &Value) -> Reply {
    let reply = world.post_to("/api/schedules", request).await;
    assert_eq!(reply.status, 201, "{}", reply.body);
    reply
}

fn path_of(reply: &Reply) -> String {
    format!("/api/schedules/{}", reply.body["scheduleId"].as_str().unwrap())
}

async fn put(world: &World, path: &str, tag: &str, body: &Value) -> Reply {
    world.call_with("PUT", path, &[JSON, ("if-match", tag)], body.to_string()).await
}

#[tokio::test]
async fn a_schedule_shows_its_next_times_in_its_zone_and_in_utc() {
    let world = World::default();
    let reply = created(&world, &nightly()).await;
    assert_eq!(reply.header("location"), path_of(&reply));
    let times = reply.body["nextTimes"].as_array().unwrap();
    // The tests run on 14 November 2023.
    let first = json!({ "at": "2023-11-15T01:30:00Z", "local": "2023-11-15T02:30:00+01:00" });
    assert_eq!((times.len(), &times[0]), (5, &first));
    assert_eq!(reply.body["job"]["jobType"], "ping");
    assert_eq!(world.get(&path_of(&reply)).await.body, reply.body);
    assert_eq!(world.get("/api/schedules").await.body["schedules"], json!([reply.body]));
    let other = world.as_tenant("other");
    assert_eq!(other.get("/api/schedules").await.body["schedules"], json!([]));
    other.get(&path_of(&reply)).await.is_problem(404, "not-found");
}

#[tokio::test]
async fn a_time_in_a_clock_change_is_marked() {
    let world = World::default();
    let request = with(&json!({ "cron": "30 2 31 3 *" }));
    let reply = created(&world, &request).await;
    let first = json!({ "at": "2024-03-31T01:00:00Z", "local": "2024-03-31T03:00:00+02:00", "clockChange": "forward" });
    assert_eq!(reply.body["nextTimes"][0], first);
}

#[tokio::test]
async fn every_error_of_a_schedule_has_its_place() {
    let world = World::default();
    for (change, pointer, code) in [
        (json!({ "name": "" }), "/name", "invalid_schedule_name"),
        (json!({ "cron": "61 * * * *" }), "/cron", "invalid_cron"),
        (json!({ "cron": "* * * * *" }), "/cron", "invalid_cron"),
        (json!({ "cron": "0 0 30 2 *" }), "/cron", "invalid_cron"),
        (json!({ "timeZone": "Europe/Bonn" }), "/timeZone", "invalid_time_zone"),
        (json!({ "everyMinutes": 10 }), "/everyMinutes", "invalid_timing"),
        (json!({ "cron": null, "timeZone": null }), "/cron", "invalid_timing"),
        (json!({ "cron": null, "everyMinutes": 10 }), "/timeZone", "invalid_timing"),
        (json!({ "cron": null, "timeZone": null, "everyMinutes": 4 }), "/everyMinutes", "invalid_period"),
        (json!({ "cron": null, "timeZone": null, "at": "2023-01-01T00:00:00Z" }), "/at", "invalid_time"),
        (json!({ "overlap": "queue" }), "/overlap", "invalid_overlap"),
        (json!({ "paused": "yes" }), "/paused", "invalid_type"),
        (json!({ "job": [] }), "/job", "invalid_type"),
        (json!({ "job": { "jobType": "other" } }), "/job/jobType", "unknown_job_type"),
        (json!({ "job": { "jobType": "ping", "priority": "top" } }), "/job/priority", "invalid_priority"),
        (json!({ "job": { "jobType": "ping", "items": [1] } }), "/job/items", "not_schedulable"),
        (json!({ "job": { "jobType": "ping", "startAt": "2030-01-01T00:00:00Z" } }), "/job/startAt", "not_schedulable"),
        (json!({ "job": { "jobType": "import" } }), "/job/jobType", "not_schedulable"),
        (
            json!({ "job": { "jobType": "export", "source": { "dataset": "none" } } }),
            "/job/source/dataset",
            "unknown_dataset",
        ),
        (json!({ "extra": 1 }), "/extra", "unknown_field"),
    ] {
        let reply = world.post_to("/api/schedules", &with(&change)).await;
        assert_eq!(reply.status, 422, "{change}: {}", reply.body);
        assert_eq!(reply.field_errors(), [(pointer, code)], "{change}");
    }
    assert_eq!(world.get("/api/schedules").await.body["schedules"], json!([]));
}

#[tokio::test]
async fn a_change_keeps_what_is_due_unless_the_schedule_is_paused() {
    let world = World::default();
    let request = with(&json!({ "cron": null, "timeZone": null, "everyMinutes": 30 }));
    let reply = created(&world, &request).await;
    let (path, tag) = (path_of(&reply), reply.header("etag").to_owned());
    let read = world.store.schedules(&DEFAULT_TENANT).await.unwrap().remove(0);
    let due = read.clone().changed(|schedule| schedule.next_at = Some(NOW.plus_seconds(-60)));
    let _ = world.store.put_schedule(&due, Some(&read)).await.unwrap();
    let renamed =
        put(&world, &path, &tag, &with(&json!({ "cron": null, "timeZone": null, "everyMinutes": 30, "name": "b" })))
            .await;
    assert_eq!((renamed.status, &renamed.body["nextTimes"][0]["at"]), (200, &json!("2023-11-14T22:12:20Z")));
    put(&world, &path, &tag, &request).await.is_problem(412, "precondition-failed");
    let paused =
        put(&world, &path, "*", &with(&json!({ "cron": null, "timeZone": null, "everyMinutes": 30, "paused": true })))
            .await;
    assert_eq!((paused.status, &paused.body["nextTimes"]), (200, &json!([])));
    let again = put(&world, &path, "*", &request).await;
    assert_eq!(again.body["nextTimes"][0]["at"], "2023-11-14T22:43:20Z", "the periods count from the creation");
    let other = put(&world, &path, "*", &nightly()).await;
    assert_eq!(other.body["nextTimes"][0]["at"], "2023-11-15T01:30:00Z");
    assert_eq!(world.call("DELETE", &path, &[]).await.status, 204);
    world.get(&path).await.is_problem(404, "not-found");
}

#[tokio::test]
async fn another_timing_keeps_what_is_due() {
    let world = World::default();
    let path = path_of(&created(&world, &nightly()).await);
    let read = world.store.schedules(&DEFAULT_TENANT).await.unwrap().remove(0);
    let due = read.clone().changed(|schedule| schedule.next_at = Some(NOW.plus_seconds(-60)));
    let _ = world.store.put_schedule(&due, Some(&read)).await.unwrap();
    let changed = put(&world, &path, "*", &with(&json!({ "cron": null, "timeZone": null, "everyMinutes": 30 }))).await;
    assert_eq!((changed.status, &changed.body["nextTimes"][0]["at"]), (200, &json!("2023-11-14T22:12:20Z")));
    let stored = world.store.schedules(&DEFAULT_TENANT).await.unwrap().remove(0);
    assert_eq!(stored.due(), due.due());
}

#[tokio::test]
async fn a_trigger_makes_a_job_once_while_it_is_active() {
    let world = World::default();
    let reply = created(&world, &nightly()).await;
    let trigger = format!("{}/trigger", path_of(&reply));
    let job = world.call("POST", &trigger, &[]).await;
    assert_eq!((job.status, &job.body["jobType"]), (202, &json!("ping")), "{}", job.body);
    world.call("POST", &trigger, &[]).await.is_problem(409, "schedule-not-runnable");
    let id = world.unfinished().await[0];
    world.finish(id, Status::Completed, 0).await;
    assert_eq!(world.call("POST", &trigger, &[]).await.status, 202);
    let list = world.get(&format!("{}/occurrences?limit=1", path_of(&reply))).await;
    assert_eq!(list.body["occurrences"].as_array().unwrap().len(), 1);
    let next = format!("{}/occurrences?cursor={}", path_of(&reply), list.body["nextCursor"].as_str().unwrap());
    let rest = world.get(&next).await;
    assert_eq!(
        (&rest.body["occurrences"][0]["result"], &rest.body["occurrences"][0]["jobId"]),
        (&json!("started"), &json!(id))
    );
    assert_eq!(world.get(&path_of(&reply)).await.body["nextTimes"], reply.body["nextTimes"], "its times stay");
    assert!(world.store.job(id).await.unwrap().is_some());
}

#[tokio::test]
async fn a_tenant_has_a_hundred_schedules_at_most() {
    let world = World::default();
    for _ in 0..100 {
        created(&world, &nightly()).await;
    }
    world.post_to("/api/schedules", &nightly()).await.is_problem(409, "too-many-schedules");
}
