//! Faults: nothing is counted, the handler is pinged, and a poisonous item fails alone.

use longshore::chunk::{ChunkEnd, ChunkError};
use longshore::remote::RemoteReply;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::Permits;
use longshore_domain::remote::OpenReason;
use longshore_domain::work_file::End;
use serde_json::json;

use crate::scripted::{Scripted, all, ok, returned, status};
use crate::world::{TYPE, World, clock, pass, registration};

#[tokio::test]
async fn a_poisonous_item_fails_alone_in_a_few_calls_whatever_the_fault() {
    let faults: [fn() -> RemoteReply; 7] = [
        || status(500),
        || status(404),
        || RemoteReply::TimedOut,
        || RemoteReply::FunctionError { payload: b"{}".to_vec() },
        || returned(&json!(null)),
        || returned(&json!({ "results": [{ "key": "another-1", "outcome": "ok" }] })),
        || RemoteReply::TooLarge { body: b"[".to_vec() },
    ];
    for fault in faults {
        let handler =
            Scripted::new(move |received| if received.numbers.contains(&6) { fault() } else { all(received) });
        let world = World::new(&handler, registration(), 1, 16).await;
        world.run(9).await;
        assert_eq!(world.counts().await, Counts { succeeded: 15, failed: 1, skipped: 0 });
        assert_eq!(world.codes().await, [(6, "handler_failed".to_owned())].into());
        let poisoned = handler.batches().iter().filter(|batch| batch.contains(&6)).count();
        assert!(poisoned <= 5, "8, 4, 2, 1, and the second try: {:?}", handler.batches());
        let others: usize = handler.batches().iter().filter(|batch| !batch.contains(&6)).map(Vec::len).sum();
        assert_eq!(others, 15, "no other item was sent again after its answer");
        let ends = world.ends().await;
        assert!(matches!(&ends[&6], End::Failed(why) if !why.message.contains("ann@example.com")), "{ends:?}");
    }
}

#[tokio::test]
async fn faults_ping_the_handler_at_most_once_in_five_seconds() {
    let handler = Scripted::new(|received| if received.numbers.contains(&6) { status(500) } else { all(received) });
    let world = World::new(&handler, registration(), 1, 16).await;
    world.run(9).await;
    let received = handler.received.lock().unwrap();
    let pings: Vec<_> = received.iter().filter(|received| received.is_ping()).map(|received| received.at).collect();
    assert!(pings.len() >= 4 && pings.windows(2).all(|pair| pair[1].millis_since(pair[0]) >= 5_000), "{pings:?}");
}

#[tokio::test]
async fn a_handler_that_does_not_answer_its_ping_is_left_alone_and_no_item_spends_a_try() {
    let handler = Scripted::new(|received| {
        let is_down = received.at.millis_since(longshore_domain::timestamp::Timestamp(1_000_000)) < 100_000;
        if is_down { RemoteReply::TimedOut } else { all(received) }
    });
    *handler.bad_pings.lock().unwrap() = 3;
    let world = World::new(&handler, registration(), 1, 8).await;
    let ends = world.run(1).await;
    assert_eq!(ends, [ChunkEnd::HandlerWait]);
    assert_eq!(world.breaker().await.open().unwrap().reason, OpenReason::Unreachable);
    assert_eq!((handler.batches().len(), handler.pings()), (1, 1));
    let ends = world.run(20).await;
    assert_eq!(ends.last(), Some(&ChunkEnd::Finished));
    assert_eq!(world.counts().await.succeeded, 8);
    assert_eq!((handler.batches().len(), handler.pings()), (2, 4), "pings after 30, 60 and 120 s");
    assert_eq!(handler.received.lock().unwrap().last().unwrap().body["items"][0]["try"], 1);
    assert!(clock().seconds() >= 1_000 + 30 + 60 + 120);
    assert_eq!(world.breaker().await.after_answer(), None, "as after an answer");
}

#[tokio::test]
async fn batches_of_five_chunks_that_fail_although_pings_are_good_stop_the_calls() {
    let handler = Scripted::new(|_| returned(&json!({})));
    let world = World::new(&handler, registration(), 6, 20).await;
    let mut ends = Vec::new();
    for _ in 0..200 {
        if world.breaker().await.open().is_none() {
            ends.extend(world.run(1).await);
        }
    }
    assert_eq!(world.breaker().await.open().unwrap().reason, OpenReason::BatchesFail);
    let calls = handler.batches().len();
    assert_eq!(world.run(1).await, [ChunkEnd::HandlerWait]);
    assert_eq!(handler.batches().len(), calls, "while it is open no call is made");
    let waiting = world.run(7).await;
    assert!(waiting.iter().all(|end| *end == ChunkEnd::HandlerWait || *end == ChunkEnd::Parked), "{waiting:?}");
    let trials: Vec<_> = handler.batches()[calls..].to_vec();
    assert!(trials.iter().all(|batch| batch.len() == 1), "a trial holds one item: {trials:?}");
}

#[tokio::test]
async fn rows_fail_when_the_handler_was_unavailable_for_too_long() {
    let handler = Scripted::new(|_| status(500));
    *handler.bad_pings.lock().unwrap() = u32::MAX;
    let mut registration = registration();
    registration.max_outage_seconds = 600;
    let world = World::new(&handler, registration, 1, 8).await;
    assert_eq!(world.run(1).await, [ChunkEnd::HandlerWait]);
    pass(601);
    assert_eq!(world.run(1).await, [ChunkEnd::Finished]);
    assert_eq!(world.counts().await, Counts { failed: 8, ..Counts::default() });
    assert!(world.codes().await.values().all(|code| code == "handler_unavailable"));
}

#[tokio::test]
async fn rows_of_a_handler_that_answers_only_pings_for_too_long_are_told_so() {
    let handler = Scripted::new(|_| returned(&json!({})));
    let mut registration = registration();
    registration.max_outage_seconds = 600;
    let world = World::new(&handler, registration, 6, 20).await;
    for _ in 0..200 {
        if world.breaker().await.open().is_none() {
            world.run(1).await;
        }
    }
    assert_eq!(world.breaker().await.open().unwrap().reason, OpenReason::BatchesFail);
    pass(601);
    world.run(40).await;
    let ends = world.ends().await.into_values();
    let failed = ends.filter_map(|end| if let End::Failed(rejection) = end { Some(rejection) } else { None });
    let given_up: Vec<_> = failed.filter(|rejection| rejection.code == "handler_unavailable").collect();
    assert!(!given_up.is_empty());
    assert!(given_up.iter().all(|rejection| rejection.message.contains("answers pings")), "{given_up:?}");
}

#[tokio::test]
async fn a_handler_that_is_back_after_a_long_outage_is_called_again() {
    let handler = Scripted::new(|received| {
        let is_down = received.at.millis_since(longshore_domain::timestamp::Timestamp(1_000_000)) < 100_000;
        if is_down { RemoteReply::TimedOut } else { all(received) }
    });
    *handler.bad_pings.lock().unwrap() = 1;
    let mut registration = registration();
    registration.max_outage_seconds = 600;
    let world = World::new(&handler, registration, 1, 8).await;
    assert_eq!(world.run(1).await, [ChunkEnd::HandlerWait]);
    pass(6_000);
    assert_eq!(world.run(9).await.last(), Some(&ChunkEnd::Finished));
    assert_eq!(world.counts().await.succeeded, 8);
    assert_eq!(world.breaker().await.open(), None);
}

#[tokio::test]
async fn a_call_that_cannot_be_made_fails_the_message_and_keeps_every_answer() {
    // The first call answers items 3 to 8; the second one cannot be made, and neither can a ping.
    let handler = Scripted::new(|received| match received.numbers.len() {
        8 => ok(received, 3..=8),
        _ => all(received),
    });
    let world = World::new(&handler, registration(), 1, 10).await;
    let message = world.ports.queues.take_chunks().remove(0).message;
    handler.fail_the_next_call();
    assert!(matches!(world.try_deliver(&message).await, Err(ChunkError::NotCalled(_))), "before any answer");
    assert_eq!(world.counts().await, Counts::default());
    handler.fail_after_the_next_call();
    assert!(matches!(world.try_deliver(&message).await, Err(ChunkError::NotCalled(_))), "after some answers");
    assert_eq!(world.counts().await.succeeded, 6);
    assert_eq!(world.breaker().await.open(), None);
    assert_eq!(world.ports.store.permits(TYPE).await.unwrap(), [], "no permit is held");
    let mut ends = vec![world.deliver(&message).await];
    ends.extend(world.run(9).await);
    assert_eq!((ends.last(), world.counts().await.succeeded), (Some(&ChunkEnd::Finished), 10), "{ends:?}");
    let received = handler.received.lock().unwrap();
    let tries: Vec<_> = received.iter().flat_map(|r| r.body["items"].as_array().cloned().unwrap_or_default()).collect();
    assert!(tries.iter().all(|item| item["try"] == 1), "no item spends a try");
    assert_eq!(received.iter().filter(|r| r.numbers.contains(&3)).count(), 1, "no answer is forgotten");
    assert_eq!(received.iter().filter(|r| r.is_ping()).count(), 0);
}

#[tokio::test]
async fn a_ping_that_cannot_be_made_opens_no_breaker() {
    let handler = Scripted::new(|received| {
        let is_first = received.at == longshore_domain::timestamp::Timestamp(1_000_000);
        if is_first { status(500) } else { all(received) }
    });
    let world = World::new(&handler, registration(), 1, 8).await;
    let message = world.ports.queues.take_chunks().remove(0).message;
    handler.fail_after_the_next_call();
    assert!(matches!(world.try_deliver(&message).await, Err(ChunkError::NotCalled(_))));
    assert_eq!((world.breaker().await.open(), handler.pings()), (None, 0));
    assert_eq!(world.deliver(&message).await, ChunkEnd::Finished);
    assert_eq!(world.counts().await.succeeded, 8);
}
