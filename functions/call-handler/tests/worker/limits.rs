//! Backpressure, rate and time: chunks wait without a permit, and no item spends a try.

use std::sync::atomic::Ordering;

use longshore::chunk::{ChunkEnd, ConcurrencyLimiter};
use longshore::remote::RemoteReply;
use longshore_domain::concurrency::{Permit, Wake};
use longshore_domain::ports::{Acquisition, HandlerStates, ParkedChunks, Permits, WakeMark};
use longshore_domain::registration::Registration;
use serde_json::json;

use crate::scripted::{Scripted, all, ok, returned};
use crate::world::{TYPE, World, clock, pass_until, registration};

#[tokio::test]
async fn backpressure_parks_the_chunk_and_halves_the_concurrency() {
    let busy: [fn() -> RemoteReply; 3] = [
        || RemoteReply::Http { status: 429, retry_after: Some("40".into()), body: Vec::new() },
        || returned(&json!({ "retryBatch": { "after": 40, "reason": "quota" } })),
        || RemoteReply::LambdaError {
            name: "TooManyRequestsException".into(),
            status: Some(429),
            retry_after: Some("40".into()),
        },
    ];
    for busy in busy {
        let start = clock();
        let handler = Scripted::new(move |received| if received.at.0 < 1_039_000 { busy() } else { all(received) });
        let world = World::new(&handler, registration(), 1, 8).await;
        assert_eq!(world.run(1).await, [ChunkEnd::HandlerWait]);
        assert_eq!(world.ports.store.permits(TYPE).await.unwrap(), [], "a parked chunk holds no permit");
        assert_eq!(world.ports.store.parked(TYPE, 9).await.unwrap().len(), 1);
        let state = world.ports.store.handler_state(TYPE).await.unwrap().state;
        assert_eq!(state.concurrency.now(10, clock()), 5);
        assert_eq!(world.run(9).await, [ChunkEnd::Finished]);
        assert_eq!(world.ports.store.parked(TYPE, 9).await.unwrap(), [], "not woken again");
        assert_eq!((world.counts().await.succeeded, handler.batches().len(), handler.pings()), (8, 2, 0));
        assert_eq!(handler.received.lock().unwrap()[1].body["items"][0]["try"], 1);
        assert!(start <= clock());
    }
}

/// With a share below half of the registered concurrency, half of the latter would lower nothing.
#[tokio::test]
async fn backpressure_halves_the_share_of_a_type_that_registers_more() {
    let handler = Scripted::new(|_| RemoteReply::Http { status: 429, retry_after: None, body: Vec::new() });
    handler.share.store(4, Ordering::Relaxed);
    let world = World::new(&handler, registration(), 1, 8).await;
    assert_eq!(world.run(1).await, [ChunkEnd::HandlerWait]);
    let state = world.ports.store.handler_state(TYPE).await.unwrap().state;
    assert_eq!(state.concurrency.now(4, clock()), 2);
    assert_eq!(world.ports.store.parked(TYPE, 9).await.unwrap()[0].limit, 4);
}

#[tokio::test]
async fn answers_behind_a_gap_are_kept_when_the_chunk_is_parked() {
    // The first call answers items 3 to 8, the second is refused.
    let handler = Scripted::new(|received| match received.numbers.len() {
        8 => ok(received, 3..=8),
        _ if received.body["items"][0]["try"] == 1 && received.at.0 < 1_005_000 => {
            RemoteReply::Http { status: 503, retry_after: None, body: Vec::new() }
        }
        _ => all(received),
    });
    let world = World::new(&handler, registration(), 1, 20).await;
    let ends = world.run(9).await;
    assert_eq!(ends.last(), Some(&ChunkEnd::Finished), "{ends:?}");
    assert_eq!(world.counts().await.succeeded, 20);
    let batches = handler.batches();
    let count = |n| batches.iter().filter(|batch| batch.contains(&n)).count();
    assert_eq!((3..=8).map(count).collect::<Vec<_>>(), [1; 6], "{batches:?}");
    let mut rows: Vec<_> = world.outputs().iter().map(|row| row["number"].as_u64().unwrap()).collect();
    rows.sort_unstable();
    assert_eq!(rows, (1..=20).collect::<Vec<_>>());
}

#[tokio::test]
async fn the_rate_limit_holds_over_all_chunks() {
    let handler = Scripted::new(all);
    let mut registration = registration();
    registration.items_per_second = Some(4.0);
    let world = World::new(&handler, registration, 3, 20).await;
    let ends = world.run(99).await;
    assert!(ends.contains(&ChunkEnd::Finished));
    assert_eq!(world.counts().await.succeeded, 60);
    let received = handler.received.lock().unwrap();
    let (first, last) = (received[0].at, received.last().unwrap().at);
    let seconds = last.millis_since(first) as f64 / 1_000.0;
    assert!((13.0..17.0).contains(&seconds), "60 items at 4 a second took {seconds} s");
    for from in received.iter().map(|received| received.at) {
        let within = received.iter().filter(|r| (from.0..from.0 + 10_000).contains(&r.at.0));
        assert!(within.map(|r| r.numbers.len()).sum::<usize>() <= 42);
    }
}

/// Returns the seconds from the first call to the last one.
fn seconds(handler: &Scripted) -> f64 {
    let received = handler.received.lock().unwrap();
    received.last().unwrap().at.millis_since(received[0].at) as f64 / 1_000.0
}

#[tokio::test]
async fn a_call_reserves_no_more_items_than_its_chunk_has() {
    let handler = Scripted::new(all);
    let mut registration = registration();
    registration.items_per_second = Some(4.0);
    let world = World::new(&handler, registration, 12, 1).await;
    world.run(99).await;
    assert_eq!(world.counts().await.succeeded, 12);
    assert!((2.7..3.5).contains(&seconds(&handler)), "12 items at 4 a second took {} s", seconds(&handler));
}

#[tokio::test]
async fn a_call_that_is_full_because_of_its_bytes_reserves_about_as_many_items_as_fit() {
    let handler = Scripted::new(all);
    let mut registration = registration();
    // One item fits, of two that half a second's worth has; every other call tries two.
    (registration.items_per_second, registration.batch.bytes) = (Some(4.0), 1);
    let world = World::new(&handler, registration, 1, 20).await;
    world.run(99).await;
    assert_eq!(world.counts().await.succeeded, 20);
    assert!((4.7..8.0).contains(&seconds(&handler)), "20 items at 4 a second took {} s", seconds(&handler));
}

#[tokio::test]
async fn no_call_begins_that_could_outlast_the_function() {
    let handler = Scripted::new(|received| {
        crate::world::pass(100);
        all(received)
    });
    let mut registration = registration();
    registration.batch.timeout_seconds = 110;
    let world = World::new(&handler, registration, 1, 24).await;
    let ends = world.run(9).await;
    assert_eq!(ends.last(), Some(&ChunkEnd::Finished));
    assert!(ends.len() > 1 && ends[0] == ChunkEnd::Continued, "{ends:?}");
    assert_eq!((world.counts().await.succeeded, handler.batches().len()), (24, 3));
}

/// Its own delayed message has come, and finds no permit: no second one will come.
#[tokio::test]
async fn a_chunk_without_a_permit_after_its_pause_can_be_woken_by_the_next_worker_that_ends() {
    let handler = Scripted::new(|_| returned(&json!({ "retryBatch": { "after": 30, "reason": "quota" } })));
    let world = World::new(&handler, Registration { concurrency: 1, ..registration() }, 1, 1).await;
    let message = world.next_message().unwrap();
    assert_eq!(world.deliver(&message).await, ChunkEnd::HandlerWait);
    let parked = world.ports.store.parked(TYPE, 9).await.unwrap().remove(0);
    let until = parked.message.parked_until.unwrap();
    pass_until(until);
    let permit = Permit::new(0, "another worker", clock().plus_seconds(60));
    let acquired = world.ports.store.acquire(TYPE, &permit, clock()).await.unwrap();
    assert_eq!(acquired, Acquisition::Acquired);
    assert_eq!(world.deliver(&parked.message).await, ChunkEnd::Parked);
    let parked = world.ports.store.parked(TYPE, 9).await.unwrap().remove(0);
    assert!(parked.may_be_woken(clock()), "{parked:?}");
}

/// A wait of more than 15 minutes has no delayed message: the sweeper wakes the chunk.
#[tokio::test]
async fn a_chunk_that_is_woken_after_a_long_pause_runs() {
    let handler = Scripted::new(|received| {
        let busy = || returned(&json!({ "retryBatch": { "after": 1_200, "reason": "quota" } }));
        if received.at.0 < 2_000_000 { busy() } else { all(received) }
    });
    let world = World::new(&handler, registration(), 1, 1).await;
    let message = world.next_message().unwrap();
    assert_eq!(world.deliver(&message).await, ChunkEnd::HandlerWait);
    let parked = world.ports.store.parked(TYPE, 9).await.unwrap().remove(0);
    pass_until(parked.message.parked_until.unwrap().plus_seconds(11));
    let limiter = ConcurrencyLimiter { ports: &world.ports, job_type: TYPE, limit: 1, clock };
    assert_eq!(limiter.wake().await.unwrap(), 1);
    let woken = world.next_message().unwrap();
    assert_eq!((woken.parked_until, world.deliver(&woken).await), (None, ChunkEnd::Finished));
}

/// Its own delayed message has come, and the delivery fails before it calls the handler.
#[tokio::test]
async fn a_message_that_comes_again_after_an_error_runs() {
    let handler = Scripted::new(|received| {
        let busy = || returned(&json!({ "retryBatch": { "after": 30, "reason": "quota" } }));
        if received.at.0 < 1_020_000 { busy() } else { all(received) }
    });
    let world = World::new(&handler, registration(), 1, 1).await;
    assert_eq!(world.deliver(&world.next_message().unwrap()).await, ChunkEnd::HandlerWait);
    let parked = world.ports.store.parked(TYPE, 9).await.unwrap().remove(0);
    pass_until(parked.message.parked_until.unwrap());
    // As after a worker that has claimed the chunk and died.
    let wake = Wake { at: clock().plus_seconds(280), by: "a dead worker".into() };
    assert_eq!(world.ports.store.mark_woken(TYPE, &parked, &wake).await.unwrap(), WakeMark::Marked);
    assert_eq!(world.deliver(&parked.message).await, ChunkEnd::Finished);
}
