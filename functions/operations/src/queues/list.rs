//! `GET /api/operations/queues`: the queues with their numbers of messages, and the age of the oldest.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use axum::extract::State;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::http::{Answer, Viewer, no_store};
use longshore::openapi::CacheNoStore;
use longshore::{refusals, telemetry};
use longshore_domain::ports::{MessageCounts, PortResult, QueueAges, QueueCounts, StackQueue};
use serde::Serialize;
use tokio::time::timeout;
use utoipa::ToSchema;

use crate::function::{Backend, Operations};

/// Number of queues that are read concurrently.
const CONCURRENT_READS: usize = 12;

/// Maximum time for the ages: the numbers are worth more than a late answer.
const AGES_TIMEOUT: Duration = Duration::from_secs(8);

/// A queue of the stack.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorQueue)]
pub struct QueueDocument {
    /// The queue.
    pub queue: StackQueue,
    /// `true` for a dead-letter queue.
    pub is_for_dead_letters: bool,
    /// Messages that can be received.
    pub visible: u64,
    /// Messages that were received, and neither deleted nor returned yet.
    pub in_flight: u64,
    /// Messages that cannot be received before a time.
    pub delayed: u64,
    /// Age of the oldest message in seconds; `null` if there is none, or CloudWatch does not answer.
    #[schema(required = true)]
    pub oldest_seconds: Option<u64>,
}

impl QueueDocument {
    fn new(queue: StackQueue, counts: MessageCounts, oldest_seconds: Option<u64>) -> Self {
        let MessageCounts { visible, in_flight, delayed } = counts;
        // CloudWatch has zero, or the age of some minutes ago, for an active queue without messages.
        let oldest_seconds = oldest_seconds.filter(|_| visible + in_flight + delayed > 0);
        Self { queue, is_for_dead_letters: queue.is_for_dead_letters(), visible, in_flight, delayed, oldest_seconds }
    }
}

/// All queues of the stack.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorQueues)]
pub struct QueuesDocument {
    /// The queues.
    pub queues: Vec<QueueDocument>,
}

refusals!(
    /// Refusals of `GET /api/operations/queues`.
    operator QueuesRefusals:
);

/// Returns the queues.
#[utoipa::path(
    get,
    path = "/api/operations/queues",
    operation_id = "listQueues",
    tag = "operations",
    summary = "List the queues with the age of their oldest message.",
    description = include_str!("list.md").trim_ascii_end(),
    responses(
        (
            status = 200,
            description = "The queues.",
            body = QueuesDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(queues_example()),
        ),
        QueuesRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(State(function): State<Arc<Operations<B>>>, _: Viewer) -> Answer {
    let statistics = &function.statistics;
    let count = async |queue: StackQueue| PortResult::Ok((queue, statistics.message_counts(queue).await?));
    let counts =
        stream::iter(StackQueue::ALL).map(|queue| Box::pin(count(queue))).buffered(CONCURRENT_READS).try_collect();
    let (counts, ages) = futures::join!(counts, ages(statistics));
    let counts: Vec<_> = counts?;
    let document =
        |(queue, counts): (StackQueue, MessageCounts)| QueueDocument::new(queue, counts, ages.get(&queue).copied());
    let queues = counts.into_iter().map(document).collect();
    Ok(no_store(QueuesDocument { queues }))
}

/// Returns the ages; none if CloudWatch does not answer, as it does not on an emulator.
async fn ages(statistics: &impl QueueAges) -> BTreeMap<StackQueue, u64> {
    match timeout(AGES_TIMEOUT, statistics.oldest_ages()).await {
        Ok(Ok(ages)) => ages,
        Ok(Err(error)) => {
            tracing::warn!(error = telemetry::chain(&error), "cannot read the age of the oldest messages");
            BTreeMap::new()
        }
        Err(_) => {
            tracing::warn!("cannot read the age of the oldest messages in time");
            BTreeMap::new()
        }
    }
}

/// Example: chunks that wait, and a dead letter.
fn queues_example() -> QueuesDocument {
    let waiting = MessageCounts { visible: 41, in_flight: 8, delayed: 2 };
    let dead = MessageCounts { visible: 1, ..MessageCounts::default() };
    let queues = vec![
        QueueDocument::new(StackQueue::ChunkNormal, waiting, Some(12)),
        QueueDocument::new(StackQueue::ChunkDeadLetters, dead, Some(86_400)),
    ];
    QueuesDocument { queues }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_queue_has_no_oldest_message() {
        let age = |counts| QueueDocument::new(StackQueue::ChunkNormal, counts, Some(480)).oldest_seconds;
        let none = MessageCounts { visible: 0, in_flight: 0, delayed: 0 };
        assert_eq!(age(none), None);
        for some in [
            MessageCounts { visible: 1, ..none },
            MessageCounts { in_flight: 1, ..none },
            MessageCounts { delayed: 1, ..none },
        ] {
            assert_eq!(age(some), Some(480));
        }
    }
}
