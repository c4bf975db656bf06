//! The split of a file, in turns and over broken streams.
//!
//! Turns: a splitter ends its turn after a short time, and its continuation resumes at its position. Faults of the
//! source's stream: the split continues from its position, and cuts the same chunks.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::Cell;
use std::iter;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use create_job::{SplitEnd, SplitError, Splitter};
use longshore::job_types::builtin;
use longshore::ports::Ports;
use longshore_domain::group::Manifest;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Priority, SourceFile};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, FileStream, Files, JobStore, Ledger, PortError, PortResult, Queues, Read};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore, MemoryStream, delegate_files};
use serde_json::json;

const KEY: &str = "uploads/default/file";

/// A waiting import of a file of these rows, over in-memory services.
async fn import_of(rows: impl Iterator<Item = String>, priority: Priority) -> (MemoryStore, MemoryFiles, Job) {
    let (store, files) = (MemoryStore::default(), MemoryFiles::default());
    files.put(KEY, iter::once("id,name\n".to_owned()).chain(rows).collect::<String>());
    let info = files.info(KEY).await.unwrap().unwrap();
    let source = SourceFile::new(KEY, info, Format::Csv, "file.csv");
    let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "import", Timestamp(0));
    let job = Job { source: Some(source.into()), priority, ..job };
    let options = json!({"dataset": "people", "key": "id", "mode": "validate"});
    store.create_job(&job, &Definition::new(options), None).await.unwrap();
    (store, files, job)
}

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(0) });

/// A clock that advances by a second with each read.
fn clock() -> Timestamp {
    Timestamp(CLOCK.replace(CLOCK.get() + 1_000))
}

/// Splits a file of several groups at this priority. Returns the number of deliveries, and the job.
async fn deliveries(priority: Priority) -> (usize, Job) {
    let rows = (1..=40_000).map(|n| format!("{n},name of row {n}\n"));
    let (store, files, job) = import_of(rows, priority).await;
    let queues = MemoryQueues::default();
    let ports = Ports { store: store.clone(), queues: queues.clone(), files };
    let registry = builtin(MemoryRecords::default(), MemoryFiles::default());
    let splitter = Splitter { ports: &ports, registry: &registry, clock };
    let create = CreateMessage::new(&job);
    queues.send_create(&create).await.unwrap();
    for delivery in 1..100 {
        let message = queues.take_creates().pop().unwrap();
        // The invocation has no deadline.
        if splitter.split(&message, Timestamp(i64::MAX)).await.unwrap() == SplitEnd::Ended {
            assert!(queues.take_chunks().iter().all(|sent| sent.message.priority == priority));
            return (delivery, store.job(job.job_id).await.unwrap().unwrap());
        }
    }
    panic!("the split does not end");
}

#[tokio::test]
async fn jobs_of_any_priority_are_split_in_turns_into_the_same_items() {
    for priority in Priority::ALL {
        let (deliveries, job) = deliveries(priority).await;
        assert_eq!((job.split.item_count, job.split.ended), (40_000, true), "{priority:?}");
        assert!(deliveries > 1, "{priority:?}: {deliveries} deliveries");
    }
}

/// Fault of the stream of rows.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Fault {
    /// The stream fails.
    Fails,
    /// The stream ends before the file does, without an error.
    EndsEarly,
    /// The object does not exist.
    Absent,
    /// The stream fails after the last byte, as the SDK does on a checksum mismatch.
    AtTheEnd,
}

/// Position of a stream's fault.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Position {
    AfterEachBlock,
    /// Before the first block, so that consecutive streams fail without progress.
    BeforeFirstBlock,
}

/// Files whose streams have a fault at this position, `faults` times in total.
#[derive(Clone)]
struct Breaking {
    inner: MemoryFiles,
    fault: Fault,
    faults: Arc<AtomicU32>,
    position: Position,
}

struct BreakingStream {
    inner: MemoryStream,
    fault: Fault,
    faults: Arc<AtomicU32>,
    /// True if the next read has a fault. `None` for a stream without a fault.
    is_due: Option<bool>,
}

fn interrupted() -> PortError {
    PortError { service: "files", operation: "read", source: "the stream was interrupted".into() }
}

impl FileStream for BreakingStream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        let left = |n: u32| n.checked_sub(1);
        if self.is_due == Some(true) && self.faults.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() {
            return match self.fault {
                Fault::EndsEarly => Ok(None),
                _ => Err(interrupted()),
            };
        }
        self.is_due = self.is_due.map(|_| self.fault != Fault::AtTheEnd);
        match self.inner.next().await? {
            None if self.fault == Fault::AtTheEnd
                && self.is_due.is_some()
                && self.faults.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() =>
            {
                Err(interrupted())
            }
            block => Ok(block),
        }
    }
}

impl Files for Breaking {
    type Stream = BreakingStream;

    delegate_files!(inner: info read write remove remove_some);

    async fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> PortResult<Read<BreakingStream>> {
        // The read of the header, which starts at the first byte, has no fault.
        let is_due = (start > 0).then_some(self.position == Position::BeforeFirstBlock);
        if is_due.is_some() && self.fault == Fault::Absent {
            return Ok(Read::Absent);
        }
        Ok(match self.inner.open(key, etag, start, end).await? {
            Read::Found(inner) => {
                Read::Found(BreakingStream { inner, fault: self.fault, faults: Arc::clone(&self.faults), is_due })
            }
            Read::Absent => Read::Absent,
            Read::Changed => Read::Changed,
        })
    }
}

/// Splits a file of 30,000 rows over such files, and again if that fails. Returns the first outcome, the job and the
/// manifests.
async fn split(fault: Fault, faults: u32, position: Position) -> (Result<SplitEnd, SplitError>, Job, Vec<Manifest>) {
    let rows = (1..=30_000).map(|n| format!("{n},\"line one\nof row {n}\"\n"));
    let (store, inner, job) = import_of(rows, Priority::default()).await;
    let files = Breaking { inner, fault, faults: Arc::new(AtomicU32::new(faults)), position };
    let ports = Ports { store: store.clone(), queues: MemoryQueues::default(), files };
    let registry = builtin(MemoryRecords::default(), MemoryFiles::default());
    let splitter = Splitter { ports: &ports, registry: &registry, clock: || Timestamp(1) };
    let message = CreateMessage::new(&job);
    let end = splitter.split(&message, Timestamp(1_000)).await;
    if end.is_err() {
        assert_eq!(splitter.split(&message, Timestamp(1_000)).await.unwrap(), SplitEnd::Ended);
    }
    let job = store.job(job.job_id).await.unwrap().unwrap();
    let mut manifests = Vec::new();
    for group in 0..job.split.groups {
        manifests.push(store.manifest(job.job_id, group).await.unwrap().unwrap());
    }
    (end, job, manifests)
}

#[tokio::test]
async fn a_stream_that_fails_or_ends_early_is_resumed_at_its_position() {
    let (end, job, expected) = split(Fault::Fails, 0, Position::AfterEachBlock).await;
    assert_eq!((end.unwrap(), job.split.item_count), (SplitEnd::Ended, 30_000));
    for fault in [Fault::Fails, Fault::EndsEarly] {
        for (faults, position) in
            [(1, Position::AfterEachBlock), (5, Position::AfterEachBlock), (3, Position::BeforeFirstBlock)]
        {
            let (end, job, manifests) = split(fault, faults, position).await;
            assert_eq!((end.unwrap(), job.split.item_count), (SplitEnd::Ended, 30_000), "{faults} faults");
            assert_eq!(manifests, expected, "{faults} faults");
        }
    }
}

#[tokio::test]
async fn a_stream_that_fails_repeatedly_fails_the_delivery_and_not_the_job() {
    for fault in [Fault::Fails, Fault::EndsEarly] {
        let (end, job, manifests) = split(fault, 4, Position::BeforeFirstBlock).await;
        assert!(matches!(end, Err(SplitError::Port(_))), "{end:?}");
        assert_eq!((job.split.item_count, job.split.ended), (30_000, true));
        assert_eq!(manifests.iter().map(Manifest::items).sum::<u64>(), 30_000);
    }
}

#[tokio::test]
async fn a_file_with_a_checksum_mismatch_fails_the_delivery() {
    let (end, job, _) = split(Fault::AtTheEnd, 1, Position::AfterEachBlock).await;
    assert!(matches!(end, Err(SplitError::Port(_))), "{end:?}");
    assert_eq!((job.split.item_count, job.split.ended), (30_000, true), "the next delivery reads the file again");
}

#[tokio::test]
async fn a_missing_source_stops_the_job() {
    let (end, job, _) = split(Fault::Absent, 0, Position::AfterEachBlock).await;
    assert_eq!(end.unwrap(), SplitEnd::Failed);
    assert_eq!(job.stop.unwrap().error.unwrap().code, "source_missing");
}
