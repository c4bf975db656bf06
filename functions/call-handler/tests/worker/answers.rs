//! Answers of the contract: only what was said about an item is counted.

use longshore::chunk::ChunkEnd;
use longshore_domain::job::Stop;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::JobTransitions;
use longshore_domain::registration::Registration;
use longshore_domain::work_file::End;
use longshore_testing::JobItem;
use serde_json::{Value, json};

use crate::scripted::{Scripted, all, ok, returned};
use crate::world::{World, clock, registration};

#[tokio::test]
async fn every_item_of_a_complete_answer_ends_and_its_output_is_a_row() {
    let handler = Scripted::new(all);
    let world = World::new(&handler, registration(), 1, 20).await;
    assert_eq!(world.run(9).await, [ChunkEnd::Finished]);
    assert_eq!(world.counts().await, Counts { succeeded: 20, ..Counts::default() });
    let rows: Vec<_> = (1..=20).map(|n| json!({ "number": n, "output": { "n": n } })).collect();
    assert_eq!(world.outputs(), rows);
    assert_eq!(handler.batches().iter().map(Vec::len).collect::<Vec<_>>(), [8, 8, 4]);
    let request = &handler.received.lock().unwrap()[0].body;
    assert_eq!((&request["job"]["type"], &request["job"]["generation"]), (&json!("mail"), &json!(1)));
    assert_eq!(
        (&request["job"]["options"], &request["job"]["tenant"]),
        (&json!({ "event": "launch" }), &json!("acme"))
    );
    assert_eq!((&request["items"][2]["try"], &request["items"][2]["value"]), (&json!(1), &json!({ "n": 100_003 })));
}

#[tokio::test]
async fn each_outcome_counts_as_the_handler_has_said() {
    let handler = Scripted::new(|received| {
        let job = received.body["job"]["id"].as_str().unwrap().to_owned();
        let result = |item: &serde_json::Value| {
            let n = item["number"].as_u64().unwrap();
            let key = format!("{job}-{n}");
            match n % 4 {
                0 => json!({ "key": key, "outcome": "ok" }),
                1 => json!({ "key": key, "outcome": "reject", "code": "bad_email", "field": "email", "message": "no" }),
                2 => json!({ "key": key, "outcome": "skip", "code": "unchanged" }),
                _ if item["try"] == 1 => json!({ "key": key, "outcome": "retry", "after": 30, "reason": "busy" }),
                _ => json!({ "key": key, "outcome": "ok", "output": "late" }),
            }
        };
        let items = received.body["items"].as_array().unwrap();
        returned(&json!({ "results": items.iter().rev().map(result).collect::<Vec<_>>() }))
    });
    let world = World::new(&handler, registration(), 1, 8).await;
    assert_eq!(world.run(9).await, [ChunkEnd::NextRound, ChunkEnd::Finished]);
    assert_eq!(world.counts().await, Counts { succeeded: 4, failed: 2, skipped: 2 });
    assert_eq!(world.codes().await.into_values().collect::<Vec<_>>(), ["bad_email", "bad_email"]);
    assert_eq!(handler.batches(), [(1..=8).collect::<Vec<_>>(), vec![3, 7]]);
    let outputs: Vec<_> = world.outputs().iter().map(|row| row["output"].clone()).collect();
    assert_eq!(outputs.iter().filter(|output| **output == json!("late")).count(), 2);
    assert_eq!(outputs.iter().filter(|output| output.is_null()).count(), 2, "ok without an output");
}

#[tokio::test]
async fn unanswered_items_are_sent_again_at_once_and_answered_ones_are_not() {
    // Answers every second item of a batch.
    let handler = Scripted::new(|received| ok(received, received.numbers.iter().copied().step_by(2)));
    let world = World::new(&handler, registration(), 1, 20).await;
    assert_eq!(world.run(9).await, [ChunkEnd::Finished]);
    assert_eq!(world.counts().await.succeeded, 20);
    let batches = handler.batches();
    assert_eq!(batches[..2], [vec![1, 2, 3, 4, 5, 6, 7, 8], vec![2, 4, 6, 8]]);
    let rows: Vec<_> = world.outputs().iter().map(|row| row["number"].as_u64().unwrap()).collect();
    assert_eq!(rows, (1..=20).collect::<Vec<_>>(), "each once, in order");
    let mut answered: Vec<_> = batches.iter().flat_map(|batch| batch.iter().copied().step_by(2)).collect();
    answered.sort_unstable();
    assert_eq!(answered, (1..=20).collect::<Vec<_>>(), "no answered item is sent again");
}

#[tokio::test]
async fn one_word_for_the_whole_batch_is_enough() {
    let handler = Scripted::new(|_| returned(&json!({ "all": "ok" })));
    let world = World::new(&handler, registration(), 1, 20).await;
    assert_eq!(world.run(9).await, [ChunkEnd::Finished]);
    assert_eq!(world.counts().await.succeeded, 20);
}

#[tokio::test]
async fn a_fatal_answer_stops_the_job_and_counts_nothing() {
    let handler = Scripted::new(|_| returned(&json!({ "fatal": { "code": "licence_expired", "message": "m" } })));
    let world = World::new(&handler, registration(), 1, 20).await;
    assert_eq!(world.run(9).await, [ChunkEnd::NotLive]);
    assert_eq!(world.counts().await, Counts::default());
    assert_eq!(handler.batches().len(), 1);
}

#[tokio::test]
async fn a_late_message_of_an_ended_job_whose_definition_has_expired_has_no_effect() {
    let handler = Scripted::new(all);
    let world = World::new(&handler, registration(), 1, 8).await;
    let message = world.next_message().unwrap();
    world.ports.store.expire(world.job.job_id, JobItem::Definition);
    let error = world.try_deliver(&message).await.unwrap_err();
    assert_eq!(error.to_string(), "job type mail: the job's definition is missing", "while the job is live");
    world.ports.store.stop(world.job.job_id, 0, &Stop::canceled(clock())).await.unwrap();
    assert_eq!(world.deliver(&message).await, ChunkEnd::NotLive);
    assert_eq!(handler.batches(), Vec::<Vec<u64>>::new());
}

#[tokio::test]
async fn a_fatal_answer_keeps_the_outcomes_that_came_before() {
    // Leaves the first item out, and stops the job when it comes again.
    let handler = Scripted::new(|received| match received.numbers[..] {
        [1, _, ..] => ok(received, 2..=8),
        _ => returned(&json!({ "fatal": { "code": "licence_expired", "message": "m" } })),
    });
    let world = World::new(&handler, registration(), 1, 20).await;
    assert_eq!(world.run(9).await, [ChunkEnd::NotLive]);
    assert_eq!(handler.batches()[1], [1]);
    assert_eq!(world.counts().await, Counts { succeeded: 7, ..Counts::default() });
    let rows: Vec<_> = world.outputs().iter().map(|row| row["number"].as_u64().unwrap()).collect();
    assert_eq!(rows, (2..=8).collect::<Vec<_>>());
}

/// A retry takes the newest registration, and keeps the results that its job was created with.
#[tokio::test]
async fn each_success_of_a_job_with_results_has_a_row_even_if_the_type_has_no_output_any_more() {
    let handler = Scripted::new(|received| match received.numbers[0] {
        1 => all(received),
        _ => returned(&json!({ "all": "ok" })),
    });
    let world = World::new(&handler, Registration { output_schema: None, ..registration() }, 1, 10).await;
    assert_eq!(world.run(9).await, [ChunkEnd::Finished]);
    let output = |n: u64| if n <= 8 { json!({ "n": n }) } else { Value::Null };
    let rows: Vec<_> = (1..=10).map(|n| json!({ "number": n, "output": output(n) })).collect();
    assert_eq!(world.outputs(), rows);
}

#[tokio::test]
async fn items_that_do_not_match_their_schema_fail_without_a_call_and_outputs_fail_their_item() {
    let handler = Scripted::new(all);
    let mut registration = registration();
    registration.item_schema = Some(json!({ "properties": { "n": { "minimum": 100_003 } } }));
    registration.output_schema = Some(json!({ "properties": { "n": { "maximum": 5 } } }));
    let world = World::new(&handler, registration, 1, 6).await;
    assert_eq!(world.run(9).await, [ChunkEnd::Finished]);
    assert_eq!(handler.batches(), [vec![3, 4, 5, 6]]);
    let codes = [(1, "schema_minimum"), (2, "schema_minimum"), (6, "invalid_output")];
    assert_eq!(world.codes().await, codes.map(|(n, code)| (n, code.to_owned())).into());
    assert_eq!(world.counts().await, Counts { succeeded: 3, failed: 3, skipped: 0 });
}

#[tokio::test]
async fn an_item_that_asks_for_a_retry_fails_after_its_last_try() {
    let handler = Scripted::new(|received| {
        let key = &received.body["items"][0]["key"];
        returned(&json!({ "results": [{ "key": key, "outcome": "retry", "reason": "mail server busy" }] }))
    });
    let world = World::new(&handler, registration(), 1, 1).await;
    assert_eq!(world.run(9).await, [ChunkEnd::NextRound, ChunkEnd::Finished]);
    let ends = world.ends().await;
    let End::Failed(rejection) = &ends[&1] else { panic!("{ends:?}") };
    assert_eq!(rejection.code, "retries_exhausted");
    assert!(rejection.message.ends_with("retry this code once the cause is fixed"), "{}", rejection.message);
    assert_eq!(handler.batches().len(), 2, "two tries");
}
