//! Cached depths of the queues of chunks.
//!
//! Each process caches a queue's depth for some seconds instead of reading it for each request. The depth is
//! approximate anyway, and one job more or less does no harm: the limit only keeps the queue from growing unnoticed for
//! hours.

use std::collections::BTreeMap;
use std::time::Duration;

use longshore::telemetry;
use longshore_domain::job::Priority;
use longshore_domain::ports::QueueDepth;
use longshore_domain::time_stamp::Timestamp;
use tokio::sync::Mutex;

/// Cache lifetime of a queue depth. SQS itself lags by some seconds.
const CACHED_MS: i64 = 10_000;

/// Timeout of reading a depth: accepting a create is more important than an exact depth.
const PATIENCE: Duration = Duration::from_secs(1);

/// The queue depths last seen by this process.
#[derive(Debug, Default)]
pub struct QueueDepths(Mutex<BTreeMap<Priority, Seen>>);

#[derive(Copy, Clone, Debug)]
struct Seen {
    at: Timestamp,
    /// `None` if the depth could not be read.
    chunks: Option<u64>,
}

impl QueueDepths {
    /// Returns the number of chunks of this priority, up to ten seconds old, or `None` if the queue does not report it.
    /// One of several concurrent calls asks the queue; the others wait for its answer.
    pub(crate) async fn chunks(&self, queues: &impl QueueDepth, priority: Priority, now: Timestamp) -> Option<u64> {
        let mut depths = self.0.lock().await;
        if let Some(seen) = depths.get(&priority).filter(|seen| now.millis_since(seen.at) < CACHED_MS) {
            return seen.chunks;
        }
        let chunks = ask(queues, priority).await;
        depths.insert(priority, Seen { at: now, chunks });
        chunks
    }
}

async fn ask(queues: &impl QueueDepth, priority: Priority) -> Option<u64> {
    let error = match tokio::time::timeout(PATIENCE, queues.chunks(priority)).await {
        Ok(Ok(chunks)) => return Some(chunks),
        Ok(Err(error)) => telemetry::chain(&error),
        Err(error) => telemetry::chain(&error),
    };
    tracing::warn!(priority = priority.as_str(), error, "the depth of a queue is not known; jobs are let in");
    None
}

#[cfg(test)]
mod tests {
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
}
