//! Items of one chunk that request different waits.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::{Cell, RefCell};
use std::time::Duration;

use longshore::chunk::{ChunkEnd, Mode};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore_domain::outcome::Counts;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{ChunkWorld, numbered_rows};
use serde_json::Value;

/// Number of items.
const ITEMS: u32 = 10;

/// Wait of the items with an odd number, in seconds; the others wait for a second.
const LONG_S: u64 = 100;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(0) };
    /// Number of each item that was passed to the handler, and the second.
    static PASSED: RefCell<Vec<(u64, i64)>> = const { RefCell::new(Vec::new()) };
}

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// A handler that defers each item once.
struct Waiting;

impl JobType for Waiting {
    const NAME: &'static str = "waiting";
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, key: ItemKey, _: Value) -> Outcome {
        let is_first = PASSED.with_borrow(|passed| passed.iter().all(|(number, _)| *number != key.number));
        PASSED.with_borrow_mut(|passed| passed.push((key.number, clock().seconds())));
        let after = Some(Duration::from_secs(if key.number % 2 == 1 { LONG_S } else { 1 }));
        if is_first { Outcome::Retry { after, reason: "busy".into() } } else { Outcome::Ok(()) }
    }
}

#[tokio::test]
async fn each_item_is_passed_to_the_handler_again_after_its_own_wait() {
    let world = ChunkWorld::new("waiting", &numbered_rows(ITEMS), clock).await;
    let registry = Registry::default().with(Waiting);
    let (worker, queues) = (world.worker(&registry), &world.ports.queues);
    let (mut message, mut ends) = (world.message.clone(), Vec::new());
    loop {
        ends.push(worker.work(&message, Mode::Work, clock().plus_seconds(60)).await.unwrap());
        let Some(sent) = queues.take_chunks().pop() else { break };
        CLOCK.set(clock().plus_seconds(sent.delay_s.into()).0);
        message = sent.message;
    }
    assert_eq!(ends, [ChunkEnd::NextRound, ChunkEnd::NextRound, ChunkEnd::Finished]);
    assert_eq!(world.progress().await.groups[0].counts, Counts { succeeded: ITEMS.into(), ..Counts::default() });
    let passed = PASSED.take().split_off(ITEMS as usize);
    let (early, late): (Vec<_>, Vec<_>) = passed.into_iter().partition(|(_, second)| *second < 10);
    assert_eq!(early.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [2, 4, 6, 8, 10]);
    assert_eq!(late.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [1, 3, 5, 7, 9]);
    assert!(late.iter().all(|(_, second)| (100..=113).contains(second)), "{late:?}");
}
