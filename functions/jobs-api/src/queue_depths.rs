//! Cached depths of the queues of chunks.
//!
//! Each process caches a queue's depth for some seconds instead of reading it for each request. The depth is
//! approximate anyway, and a few jobs too many do no harm: the limit only keeps the queue from growing for hours.

use std::collections::BTreeMap;
use std::time::Duration;

use longshore::telemetry;
use longshore_domain::job::ChunkQueue;
use longshore_domain::ports::QueueDepth;
use longshore_domain::timestamp::Timestamp;
use tokio::sync::Mutex;

/// Cache lifetime of a queue depth. SQS itself lags by some seconds.
const CACHED_MS: i64 = 10_000;

/// Timeout for reading a depth: accepting a create is more important than an exact depth.
const TIMEOUT: Duration = Duration::from_secs(1);

/// The queue depths that this process has read last.
#[derive(Debug, Default)]
pub struct QueueDepths(Mutex<BTreeMap<ChunkQueue, CachedDepth>>);

#[derive(Copy, Clone, Debug)]
struct CachedDepth {
    at: Timestamp,
    /// `None` if the depth could not be read.
    chunks: Option<u64>,
}

impl QueueDepths {
    /// Returns the number of chunks of this queue, up to ten seconds old, or `None` if it cannot be read. Of several
    /// concurrent calls, one reads the depth and the others wait for it.
    pub(crate) async fn chunks(&self, queues: &impl QueueDepth, queue: ChunkQueue, now: Timestamp) -> Option<u64> {
        let mut depths = self.0.lock().await;
        if let Some(cached) = depths.get(&queue).filter(|cached| now.millis_since(cached.at) < CACHED_MS) {
            return cached.chunks;
        }
        let chunks = read_depth(queues, queue).await;
        depths.insert(queue, CachedDepth { at: now, chunks });
        chunks
    }
}

async fn read_depth(queues: &impl QueueDepth, queue: ChunkQueue) -> Option<u64> {
    let error = match tokio::time::timeout(TIMEOUT, queues.chunks(queue)).await {
        Ok(Ok(chunks)) => return Some(chunks),
        Ok(Err(error)) => telemetry::chain(&error),
        Err(error) => telemetry::chain(&error),
    };
    tracing::warn!(queue = queue.as_str(), error, "cannot read the depth of a queue; jobs are accepted");
    None
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use longshore_domain::ports::{PortError, PortResult};

    use longshore_domain::job::Priority;

    use super::*;

    const NORMAL: ChunkQueue = ChunkQueue::Priority(Priority::Normal);
    const HIGH: ChunkQueue = ChunkQueue::Priority(Priority::High);

    /// A queue that counts its calls and returns that number, fails, or never answers.
    #[derive(Debug, Default)]
    struct CountingQueue(AtomicU64, Behavior);

    #[derive(Copy, Clone, Default, Debug)]
    enum Behavior {
        #[default]
        Answers,
        Fails,
        Hangs,
    }

    impl QueueDepth for CountingQueue {
        async fn chunks(&self, _: ChunkQueue) -> PortResult<u64> {
            let calls = self.0.fetch_add(1, Ordering::Relaxed) + 1;
            match self.1 {
                Behavior::Answers => Ok(calls),
                Behavior::Fails => Err(PortError { service: "queues", operation: "chunks", source: "down".into() }),
                Behavior::Hangs => std::future::pending().await,
            }
        }

        async fn webhooks(&self) -> PortResult<u64> {
            Ok(0)
        }
    }

    #[tokio::test]
    async fn the_depth_of_a_queue_is_read_once_in_ten_seconds() {
        let (queue_depths, queue) = (QueueDepths::default(), CountingQueue::default());
        for (queue_of_chunks, millis, expected) in [
            (NORMAL, 0, 1),
            (NORMAL, 9_999, 1),
            (HIGH, 9_999, 2),
            (NORMAL, 10_000, 3),
            (HIGH, 10_000, 2),
            (NORMAL, 9_000, 3),
            (NORMAL, 20_000, 4),
        ] {
            let chunks = queue_depths.chunks(&queue, queue_of_chunks, Timestamp(millis)).await;
            assert_eq!(chunks, Some(expected), "{queue_of_chunks:?} at {millis}");
        }
    }

    #[tokio::test]
    async fn one_of_many_concurrent_calls_reads_the_depth() {
        let (queue_depths, queue) = (QueueDepths::default(), CountingQueue::default());
        let call = || queue_depths.chunks(&queue, NORMAL, Timestamp(0));
        let depths = futures::future::join_all((0..50).map(|_| call())).await;
        assert_eq!(depths, vec![Some(1); 50]);
    }

    #[tokio::test]
    async fn a_queue_that_fails_or_hangs_is_not_read_again_immediately() {
        for behavior in [Behavior::Fails, Behavior::Hangs] {
            let (queue_depths, queue) = (QueueDepths::default(), CountingQueue(AtomicU64::new(0), behavior));
            for _ in 0..3 {
                assert_eq!(queue_depths.chunks(&queue, NORMAL, Timestamp(0)).await, None, "{behavior:?}");
            }
            assert_eq!(queue.0.load(Ordering::Relaxed), 1, "{behavior:?}");
        }
    }
}
