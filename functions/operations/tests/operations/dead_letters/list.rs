//! `GET /api/dead-letters`, `GET /api/dead-letters/{letterId}`, and the authorization of all calls.

use longshore_domain::dead_letter::{DeadLetterRecord, Queue};
use longshore_domain::job::Status;
use longshore_domain::ports::JobTransitions;
use serde_json::{Value, json};

use crate::world::{NOW, World, path};

#[tokio::test]
async fn only_operators_get_dead_letters() {
    for (world, groups) in [(World::default(), "[tellers]"), (World::default(), ""), (World::open(), "[operators]")] {
        let dead_letter = world.chunk(&world.job("acme").await, 0).await;
        for (method, route) in operations::ROUTES {
            let to = route.replace("{letterId}", &dead_letter.id);
            let body = if route.ends_with("letters/replay") {
                json!({"jobId": dead_letter.message.job_id()})
            } else {
                Value::Null
            };
            let reply = world.call_as(groups, (method, &to), &body).await;
            reply.is_problem(403, "not-an-operator");
            assert!(!reply.body.to_string().contains("acme"), "{}", reply.body);
        }
    }
}

#[tokio::test]
async fn the_list_describes_each_open_dead_letter_without_its_rows() {
    let world = World::default();
    let job = world.job("acme").await;
    let chunk = world.chunk(&job, 1).await;
    let lost = world.record(Queue::Create, "not a message").await;
    let reply = world.get("/api/dead-letters").await;
    assert!(!reply.body.to_string().contains("a row"), "{}", reply.body);
    let listed = reply.body["deadLetters"].as_array().unwrap();
    assert_eq!((reply.status, listed.len(), &reply.body["nextCursor"]), (200, 2, &Value::Null));
    assert_eq!(
        (&listed[0]["letterId"], &listed[0]["kind"], &listed[0]["queue"], &listed[0]["replay"]),
        (&json!(lost.id), &json!("unreadable"), &json!("create"), &json!("putBack"))
    );
    assert_eq!(
        listed[1],
        json!({
            "letterId": chunk.id, "queue": "chunk", "kind": "chunk",
            "reason": "every worker that processed the chunk crashed or failed",
            "jobId": job.job_id, "tenant": "acme", "jobStatus": "running", "generation": null,
            "group": 0, "chunk": 1, "firstItem": 11, "itemCount": 10,
            "sentAt": chunk.sent_at.to_rfc3339(), "seenAt": chunk.seen_at.to_rfc3339(), "receives": 6,
            "sizeBytes": chunk.size_bytes, "state": "open", "settledBy": null, "settledAt": null,
            "replay": "later", "links": { "self": path(&chunk), "replay": null }
        })
    );
}

#[tokio::test]
async fn the_effect_of_a_replay_depends_on_the_job() {
    let world = World::default();
    let job = world.job("acme").await;
    let dead_letter = world.chunk(&job, 1).await;
    let replay = async || world.get(&path(&dead_letter)).await.body["deadLetter"]["replay"].clone();
    assert_eq!(replay().await, "later");
    world.give_up(&job, &[1]).await;
    assert_eq!(replay().await, "later");
    world.end(&job, Status::Completed, 10).await;
    assert_eq!(replay().await, "generation");
    world.store.delete(job.job_id, NOW).await.unwrap();
    assert_eq!(replay().await, "nothing");
}

#[tokio::test]
async fn dead_letters_are_listed_by_queue_and_job_and_in_pages_newest_first() {
    let world = World::default();
    let (one, two) = (world.job("acme").await, world.job("umbrella").await);
    let all = [world.chunk(&one, 0).await, world.chunk(&two, 0).await, world.chunk(&one, 1).await];
    let lost = world.record(Queue::Complete, "{}").await;
    let listed = async |query: &str| {
        let reply = world.get(&format!("/api/dead-letters?{query}")).await;
        let dead_letters = reply.body["deadLetters"].as_array().unwrap();
        dead_letters.iter().map(|dead_letter| dead_letter["letterId"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ids = |dead_letters: &[&DeadLetterRecord]| {
        dead_letters.iter().map(|dead_letter| dead_letter.id.clone()).collect::<Vec<_>>()
    };
    assert_eq!(listed("queue=complete").await, ids(&[&lost]));
    assert_eq!(listed(&format!("jobId={}", one.job_id)).await, ids(&[&all[2], &all[0]]));
    let (mut to, mut found) = ("/api/dead-letters?queue=chunk&limit=2".to_owned(), 0);
    loop {
        let reply = world.get(&to).await;
        found += reply.body["deadLetters"].as_array().unwrap().len();
        match reply.next_path() {
            Some(next) => to = next.to_owned(),
            None => break,
        }
    }
    assert_eq!(found, 3);
    let reply = world.get("/api/dead-letters?queue=x&jobId=y&limit=0&cursor=%3F").await;
    reply.is_problem(422, "invalid-request");
    let codes: Vec<_> = reply.body["errors"].as_array().unwrap().iter().map(|error| &error["code"]).collect();
    assert_eq!(codes, ["unknown_queue", "invalid_job_id", "invalid_limit", "invalid_cursor"]);
}

#[tokio::test]
async fn a_dead_letter_is_read_with_its_body_and_an_unknown_one_is_not_found() {
    let world = World::default();
    let dead_letter = world.chunk(&world.job("acme").await, 2).await;
    let reply = world.get(&path(&dead_letter)).await;
    assert!(reply.body["body"].as_str().unwrap().contains("a row"), "{}", reply.body);
    world.get("/api/dead-letters/1700000000000-none").await.is_problem(404, "not-found");
}
