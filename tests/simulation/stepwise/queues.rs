//! Queues, their depths, dead-letter queues, and the dead-letter records.

use std::cell::Cell;

use longshore_domain::dead_letter::{DeadLetterRecord, Queue, Resolution};
use longshore_domain::job::Priority;
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::{
    DeadLetterQueues, DeadLetterRecords, Page, PortResult, QueueDepth, Queues, Received, RedriveToSource,
};
use longshore_testing::MemoryQueues;

use super::{Stepwise, same};
use crate::clock::Step;
use crate::faults::{Fault, after, again, before, is_stale};
use crate::unguarded::Unguarded;

thread_local! {
    /// Number of chunk messages by priority, now and a while ago.
    static DEPTHS: Cell<[[u64; 3]; 2]> = const { Cell::new([[0; 3]; 2]) };
}

/// Resets the depths at the beginning of a run: no queue has had any messages.
pub(crate) fn begin() {
    DEPTHS.set([[0; 3]; 2]);
}

/// Number of chunk messages of this priority, now or a while ago.
pub(crate) fn depth(priority: Priority, stale: bool) -> u64 {
    DEPTHS.get()[usize::from(stale)][place(priority)]
}

fn place(priority: Priority) -> usize {
    Priority::ALL.iter().position(|other| *other == priority).unwrap_or(0)
}

/// Records the number of chunk messages that are queued with these priorities. The older number is the previous one,
/// unless `keeps_older`.
pub(crate) fn set_depths(queued: impl Iterator<Item = Priority>, keeps_older: bool) {
    let mut depths = [0; 3];
    queued.for_each(|priority| depths[place(priority)] += 1);
    let [before, older] = DEPTHS.get();
    if depths != before {
        DEPTHS.set([depths, if keeps_older { older } else { before }]);
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
    /// An approximate number, some seconds old.
    async fn chunks(&self, priority: Priority) -> PortResult<u64> {
        before("backlog").await?;
        let depth = depth(priority, is_stale());
        Step(false).await;
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
        async fn show(&self, dead_letters: &[&Received]) -> PortResult<()>;
    }
}

impl<T: RedriveToSource> RedriveToSource for Stepwise<T> {
    stepwise! {
        async fn redrive_to_source(&self, dead_letter: &DeadLetterRecord, body: &str) -> PortResult<()>;
    }
}
