//! Chains of any length: the number of sequential reads, and the memory that is used.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use longshore_domain::ids::JobId;
use longshore_domain::ports::PortResult;
use longshore_domain::tenant::TenantId;

use super::*;
use longshore_testing::{MemoryFiles, MemoryStream, delegate_files};

/// Files with slow reads. Counts the reads that began while no other one was in progress.
#[derive(Clone, Default)]
struct Slow {
    inner: MemoryFiles,
    reading: Arc<AtomicUsize>,
    reads: Arc<AtomicUsize>,
    in_a_row: Arc<AtomicUsize>,
}

impl Files for Slow {
    type Stream = MemoryStream;

    delegate_files!(inner: info open write remove remove_some);

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        self.reads.fetch_add(1, Relaxed);
        if self.reading.fetch_add(1, Relaxed) == 0 {
            self.in_a_row.fetch_add(1, Relaxed);
        }
        tokio::task::yield_now().await;
        self.reading.fetch_sub(1, Relaxed);
        self.inner.read(key, etag, plan).await
    }
}

struct Chain {
    files: Slow,
    id: JobId,
}

static TENANT: TenantId = TenantId::from_static("t");

impl Chain {
    fn new() -> Self {
        Self { files: Slow::default(), id: JobId::generate() }
    }

    fn folder(&self) -> ChunkFolder<'_> {
        JobFolder { tenant: &TENANT, id: self.id }.chunk(ChunkId::default())
    }

    /// Writes file n, in which item n has failed and `deferred` items wait for the next round.
    fn put(&self, n: u64, header: &WorkFileHeader, deferred: u64) {
        let failed = End::Failed(longshore_domain::outcome::Rejection::new("bad", None, "no"));
        let waits = || End::Transient { attempts: 0, reason: "busy".into(), due: None };
        let entry = |n, end| Entry { n, end, raw: String::new(), damaged: false };
        let deferred = (1..=deferred).map(|i| entry(10_000 + i, waits()));
        let entries = std::iter::once(entry(n, failed)).chain(deferred).collect();
        let bytes = WorkFile { header: header.clone(), entries }.to_bytes().unwrap();
        self.files.inner.put(&self.folder().work_key(&n.to_string()), bytes);
    }

    async fn read(&self, last: u64, from_round: u32) -> Vec<WorkFile> {
        read_chain(&self.files, self.folder(), Some(&last.to_string()), from_round).await.unwrap()
    }
}

fn numbers(chain: &[WorkFile]) -> Vec<u64> {
    chain.iter().map(|file| file.entries[0].n).collect()
}

#[tokio::test]
async fn a_long_chain_is_read_concurrently_and_returned_in_order() {
    let chain = Chain::new();
    let mut header = WorkFileHeader::default();
    for n in 1..=6_000 {
        chain.put(n, &header, 0);
        header = WorkFileHeader::following(0, Some(n.to_string()), Some(&header));
    }
    assert_eq!(numbers(&chain.read(6_000, 0).await), (1..=6_000).rev().collect::<Vec<_>>());
    let (reads, in_a_row) = (chain.files.reads.load(Relaxed), chain.files.in_a_row.load(Relaxed));
    assert_eq!(reads, 6_000, "each file is read once");
    assert!(in_a_row <= 6_000 / CHAIN_READS + 200, "{in_a_row} reads follow one another");
}

/// The order is that of the predecessors in the headers, regardless of the hints.
#[tokio::test]
async fn a_wrong_hint_has_no_effect() {
    let chain = Chain::new();
    let after = |n: u64, before: &[u64]| WorkFileHeader {
        prev: Some((n - 1).to_string()),
        before: before.iter().map(u64::to_string).collect(),
        ..WorkFileHeader::default()
    };
    chain.put(1, &WorkFileHeader::default(), 0);
    chain.put(2, &after(2, &[]), 0);
    chain.put(3, &after(3, &[2, 1]), 0);
    chain.put(4, &after(4, &[1, 2]), 0);
    assert_eq!(numbers(&chain.read(4, 0).await), [4, 3, 2, 1]);
}

#[tokio::test]
async fn deferred_items_are_returned_only_for_the_last_two_rounds() {
    let chain = Chain::new();
    let mut header = WorkFileHeader::default();
    for n in 1..=200 {
        chain.put(n, &header, 50);
        header = WorkFileHeader::following(u32::try_from(n).unwrap(), Some(n.to_string()), Some(&header));
    }
    let read = chain.read(200, 0).await;
    assert_eq!(numbers(&read), (1..=200).rev().collect::<Vec<_>>());
    let entries: usize = read.iter().map(|file| file.entries.len()).sum();
    assert_eq!(entries, 200 + 2 * 50);
    assert_eq!((deferred_in(&read, 199).len(), deferred_in(&read, 198).len()), (50, 50));
    assert_eq!(numbers(&chain.read(200, 198).await), [200, 199]);
}
