//! Memory of a sweep while it reads many large dead letters. The test has its own process, because the peak is measured
//! per process.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::sync::atomic::{AtomicUsize, Ordering};

use longshore_domain::dead_letter::Queue;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{DeadLetterQueues, DeadLetters, PortResult, Received};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::MemoryStore;

const NOW: Timestamp = Timestamp(1_700_000_000_000);
const DEAD_LETTERS: usize = 200;
const ROWS_BYTES: usize = 300 * 1024;

/// Peak memory of this process, in KiB: `VmHWM` of proc(5).
fn peak_kib() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// Dead letters that are generated when they are received, so that only the sweep holds them.
struct Large(AtomicUsize);

impl DeadLetterQueues for Large {
    async fn receive(&self, queue: Queue) -> PortResult<Vec<Received>> {
        if queue != Queue::Chunk {
            return Ok(Vec::new());
        }
        let first = self.0.fetch_add(BATCH, Ordering::Relaxed);
        Ok((first..DEAD_LETTERS.min(first + BATCH)).map(dead_letter).collect())
    }

    async fn delete(&self, _: &Received) -> PortResult<()> {
        Ok(())
    }

    async fn make_visible(&self, _: &[&Received]) -> PortResult<()> {
        Ok(())
    }
}

/// Messages in one receive.
const BATCH: usize = 10;

fn dead_letter(n: usize) -> Received {
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false, keys: None };
    let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", NOW);
    let message =
        ChunkMessage { inline: Some("x".repeat(ROWS_BYTES)), ..ChunkMessage::new(&job, ChunkId::new(0, 1), &plan) };
    Received {
        queue: Queue::Chunk,
        message_id: format!("m{n}"),
        body: serde_json::to_string(&message).unwrap(),
        sent_at: NOW,
        receives: 6,
        source: None,
        group_id: None,
        handle: "h".repeat(400),
    }
}

#[tokio::test]
async fn many_large_dead_letters_are_read_in_a_quarter_of_the_functions_memory() {
    let (store, queues) = (MemoryStore::default(), Large(AtomicUsize::new(0)));
    let before = peak_kib();
    let open = sweep::read_dead_letters(&store, &queues, NOW, &|| true).await;
    let chunks = open.chunks().await.unwrap();
    assert_eq!(chunks.len(), DEAD_LETTERS);
    let more = peak_kib() - before;
    assert!(more < 64 << 10, "{} MiB", more >> 10);
}
