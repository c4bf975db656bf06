//! Queues, their depths, dead-letter queues, and the dead-letter records.

use std::cell::Cell;

use longshore_domain::dead_letter::{DeadLetterRecord, Queue, Resolution};
use longshore_domain::job::Priority;
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
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
    static DEPTHS: Cell<[[u64; 3]; 2]> = const { Cell::new([[0; 3]; 2]) };
}

/// Resets the depths at the beginning of a run: no queue has had any messages.
pub(crate) fn begin() {
    DEPTHS.set([[0; 3]; 2]);
}

/// Current number of chunk messages of this priority.
fn depth(priority: Priority) -> u64 {
    let [current, _] = DEPTHS.get();
    current[index(priority)]
}

/// Older number of chunk messages of this priority.
fn older_depth(priority: Priority) -> u64 {
    let [_, older] = DEPTHS.get();
    older[index(priority)]
}

fn index(priority: Priority) -> usize {
    Priority::ALL.iter().position(|other| *other == priority).unwrap_or(0)
}

/// What happens to the older numbers when the current ones change.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) enum OlderDepths {
    Keep,
    /// The previous numbers become the older ones.
    Replace,
}

/// Records the number of queued chunk messages, given their priorities.
pub(crate) fn set_depths(queued: impl Iterator<Item = Priority>, older_depths: OlderDepths) {
    let mut depths = [0; 3];
    queued.for_each(|priority| depths[index(priority)] += 1);
    let [current, older] = DEPTHS.get();
    if depths != current {
        DEPTHS.set([depths, if older_depths == OlderDepths::Keep { older } else { current }]);
    }
}

impl<T: Queues> Queues for Stepwise<T> {
    stepwise! {
        async fn send_create(&self, message: &CreateMessage) -> PortResult<()>;
        async fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> PortResult<()>;
        async fn send_complete(&self, message: &CompleteMessage) -> PortResult<()>;
    }
}

impl QueueDepth for Stepwise<Unguarded<MemoryQueues>> {
    /// Returns an approximate number, which can be some seconds old.
    async fn chunks(&self, priority: Priority) -> PortResult<u64> {
        before("backlog").await?;
        let depth = if is_stale() { older_depth(priority) } else { depth(priority) };
        step().await;
        Ok(depth)
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
