//! Items that ask to be retried after a wait: each waits for itself.

use longshore::chunk::ChunkEnd;
use longshore::remote::RemoteReply;
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::Counts;
use serde_json::{Value, json};

use crate::scripted::{Received, Scripted, returned};
use crate::world::{World, pass, registration};

/// Time of the first call in milliseconds.
const START_MS: i64 = 1_000_000;

/// Tries of an item.
const TRIES: u32 = 3;

/// Answers `retry` with the wait of the item's number and try, and `ok` to items without one.
fn after(received: &Received, wait_s: impl Fn(u64, u64) -> Option<i64>) -> RemoteReply {
    let result = |item: &Value| {
        let (number, attempt) = (item["number"].as_u64().unwrap(), item["try"].as_u64().unwrap());
        match wait_s(number, attempt) {
            Some(after) => json!({ "key": item["key"], "outcome": "retry", "after": after }),
            None => json!({ "key": item["key"], "outcome": "ok", "output": number }),
        }
    };
    let items = received.body["items"].as_array().unwrap();
    returned(&json!({ "results": items.iter().map(result).collect::<Vec<_>>() }))
}

/// Returns the number of the try and the second of each call with an item.
fn tries(handler: &Scripted, number: u64) -> Vec<(u64, i64)> {
    let received = handler.received.lock().unwrap();
    let with_item = |received: &Received| {
        let item = received.body["items"].as_array()?.iter().find(|item| item["number"] == number)?.clone();
        Some((item["try"].as_u64().unwrap(), (received.at.0 - START_MS) / 1_000))
    };
    received.iter().filter_map(with_item).collect()
}

/// Delivers messages until the chunk is finished. The sweeper sends one every minute.
async fn run_to_the_end(world: &World, message: &ChunkMessage) {
    for _ in 0..200 {
        if world.run(99).await.last() == Some(&ChunkEnd::Finished) {
            return;
        }
        pass(60);
        if world.deliver(message).await == ChunkEnd::Finished {
            return;
        }
    }
    panic!("the chunk is not finished");
}

async fn world(handler: &std::sync::Arc<Scripted>, items: u32) -> (World, ChunkMessage) {
    let mut registration = registration();
    registration.tries = TRIES;
    let world = World::new(handler, registration, 1, items).await;
    let message = world.ports.queues.take_chunks().remove(0).message;
    (world, message)
}

#[tokio::test]
async fn an_item_that_asks_for_an_hour_does_not_delay_one_that_asks_for_five_seconds() {
    let handler = Scripted::new(|received| {
        after(received, |number, attempt| match (number, attempt) {
            (1, 1) => Some(3_600),
            (2, 1) | (3, 1 | 2) => Some(5),
            (4, 1) => Some(1_000_000),
            (5, 1) => Some(-1),
            _ => None,
        })
    });
    let (world, message) = world(&handler, 6).await;
    assert_eq!(world.deliver(&message).await, ChunkEnd::NextRound);
    assert_eq!(world.run(99).await.last(), Some(&ChunkEnd::NextRound));
    assert_eq!(world.counts().await.succeeded, 4, "the others have ended: 2, 3, 5, 6");
    run_to_the_end(&world, &message).await;
    assert_eq!(world.counts().await, Counts { succeeded: 6, ..Counts::default() });
    for (number, expected_s) in [
        (1, &[(0, 1), (3_600, 4_120)][..]),
        (2, &[(0, 1), (5, 8)]),
        (3, &[(0, 1), (5, 8), (10, 16)]),
        (4, &[(0, 1), (3_600, 4_120)]),
        (5, &[(0, 1), (1, 3)]),
        (6, &[(0, 1)]),
    ] {
        let tries = tries(&handler, number);
        assert_eq!(tries.len(), expected_s.len(), "item {number}: {tries:?}");
        for ((attempt, second), (expected, (from, to))) in tries.iter().zip((1..).zip(expected_s)) {
            assert!(*attempt == expected && (*from..*to).contains(second), "item {number}: {tries:?}");
        }
    }
    let mut rows: Vec<_> = world.outputs().iter().map(|row| row["number"].as_u64().unwrap()).collect();
    rows.sort_unstable();
    assert_eq!(rows, (1..=6).collect::<Vec<_>>(), "each once");
}

/// The first worker has the answers of items 1 to 8, the second one those of items 9 to 16.
#[tokio::test]
async fn a_worker_that_continues_a_round_knows_the_times_of_the_items_before() {
    for (waits_s, first_s, second_s) in [([5, 3_600], 42..60, 3_600..4_200), ([3_600, 5], 3_600..4_200, 42..60)] {
        let handler = Scripted::new(move |received| {
            if received.numbers.len() == 8 {
                pass(21);
            }
            after(received, |number, attempt| match (number, attempt) {
                (1, 1) => Some(waits_s[0]),
                (9, 1) => Some(waits_s[1]),
                _ => None,
            })
        });
        let (world, message) = world(&handler, 16).await;
        assert_eq!(world.deliver(&message).await, ChunkEnd::Continued);
        run_to_the_end(&world, &message).await;
        assert_eq!(world.counts().await.succeeded, 16);
        let second_tries = [1, 9].map(|number| tries(&handler, number)[1].1);
        assert!(first_s.contains(&second_tries[0]) && second_s.contains(&second_tries[1]), "{second_tries:?}");
    }
}

#[tokio::test]
async fn every_message_is_delivered_twice_and_each_item_spends_its_own_tries() {
    let handler = Scripted::new(|received| {
        after(received, |number, attempt| match attempt {
            1 => Some(number as i64 * 7),
            2 => Some(1),
            _ => None,
        })
    });
    let (world, message) = world(&handler, 8).await;
    let mut next = Some(message);
    while let Some(message) = next {
        world.deliver(&message).await;
        world.collect();
        world.deliver(&message).await;
        // The second delivery repeats the message of the round, which is harmless.
        world.ports.queues.take_chunks();
        next = world.next_message();
    }
    assert_eq!(world.counts().await, Counts { succeeded: 8, ..Counts::default() });
    for number in 1..=8 {
        let tries = tries(&handler, number);
        assert_eq!(tries.iter().map(|(attempt, _)| *attempt).collect::<Vec<_>>(), [1, 2, 3], "item {number}");
        assert!(tries[1].1 >= number as i64 * 7, "item {number}: {tries:?}");
    }
    assert_eq!(world.outputs().len(), 8);
}
