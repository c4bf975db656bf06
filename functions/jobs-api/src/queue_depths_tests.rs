//! Caching of queue depths, and queues that do not report theirs.

use std::sync::atomic::{AtomicU64, Ordering};

use longshore_domain::ports::{PortError, PortResult};

use super::*;

/// A queue that counts its calls and returns that number, fails, or never answers.
#[derive(Debug, Default)]
struct Asked(AtomicU64, Mood);

#[derive(Copy, Clone, Default, Debug)]
enum Mood {
    #[default]
    Well,
    Failing,
    Silent,
}

impl QueueDepth for Asked {
    async fn chunks(&self, _: Priority) -> PortResult<u64> {
        let asked = self.0.fetch_add(1, Ordering::Relaxed) + 1;
        match self.1 {
            Mood::Well => Ok(asked),
            Mood::Failing => Err(PortError { service: "queues", operation: "backlog", source: "down".into() }),
            Mood::Silent => std::future::pending().await,
        }
    }
}

#[tokio::test]
async fn a_depth_is_asked_for_once_in_ten_seconds_for_each_priority() {
    let (queue_depths, queue) = (QueueDepths::default(), Asked::default());
    for (priority, millis, expected) in [
        (Priority::Normal, 0, 1),
        (Priority::Normal, 9_999, 1),
        (Priority::High, 9_999, 2),
        (Priority::Normal, 10_000, 3),
        (Priority::High, 10_000, 2),
        (Priority::Normal, 9_000, 3),
        (Priority::Normal, 20_000, 4),
    ] {
        let chunks = queue_depths.chunks(&queue, priority, Timestamp(millis)).await;
        assert_eq!(chunks, Some(expected), "{priority:?} at {millis}");
    }
}

#[tokio::test]
async fn of_many_calls_at_once_one_asks() {
    let (queue_depths, queue) = (QueueDepths::default(), Asked::default());
    let call = || queue_depths.chunks(&queue, Priority::Low, Timestamp(0));
    let seen = futures::future::join_all((0..50).map(|_| call())).await;
    assert_eq!(seen, vec![Some(1); 50]);
}

#[tokio::test]
async fn a_queue_that_fails_or_is_silent_is_not_asked_again_at_once() {
    for mood in [Mood::Failing, Mood::Silent] {
        let (queue_depths, queue) = (QueueDepths::default(), Asked(AtomicU64::new(0), mood));
        for _ in 0..3 {
            assert_eq!(queue_depths.chunks(&queue, Priority::Normal, Timestamp(0)).await, None, "{mood:?}");
        }
        assert_eq!(queue.0.load(Ordering::Relaxed), 1, "{mood:?}");
    }
}
