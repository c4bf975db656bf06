//! Dead-letter queues, and the notes about their messages.

use longshore::queues::{DeadLetterQueues, PutBack, Received};
use longshore_domain::dead_letter::{DeadLetter, Queue, Settled};
use longshore_domain::ports::{DeadLetterNotes, Page, PortResult};

use super::{Stepwise, same};
use crate::weather::{Fault, after, again, before};

impl<T: DeadLetterNotes> DeadLetterNotes for Stepwise<T> {
    stepwise! {
        async fn note(&self, letter: &DeadLetter, body: Option<&str>) -> PortResult<()>;
        async fn letter(&self, id: &str) -> PortResult<Option<DeadLetter>>;
        async fn body(&self, letter: &DeadLetter) -> PortResult<Option<String>>;
        async fn letters(&self, behind: Option<&str>, limit: usize) -> PortResult<Page<DeadLetter>>;
        async fn settle(&self, id: &str, settled: &Settled) -> PortResult<Option<DeadLetter>>;
    }
}

impl<T: DeadLetterQueues> DeadLetterQueues for Stepwise<T> {
    stepwise! {
        async fn receive(&self, queue: Queue) -> PortResult<Vec<Received>>;
        async fn delete(&self, letter: &Received) -> PortResult<()>;
        async fn show(&self, letters: &[&Received]) -> PortResult<()>;
    }
}

impl<T: PutBack> PutBack for Stepwise<T> {
    stepwise! {
        async fn put_back(&self, letter: &DeadLetter, body: &str) -> PortResult<()>;
    }
}
