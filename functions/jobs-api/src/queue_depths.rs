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
#[path = "queue_depths_tests.rs"]
mod tests;
