//! Schedules whose job is no longer valid: its type has changed or was deleted, or its dataset was.

use longshore_domain::dataset::Dataset;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{NewRecord, PingRecord, RecordStore};
use longshore_domain::tenant::DEFAULT_TENANT;
use longshore_domain::writer::{Rule, Writer};
use longshore_testing::MemoryRecords;
use serde_json::{Value, json};

use crate::job_types::{FUNCTION, operated};
use crate::reply::Reply;
use crate::world::World;

/// A world with the dataset `people` and a registered type that takes one.
async fn world() -> World {
    let world = operated();
    let into = Dataset { tenant: DEFAULT_TENANT.clone(), name: "people".into() };
    let writer = Writer { job: JobId::generate(), row: 1 };
    world.records.put(&into, Rule::Insert, vec![NewRecord { key: "k".into(), data: Default::default(), writer }]).await;
    register(&world, &json!({ "type": "object" })).await;
    world
}

/// Registers the type, or registers it again, with this schema of its options.
async fn register(world: &World, schema: &Value) {
    let content = json!({ "target": { "function": FUNCTION }, "input": "dataset", "optionsSchema": schema });
    let reply = world.register("invite", &content).await;
    assert_eq!(reply.status, 202, "{}", reply.body);
    assert_eq!(world.answer(&world.ping()).await, PingRecord::Recorded);
}

/// Returns the request of an hourly schedule.
fn hourly(job: &Value) -> Value {
    json!({ "name": "hourly", "everyMinutes": 60, "job": job })
}

fn invite() -> Value {
    json!({ "jobType": "invite", "source": { "dataset": "people" } })
}

fn export(format: &str) -> Value {
    json!({ "jobType": "export", "source": { "dataset": "people" }, "results": { "format": format } })
}

async fn created(world: &World, job: &Value) -> (String, Value) {
    let reply = world.post_to("/api/schedules", &hourly(job)).await;
    assert_eq!(reply.status, 201, "{}", reply.body);
    (format!("/api/schedules/{}", reply.body["scheduleId"].as_str().unwrap()), reply.body["job"].clone())
}

async fn put(world: &World, path: &str, paused: bool, job: &Value) -> Reply {
    let mut body = hourly(job);
    body["paused"] = json!(paused);
    world.call_with("PUT", path, &[("content-type", "application/json")], body.to_string()).await
}

#[tokio::test]
async fn a_trigger_is_refused_once_the_changed_type_refuses_the_options() {
    let world = world().await;
    let (path, _) = created(&world, &invite()).await;
    register(&world, &json!({ "type": "object", "required": ["team"] })).await;
    let trigger = format!("{path}/trigger");
    let reply = world.call("POST", &trigger, &[]).await;
    reply.is_problem(409, "schedule-not-runnable");
    let detail = reply.body["detail"].as_str().unwrap();
    assert!(detail.starts_with("/options/team: "), "{detail}");
    assert!(detail.ends_with("change the job of the schedule, or ask an operator to accept the former options"));
    assert_eq!(world.get(&format!("{path}/occurrences")).await.body["occurrences"], json!([]));
    assert_eq!((world.unfinished().await.len(), world.queues.take_creates().len()), (0, 0));
    // Both ways out.
    let mut changed = invite();
    changed["options"] = json!({ "team": "crm" });
    assert_eq!(put(&world, &path, false, &changed).await.status, 200);
    assert_eq!(world.call("POST", &trigger, &[]).await.status, 202);
    let (path, _) = created(&world, &changed).await;
    register(&world, &json!({ "type": "object", "required": ["list"] })).await;
    world.call("POST", &format!("{path}/trigger"), &[]).await.is_problem(409, "schedule-not-runnable");
    register(&world, &json!({ "type": "object", "required": ["team"] })).await;
    assert_eq!(world.call("POST", &format!("{path}/trigger"), &[]).await.status, 202);
}

#[tokio::test]
async fn a_schedule_whose_job_is_no_longer_valid_can_be_paused() {
    let deleted = world().await;
    let of_deleted = created(&deleted, &invite()).await;
    assert_eq!(deleted.call("DELETE", "/api/job-types/invite", &[]).await.status, 204);
    let changed = world().await;
    let of_changed = created(&changed, &invite()).await;
    register(&changed, &json!({ "type": "object", "required": ["team"] })).await;
    let empty = world().await;
    let (of_csv, of_default) = (created(&empty, &export("csv")).await, created(&empty, &export("jsonl")).await);
    let empty = World { records: MemoryRecords::default(), ..empty };
    for (world, (path, job), created_with, pointer) in [
        (deleted, of_deleted, invite(), "/job/jobType"),
        (changed, of_changed, invite(), "/job/options/team"),
        (empty.clone(), of_csv, export("csv"), "/job/source/dataset"),
        (empty, of_default, export("jsonl"), "/job/source/dataset"),
    ] {
        let refused = async |paused: bool, job: &Value| {
            let reply = put(&world, &path, paused, job).await;
            assert_eq!(reply.status, 422, "{pointer}: {}", reply.body);
            assert_eq!(reply.field_errors()[0].0, pointer);
        };
        refused(false, &job).await;
        // The job of the response, the job of the request, and the same while the schedule is paused.
        for same in [&job, &created_with, &job] {
            let reply = put(&world, &path, true, same).await;
            assert_eq!((reply.status, &reply.body["paused"]), (200, &json!(true)), "{pointer}: {}", reply.body);
            assert_eq!(reply.body["job"], job);
        }
        for (name, value) in
            [("priority", json!("low")), ("timeoutSeconds", json!(60)), ("metadata", json!({ "a": "b" }))]
        {
            let mut other = job.clone();
            other[name] = value;
            refused(true, &other).await;
        }
        refused(false, &job).await;
        assert_eq!(world.get(&path).await.body["paused"], true);
    }
}

#[tokio::test]
async fn a_new_schedule_is_validated_although_it_is_paused() {
    let world = world().await;
    let mut request = hourly(&json!({ "jobType": "gone", "source": { "dataset": "people" } }));
    request["paused"] = json!(true);
    let reply = world.post_to("/api/schedules", &request).await;
    assert_eq!(reply.field_errors(), [("/job/jobType", "unknown_job_type")]);
}
