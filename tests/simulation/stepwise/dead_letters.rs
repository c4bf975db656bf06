//! Dead-letter queues, and the dead-letter records.

use longshore_domain::dead_letter::{DeadLetterRecord, Queue, Resolution};
use longshore_domain::ports::{DeadLetterQueues, DeadLetterRecords, Page, PortResult, Received, RedriveToSource};

use super::{Stepwise, same};
use crate::faults::{Fault, after, again, before};

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
