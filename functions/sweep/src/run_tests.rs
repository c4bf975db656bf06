//! A sweep over the ports in memory, by a clock that moves.

use std::cell::Cell;

use longshore::files::MemoryFiles;
use longshore::queues::MemoryQueues;
use longshore::store::memory::MemoryStore;
use longshore_domain::group::ChunkPlan;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Definition, JobStore};

use super::*;

const START: Timestamp = Timestamp(1_700_000_000_000);

thread_local! {
    static NOW: Cell<Timestamp> = const { Cell::new(START) };
}

/// A second passes with each look.
fn clock() -> Timestamp {
    NOW.set(NOW.get().plus_seconds(1));
    NOW.get()
}

/// More letters than there is time for.
struct Letters(ChunkMessage);

impl DeadLetters for Letters {
    async fn creates(&self) -> PortResult<Vec<DeadLetter<CreateMessage>>> {
        Ok(Vec::new())
    }

    async fn chunks(&self) -> PortResult<Vec<DeadLetter<ChunkMessage>>> {
        Ok((0..500).map(|_| Ok(self.0.clone())).collect())
    }
}

#[tokio::test]
async fn however_many_letters_there_are_every_job_is_looked_at() {
    let ports = Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
    let job = Job::waiting(JobId::generate(), "t", "import", START);
    let definition = Definition { options: serde_json::json!({}), columns: None };
    ports.store.create_job(&job, &definition, None).await.unwrap();
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false };
    let dead_letters = Letters(ChunkMessage::of(&job, (0, 1), &plan));
    let sweep = Sweep { ports, dead_letters, stall_s: 60, clock };
    let swept = sweep.run(START.plus_seconds(200)).await;
    assert_eq!((swept.jobs, swept.dead_letters), (1, 500));
}
