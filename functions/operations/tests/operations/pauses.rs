//! `/api/operations/pauses`: pauses of job types and tenants, and their effect on lists.

use longshore_domain::pause::{MAX_DAYS, MAX_PAUSES, PauseScope};
use longshore_domain::ports::Pauses;
use serde_json::{Value, json};

use crate::world::{NOW, World};

const PAUSES: &str = "/api/operations/pauses";

async fn pause(world: &World, body: Value) -> Value {
    let reply = world.call("POST", PAUSES, &body).await;
    assert_eq!(reply.status, 200, "{}", reply.body);
    reply.body
}

#[tokio::test]
async fn a_pause_is_in_force_once_for_each_scope_until_it_is_ended() {
    let world = World::default();
    let first = pause(&world, json!({ "type": "import", "reason": "repair" })).await;
    assert_eq!((&first["type"], &first["tenant"], &first["by"]), (&json!("import"), &Value::Null, &json!("olga")));
    assert_eq!(first["until"], json!(NOW.plus_days(1).to_rfc3339()));
    let until = NOW.plus_seconds(60).to_rfc3339();
    let again = pause(&world, json!({ "type": "import", "until": until, "reason": "again" })).await;
    assert_eq!((&first["isNew"], &again["isNew"]), (&json!(true), &json!(false)));
    assert_eq!((&again["pauseId"], &again["until"]), (&first["pauseId"], &first["until"]), "it stays as it is");
    pause(&world, json!({ "tenant": "acme", "until": until, "reason": "too much" })).await;
    assert_eq!(world.get(PAUSES).await.body["pauses"].as_array().unwrap().len(), 2);
    let to = format!("{PAUSES}/{}", first["pauseId"].as_str().unwrap());
    world.delete(&to).await.is_problem(422, "invalid-request");
    for _ in 0..2 {
        assert_eq!(world.delete(&format!("{to}?reason=repaired")).await.status, 204);
    }
    let left: Vec<_> = world.store.pauses().await.unwrap().into_iter().map(|pause| pause.scope).collect();
    assert!(matches!(&left[..], [PauseScope::Tenant(tenant)] if tenant.as_str() == "acme"), "{left:?}");
    let log = world.get("/api/operations/log").await.body;
    let mut actions: Vec<_> = log["entries"].as_array().unwrap().iter().map(|entry| &entry["action"]).collect();
    actions.sort_by_key(|action| action.to_string());
    assert_eq!(actions, [&json!("pause"), &json!("pause"), &json!("pause"), &json!("resume")]);
    let again = log["entries"].as_array().unwrap().iter().find(|entry| entry["reason"] == "again").unwrap();
    let (id, end) = (first["pauseId"].as_str().unwrap(), first["until"].as_str().unwrap());
    let expected = format!("nothing was done: olga has paused it until {end}, as {id}");
    assert_eq!(again["result"]["detail"].as_str(), Some(expected.as_str()));
    // The id in the entry of a call that has paused nothing is that of no pause.
    let unknown = again["scope"]["pauseId"].as_str().unwrap();
    world.delete(&format!("{PAUSES}/{unknown}?reason=r")).await.is_problem(404, "not-found");
}

#[tokio::test]
async fn a_pause_that_is_not_in_force_is_not_ended() {
    let world = World::default();
    let until = NOW.plus_seconds(60).to_rfc3339();
    let paused = pause(&world, json!({ "type": "import", "until": until, "reason": "r" })).await;
    let later = World { clock: || NOW.plus_seconds(61), ..world.clone() };
    for id in ["mistyped", "019f2c3e-7b1a-7c44-9d0e-2f6a1b3c4d5e", paused["pauseId"].as_str().unwrap()] {
        later.delete(&format!("{PAUSES}/{id}?reason=r")).await.is_problem(404, "not-found");
    }
    let log = world.get("/api/operations/log").await.body;
    assert_eq!(log["entries"].as_array().unwrap().len(), 1, "only the pause is logged");
}

#[tokio::test]
async fn a_pause_names_one_scope_a_reason_and_an_end_within_a_week() {
    let world = World::default();
    let too_late = NOW.plus_days(MAX_DAYS).plus_seconds(1).to_rfc3339();
    for body in [
        json!({ "reason": "r" }),
        json!({ "type": "import", "tenant": "acme", "reason": "r" }),
        json!({ "type": "import" }),
        json!({ "type": "import", "reason": " " }),
        json!({ "type": "import", "reason": "r", "until": NOW.to_rfc3339() }),
        json!({ "type": "import", "reason": "r", "until": too_late }),
        json!({ "tenant": "a#b", "reason": "r" }),
    ] {
        world.call("POST", PAUSES, &body).await.is_problem(422, "invalid-request");
    }
    assert_eq!(world.store.pauses().await.unwrap(), []);
}

#[tokio::test]
async fn a_deployment_has_a_hundred_pauses_at_most() {
    let world = World::default();
    let body = |number: usize| json!({ "type": format!("type-{number}"), "reason": "r" });
    let first = pause(&world, body(0)).await;
    for number in 1..MAX_PAUSES {
        pause(&world, body(number)).await;
    }
    let refused = world.call("POST", PAUSES, &body(MAX_PAUSES)).await;
    refused.is_problem(409, "too-many-pauses");
    assert!(refused.body["detail"].as_str().unwrap().contains("end one"), "{}", refused.body);
    let again = pause(&world, body(0)).await;
    assert_eq!((&again["pauseId"], &again["isNew"]), (&first["pauseId"], &json!(false)), "it is no further pause");
    let to = format!("{PAUSES}/{}?reason=repaired", first["pauseId"].as_str().unwrap());
    assert_eq!(world.delete(&to).await.status, 204);
    pause(&world, body(MAX_PAUSES)).await;
    assert_eq!(world.store.pauses().await.unwrap().len(), MAX_PAUSES);
}

#[tokio::test]
async fn a_paused_job_says_what_it_waits_for() {
    let world = World::default();
    world.job("acme").await;
    let paused = pause(&world, json!({ "tenant": "acme", "reason": "r" })).await;
    let list = world.get("/api/operations/jobs?tenant=acme").await.body;
    let waiting_for = &list["jobs"][0]["waitingFor"];
    assert_eq!((&waiting_for["reason"], &waiting_for["nextTry"]), (&json!("paused"), &paused["until"]));
}
