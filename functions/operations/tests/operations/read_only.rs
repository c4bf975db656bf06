//! Read-only operators: they read, see no rows, and change nothing.

use longshore_domain::dead_letter::Queue;
use longshore_domain::job::Status;
use longshore_domain::ports::OperatorLog;
use serde_json::{Value, json};

use crate::world::{World, path};

const AUDITORS: &str = "[auditors]";

#[tokio::test]
async fn a_read_only_operator_can_read_and_changes_nothing() {
    let world = World::default();
    let job = world.job("acme").await;
    let dead_letter = world.chunk(&job, 0).await;
    world.give_up(&job, &[0]).await;
    world.end(&job, Status::Completed, 10).await;
    for (method, route) in operations::ROUTES {
        let to = route.replace("{letterId}", &dead_letter.id).replace("{pauseId}", &job.job_id.to_string());
        let to = if route.ends_with("/webhooks") { format!("{to}?tenant=acme") } else { to };
        let body = match route {
            "/api/operations/retries" => {
                json!({ "type": "import", "code": "x", "jobIds": [job.job_id], "reason": "r" })
            }
            "/api/dead-letters/replay" => json!({ "jobId": job.job_id }),
            _ => Value::Null,
        };
        let reply = world.call_as(AUDITORS, (method, &to), &body).await;
        if method == "GET" {
            assert_eq!(reply.status, 200, "{to}: {}", reply.body);
        } else {
            reply.is_problem(403, "not-an-operator");
        }
    }
    assert_eq!(world.stored(&job).await.generation, 0);
    assert_eq!(world.log.logged_actions(None, 9).await.unwrap().items, []);
}

#[tokio::test]
async fn a_read_only_operator_sees_neither_the_body_of_a_dead_letter_nor_a_part_of_it() {
    let world = World::default();
    let chunk = world.chunk(&world.job("acme").await, 0).await;
    let unreadable = world.record(Queue::Chunk, r#"{"jobId": "a row"}"#).await;
    for dead_letter in [&chunk, &unreadable] {
        for to in [path(dead_letter), "/api/dead-letters".to_owned()] {
            let reply = world.call_as(AUDITORS, ("GET", &to), &Value::Null).await;
            assert_eq!(reply.status, 200);
            assert!(!reply.body.to_string().contains("a row"), "{}", reply.body);
        }
        let shown = world.call_as(AUDITORS, ("GET", &path(dead_letter)), &Value::Null).await;
        assert_eq!(shown.body["body"], Value::Null);
        assert!(world.get(&path(dead_letter)).await.body["body"].is_string(), "an operator sees it");
    }
}
