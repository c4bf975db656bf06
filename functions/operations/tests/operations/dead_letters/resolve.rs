//! `POST /api/dead-letters/{letterId}/replay`, `POST /api/dead-letters/replay`, `DELETE /api/dead-letters/{letterId}`,
//! and the calls for a resolved dead letter.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicI64, Ordering};

use longshore_domain::dead_letter::{DeadLetterRecord, Queue};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Finish, Job, JobError, Reopen, Selection, Status, Stop};
use longshore_domain::message::{CompleteMessage, CreateMessage};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{DeadLetterRecords, JobTransitions, Reopened};
use serde_json::{Value, json};

use crate::world::{NOW, Reply, World, path};

async fn replay(world: &World, dead_letter: &DeadLetterRecord) -> Reply {
    world.post(&format!("{}/replay", path(dead_letter))).await
}

async fn replay_job(world: &World, job: &Job) -> Reply {
    world.call("POST", "/api/dead-letters/replay", &json!({"jobId": job.job_id})).await
}

async fn is_open(world: &World, dead_letter: &DeadLetterRecord) -> bool {
    world.store.dead_letter(&dead_letter.id).await.unwrap().unwrap().is_open()
}

/// The sweep that recorded the dead letter is about to fail its items, so a message that is sent again would be too
/// late.
#[tokio::test]
async fn a_chunk_of_an_active_job_cannot_be_replayed_before_its_end() {
    let world = World::default();
    let dead_letter = world.chunk(&world.job("acme").await, 1).await;
    replay(&world, &dead_letter).await.is_problem(409, "not-ended");
    assert_eq!(world.queues.take_chunks().len(), 0);
    assert!(is_open(&world, &dead_letter).await);
}

#[tokio::test]
async fn an_ended_job_is_reopened_for_the_chunk_of_a_dead_letter_and_of_its_copies() {
    let world = World::default();
    let job = world.job("acme").await;
    let [dead_letter, copy, other] =
        [world.chunk(&job, 1).await, world.chunk(&job, 1).await, world.chunk(&job, 2).await];
    world.give_up(&job, &[0, 1, 2]).await;
    replay(&world, &dead_letter).await.is_problem(409, "not-ended");
    world.end(&job, Status::Completed, 30).await;
    let reply = replay(&world, &dead_letter).await;
    assert_eq!(
        (reply.status, &reply.body["effect"], &reply.body["generation"]),
        (202, &json!("generation"), &json!(1))
    );
    assert_eq!(
        (&reply.body["tenant"], &reply.body["links"]["job"]),
        (&json!("acme"), &json!(format!("/api/jobs/{}", job.job_id)))
    );
    assert_eq!(reply.body["replayed"], json!([copy.id, dead_letter.id]));
    let stored = world.stored(&job).await;
    assert_eq!(
        (stored.generation, &stored.retry.selection),
        (1, &Selection::Chunks([ChunkId { group: 0, chunk: 1 }].into()))
    );
    assert_eq!(stored.times.deadline_at, NOW.plus_seconds(60));
    assert_eq!(
        world.queues.take_creates().iter().map(|m| (m.job_id, m.generation)).collect::<Vec<_>>(),
        [(job.job_id, 1)]
    );
    assert!(is_open(&world, &other).await);
    replay(&world, &other).await.is_problem(409, "not-ended");
}

#[tokio::test]
async fn all_dead_letters_of_a_job_are_replayed_in_one_generation() {
    let world = World::default();
    let job = world.job("acme").await;
    let dead_letters = [world.chunk(&job, 0).await, world.chunk(&job, 2).await];
    let elsewhere = world.chunk(&world.job("acme").await, 0).await;
    world.give_up(&job, &[0, 2]).await;
    world.end(&job, Status::Completed, 20).await;
    let reply = replay_job(&world, &job).await;
    assert_eq!((reply.status, &reply.body["left"]), (202, &json!([])));
    let selection = world.stored(&job).await.retry.selection;
    assert_eq!(selection.chunks().unwrap().iter().map(|id| id.chunk).collect::<Vec<_>>(), [0, 2]);
    for dead_letter in &dead_letters {
        assert!(!is_open(&world, dead_letter).await);
    }
    assert!(is_open(&world, &elsewhere).await);
    replay_job(&world, &job).await.is_problem(404, "not-found");
    let bad = world.call("POST", "/api/dead-letters/replay", &json!({"jobId": 7, "ids": []})).await;
    bad.is_problem(422, "invalid-request");
}

#[tokio::test]
async fn dead_letters_for_which_there_is_no_time_stay_open() {
    /// Seconds that have passed: each look at the clock takes four.
    static PASSED: AtomicI64 = AtomicI64::new(0);
    let world = World { clock: || NOW.plus_seconds(PASSED.fetch_add(4, Ordering::Relaxed)), ..World::default() };
    let job = world.job("acme").await;
    let dead_letters = [world.chunk(&job, 0).await, world.chunk(&job, 1).await, world.chunk(&job, 2).await];
    world.give_up(&job, &[0, 1, 2]).await;
    world.end(&job, Status::Completed, 30).await;
    let reply = replay_job(&world, &job).await;
    let ids = |name: &str| reply.body[name].as_array().unwrap().iter().map(Value::to_string).collect::<BTreeSet<_>>();
    let (replayed, left) = (ids("replayed"), ids("left"));
    assert_eq!((replayed.len(), left.len()), (2, 1), "{}", reply.body);
    for dead_letter in &dead_letters {
        assert_eq!(is_open(&world, dead_letter).await, left.contains(&json!(dead_letter.id).to_string()));
    }
}

/// The replay crashed after it had reopened the job: the dead letter is open, and the generation records its chunks.
#[tokio::test]
async fn a_replay_after_a_crash_only_records_the_resolution() {
    let world = World::default();
    let job = world.job("acme").await;
    let dead_letter = world.chunk(&job, 1).await;
    world.give_up(&job, &[1]).await;
    world.end(&job, Status::Completed, 10).await;
    let ended = world.stored(&job).await;
    let reopen = Reopen {
        generation: 0,
        at: NOW,
        deadline_at: NOW.plus_seconds(60),
        selection: Selection::Chunks([ChunkId { group: 0, chunk: 1 }].into()),
        registration: None,
    };
    assert!(matches!(world.store.reopen(&ended, &reopen).await.unwrap(), Reopened::Made(_)));
    let reply = replay(&world, &dead_letter).await;
    assert_eq!(
        (reply.status, &reply.body["effect"], &reply.body["replayed"]),
        (202, &json!("nothing"), &json!([dead_letter.id]))
    );
    assert_eq!((world.stored(&job).await.generation, is_open(&world, &dead_letter).await), (1, false));
}

#[tokio::test]
async fn a_dead_letter_of_a_missing_or_canceled_job_can_only_be_discarded() {
    let world = World::default();
    for status in [Status::Canceled, Status::Completed] {
        let job = world.job("acme").await;
        let dead_letter = world.chunk(&job, 1).await;
        world.give_up(&job, &[1]).await;
        world.end(&job, status, 10).await;
        if status == Status::Completed {
            world.store.delete(job.job_id, NOW).await.unwrap();
        }
        let reply = replay(&world, &dead_letter).await;
        reply.is_problem(409, "nothing-to-replay");
        assert!(reply.body["detail"].as_str().unwrap().contains("discard"), "{}", reply.body);
        assert_eq!(world.delete(&path(&dead_letter)).await.status, 204);
    }
}

#[tokio::test]
async fn control_messages_are_sent_again_with_a_new_deduplication_id() {
    let world = World::default();
    let job = world.job("acme").await;
    let complete = CompleteMessage::new(&job);
    let dead_letter = world.record(Queue::Complete, &serde_json::to_string(&complete).unwrap()).await;
    assert_eq!(replay(&world, &dead_letter).await.body["effect"], "message");
    assert_eq!(world.queues.take_completes(), [CompleteMessage { resend: 1, ..complete }]);
}

#[tokio::test]
async fn a_failed_split_of_a_retry_is_replayed_for_the_same_chunks() {
    let world = World::default();
    let job = world.job("acme").await;
    let stop = Stop { status: Status::Failed, error: Some(JobError::new("split_failed", "")), at: NOW };
    let create = CreateMessage { generation: 1, ..CreateMessage::of_job(job.job_id) };
    world.end(&job, Status::Failed, 10).await;
    let ended = world.stored(&job).await;
    let reopen = Reopen {
        generation: 0,
        at: NOW,
        deadline_at: NOW.plus_seconds(60),
        selection: Selection::All,
        registration: None,
    };
    world.store.reopen(&ended, &reopen).await.unwrap();
    let dead_letter = world.record(Queue::Create, &serde_json::to_string(&create).unwrap()).await;
    replay(&world, &dead_letter).await.is_problem(409, "not-ended");
    assert_eq!(world.queues.take_creates(), []);
    let dead_letter = world.record(Queue::Create, &serde_json::to_string(&create).unwrap()).await;
    world.store.stop(job.job_id, 1, &stop).await.unwrap();
    replay(&world, &dead_letter).await.is_problem(409, "not-ended");
    // Ten of the job's items were never processed.
    let totals = Counts { succeeded: 20, ..Counts::default() };
    let finish = Finish { generation: 1, ..Finish::new(Status::Failed, totals, NOW) };
    world.store.finish(job.job_id, &finish).await.unwrap();
    assert_eq!(replay(&world, &dead_letter).await.body["effect"], "generation");
    assert_eq!(world.stored(&job).await.retry.selection, Selection::All);
}

#[tokio::test]
async fn no_job_is_reopened_for_a_tenant_over_its_limit() {
    let world = World::default();
    let job = world.job("acme").await;
    let dead_letter = world.chunk(&job, 1).await;
    world.give_up(&job, &[1]).await;
    world.end(&job, Status::Completed, 10).await;
    for _ in 0..2 {
        world.job("acme").await;
    }
    replay(&world, &dead_letter).await.is_problem(429, "too-many-jobs");
    assert!(is_open(&world, &dead_letter).await);
}

#[tokio::test]
async fn an_unreadable_message_is_redriven_unchanged() {
    let world = World::default();
    let dead_letter = world.record(Queue::Complete, "{\"newer\": 1}").await;
    let reply = replay(&world, &dead_letter).await;
    assert_eq!((reply.status, &reply.body["effect"], &reply.body["jobId"]), (202, &json!("putBack"), &Value::Null));
    assert_eq!(world.queues.take_redriven(), [(Queue::Complete, "{\"newer\": 1}".to_owned())]);
    assert!(!is_open(&world, &dead_letter).await);
}

#[tokio::test]
async fn a_discarded_dead_letter_leaves_the_list_and_names_its_operator() {
    let world = World::default();
    let dead_letter = world.record(Queue::Chunk, "not a message").await;
    for _ in 0..2 {
        assert_eq!(world.delete(&path(&dead_letter)).await.status, 204);
    }
    assert_eq!(world.get("/api/dead-letters").await.body["deadLetters"], json!([]));
    let shown = world.get(&path(&dead_letter)).await.body["deadLetter"].clone();
    assert_eq!(
        (&shown["state"], &shown["settledBy"], &shown["settledAt"], &shown["replay"]),
        (&json!("discarded"), &json!("olga"), &json!(NOW.to_rfc3339()), &json!("nothing"))
    );
    world.post(&format!("{}/replay", path(&dead_letter))).await.is_problem(409, "letter-settled");
    assert!(world.queues.take_redriven().is_empty());
    world.delete("/api/dead-letters/1700000000000-none").await.is_problem(404, "not-found");
}

#[tokio::test]
async fn a_replayed_dead_letter_is_not_discarded() {
    let world = World::default();
    let dead_letter = world.record(Queue::Chunk, "not a message").await;
    assert_eq!(world.post(&format!("{}/replay", path(&dead_letter))).await.status, 202);
    world.delete(&path(&dead_letter)).await.is_problem(409, "letter-settled");
}
