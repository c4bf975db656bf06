//! Queues, their depths, dead-letter queues, and the dead-letter records.

use std::cell::Cell;

use longshore_domain::dead_letter::{DeadLetterRecord, Queue, Resolution};
use longshore_domain::job::ChunkQueue;
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, WebhookMessage};
use longshore_domain::ports::{
    DeadLetterQueues, DeadLetterRecords, Page, PortResult, QueueDepth, Queues, Received, RedriveToSource,
};
use longshore_testing::MemoryQueues;

use super::{Stepwise, cloned, stepwise};
use crate::clock::step;
use crate::faults::{Fault, after, again, before, is_stale};
use crate::unguarded::Unguarded;

thread_local! {
    /// Number of chunk messages by priority: current, and older.
    static DEPTHS: Cell<[[u64; 4]; 2]> = const { Cell::new([[0; 4]; 2]) };
}

/// Resets the depths at the beginning of a run: no queue has had any messages.
pub(crate) fn begin() {
    DEPTHS.set([[0; 4]; 2]);
}

/// Current number of chunk messages of this queue.
fn depth(queue: ChunkQueue) -> u64 {
    let [current, _] = DEPTHS.get();
    current[index(queue)]
}

/// Older number of chunk messages of this queue.
fn older_depth(queue: ChunkQueue) -> u64 {
    let [_, older] = DEPTHS.get();
    older[index(queue)]
}

fn index(queue: ChunkQueue) -> usize {
    ChunkQueue::ALL.iter().position(|other| *other == queue).unwrap_or(0)
}

/// What happens to the older numbers when the current ones change.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum OlderDepths {
    Keep,
    /// The previous numbers become the older ones.
    Replace,
}

/// Records the number of queued chunk messages, given their queues.
pub(crate) fn set_depths(queued: impl Iterator<Item = ChunkQueue>, older_depths: OlderDepths) {
    let mut depths = [0; 4];
    queued.for_each(|queue| depths[index(queue)] += 1);
    let [current, older] = DEPTHS.get();
    if depths != current {
        DEPTHS.set([depths, if older_depths == OlderDepths::Keep { older } else { current }]);
    }
}

impl<T: Queues> Queues for Stepwise<T> {
    stepwise! {
        async fn send_create(&self, message: &CreateMessage) -> PortResult<()>;
        async fn send_prepare(&self, message: &CreateMessage) -> PortResult<()>;
        async fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> PortResult<()>;
        async fn send_complete(&self, message: &CompleteMessage) -> PortResult<()>;
        async fn send_webhooks(&self, messages: &[WebhookMessage], delay_s: i32) -> PortResult<()>;
    }
}

impl QueueDepth for Stepwise<Unguarded<MemoryQueues>> {
    /// Returns an approximate number, which can be some seconds old.
    async fn chunks(&self, queue: ChunkQueue) -> PortResult<u64> {
        before("backlog").await?;
        let depth = if is_stale() { older_depth(queue) } else { depth(queue) };
        step().await;
        Ok(depth)
    }

    /// No message about webhooks waits in the simulation.
    async fn webhooks(&self) -> PortResult<u64> {
        before("webhooks").await?;
        Ok(0)
    }
}

impl<T: DeadLetterRecords> DeadLetterRecords for Stepwise<T> {
    stepwise! {
        async fn record(&self, dead_letter: &DeadLetterRecord, body: Option<&str>) -> PortResult<()>;
        async fn dead_letter(&self, id: &str) -> PortResult<Option<DeadLetterRecord>>;
        async fn body(&self, dead_letter: &DeadLetterRecord) -> PortResult<Option<String>>;
        async fn dead_letters(&self, behind: Option<&str>, limit: usize) -> PortResult<Page<DeadLetterRecord>>;
        async fn resolve(&self, id: &str, resolution: &Resolution) -> PortResult<Option<DeadLetterRecord>>;
    }
}

impl<T: DeadLetterQueues> DeadLetterQueues for Stepwise<T> {
    stepwise! {
        async fn receive(&self, queue: Queue) -> PortResult<Vec<Received>>;
        async fn delete(&self, dead_letter: &Received) -> PortResult<()>;
        async fn make_visible(&self, dead_letters: &[&Received]) -> PortResult<()>;
    }
}

impl<T: RedriveToSource> RedriveToSource for Stepwise<T> {
    stepwise! {
        async fn redrive_to_source(&self, dead_letter: &DeadLetterRecord, body: &str) -> PortResult<()>;
    }
}
