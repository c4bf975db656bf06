//! The operators' log: an entry for each action, and `GET /api/operations/log`.

use longshore_domain::job::Status;
use longshore_domain::operator_log::{ActionScope, LogEntry, OperatorAction};
use longshore_domain::ports::OperatorLog;
use serde_json::{Value, json};

use crate::world::{NOW, World, path};

async fn log(world: &World) -> Vec<Value> {
    world.get("/api/operations/log").await.body["entries"].as_array().unwrap().clone()
}

#[tokio::test]
async fn each_action_is_logged_with_its_operator_and_result() {
    let world = World::default();
    let job = world.job("acme").await;
    let [replayed, discarded] = [world.chunk(&job, 1).await, world.chunk(&job, 2).await];
    world.give_up(&job, &[1, 2]).await;
    world.post(&format!("{}/replay", path(&replayed))).await.is_problem(409, "not-ended");
    world.end(&job, Status::Completed, 20).await;
    assert_eq!(world.post(&format!("{}/replay", path(&replayed))).await.status, 202);
    assert_eq!(world.delete(&path(&discarded)).await.status, 204);
    let mut entries = log(&world).await;
    entries.sort_by_key(|entry| entry["result"]["status"].as_u64());
    let found: Vec<_> = entries.iter().map(|entry| (&entry["action"], &entry["result"]["detail"])).collect();
    assert_eq!(
        found,
        [
            (&json!("replayDeadLetter"), &json!("the job was reopened; 1 dead letters replayed, 0 left")),
            (&json!("discardDeadLetter"), &json!("the dead letter was discarded")),
            (&json!("replayDeadLetter"), &json!("refused: not-ended")),
        ]
    );
    for entry in &entries {
        assert_eq!((&entry["operator"], &entry["operatorName"]), (&json!("olga"), &json!("olga@example.com")));
        assert_eq!(entry["scope"]["jobIds"], json!([job.job_id]));
    }
    assert_eq!(entries[0]["result"]["started"], json!([job.job_id]));
}

#[tokio::test]
async fn the_read_of_rows_is_logged_and_a_read_without_them_is_not() {
    let world = World::default();
    let job = world.job("acme").await;
    let dead_letter = world.chunk(&job, 1).await;
    world.call_as("[auditors]", ("GET", &path(&dead_letter)), &Value::Null).await;
    world.get("/api/dead-letters").await;
    assert_eq!(log(&world).await, Vec::<Value>::new());
    assert_eq!(world.get(&path(&dead_letter)).await.status, 200);
    let entries = log(&world).await;
    let [entry] = &entries[..] else { panic!("{entries:?}") };
    assert_eq!(
        (&entry["action"], &entry["operator"], &entry["result"]["detail"]),
        (&json!("readDeadLetter"), &json!("olga"), &json!("the dead letter was read, with its body"))
    );
    assert_eq!((&entry["scope"]["letterId"], &entry["reason"]), (&json!(dead_letter.id), &Value::Null));
}

#[tokio::test]
async fn an_action_whose_end_is_unknown_has_no_result_and_pages_contain_each_entry_once() {
    let world = World::default();
    for second in 0..5 {
        let at = NOW.plus_seconds(second);
        let entry = LogEntry {
            id: LogEntry::generate_id(at),
            at,
            operator: "olga".into(),
            operator_name: None,
            action: OperatorAction::RetryFailures,
            scope: ActionScope::default(),
            reason: Some(second.to_string()),
        };
        world.log.append(&entry).await.unwrap();
    }
    let (mut to, mut reasons) = ("/api/operations/log?limit=2".to_owned(), Vec::new());
    loop {
        let reply = world.get(&to).await;
        for entry in reply.body["entries"].as_array().unwrap() {
            assert_eq!(entry["result"], Value::Null);
            reasons.push(entry["reason"].as_str().unwrap().to_owned());
        }
        match reply.next_path() {
            Some(next) => to = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(reasons, ["4", "3", "2", "1", "0"]);
    world.get("/api/operations/log?limit=51&cursor=%3F").await.is_problem(422, "invalid-request");
}

#[tokio::test]
async fn the_reason_of_a_replay_or_a_discard_is_in_the_log_and_a_blank_one_is_refused() {
    let world = World::default();
    let job = world.job("acme").await;
    let [first, second, third] = [world.chunk(&job, 0).await, world.chunk(&job, 1).await, world.chunk(&job, 2).await];
    world.delete(&format!("{}?reason=%20", path(&first))).await.is_problem(422, "invalid-request");
    assert_eq!(log(&world).await, Vec::<Value>::new());
    world.delete(&format!("{}?reason=a%E2%80%AEb", path(&first))).await.is_problem(422, "invalid-request");
    assert_eq!(world.delete(&format!("{}?reason=a+test", path(&first))).await.status, 204);
    world.post(&format!("{}/replay?reason=fixed", path(&second))).await.is_problem(409, "not-ended");
    // The longest reason: 500 characters of 12 bytes each.
    let longest = "%F0%9F%98%80".repeat(500);
    world.post(&format!("{}/replay?reason={longest}", path(&second))).await.is_problem(409, "not-ended");
    let body = json!({ "jobId": job.job_id, "reason": "all of them" });
    world.call("POST", "/api/dead-letters/replay", &body).await.is_problem(409, "not-ended");
    assert_eq!(world.delete(&path(&third)).await.status, 204);
    let mut reasons: Vec<_> = log(&world).await.iter().map(|entry| entry["reason"].clone()).collect();
    reasons.sort_by_key(Value::to_string);
    let emoji = json!("\u{1f600}".repeat(500));
    assert_eq!(reasons, [json!("a test"), json!("all of them"), json!("fixed"), emoji, Value::Null]);
}
