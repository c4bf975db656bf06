//! A stream of the file that breaks: the split continues from its position, and cuts the same chunks.

#![allow(clippy::unwrap_used, reason = "a test's own step that fails ends the test")]

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use create_job::{SplitEnd, SplitError, Splitter};
use longshore::job_types::builtin;
use longshore::ports::Ports;
use longshore_domain::group::{ChunkPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Definition, FileInfo, FileStream, Files, JobStore, Ledger, PortError, PortResult, Read};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::time_stamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryQueues, MemoryRecords, MemoryStore, MemoryStream};
use serde_json::json;

const KEY: &str = "uploads/default/file";

/// Fault of the stream of rows.
#[derive(Copy, Clone, Eq, PartialEq)]
enum Fault {
    /// The stream fails.
    Breaks,
    /// The stream ends before the file does, without an error.
    EndsEarly,
    /// The object is absent.
    Absent,
    /// The stream fails after the last byte, as the SDK does on a checksum mismatch.
    AtTheEnd,
}

/// Files whose streams have a fault after each block, `breaks` times in total; with `in_a_row` also without a block in
/// between.
#[derive(Clone)]
struct Breaking {
    inner: MemoryFiles,
    fault: Fault,
    breaks: Arc<AtomicU32>,
    in_a_row: bool,
}

struct BreakingStream {
    inner: MemoryStream,
    fault: Fault,
    breaks: Arc<AtomicU32>,
    /// `None` for a stream without a fault.
    due: Option<bool>,
}

fn broken_off() -> PortError {
    PortError { service: "files", operation: "read", source: "it broke off".into() }
}

impl FileStream for BreakingStream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        let left = |n: u32| n.checked_sub(1);
        if self.due == Some(true) && self.breaks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() {
            return match self.fault {
                Fault::EndsEarly => Ok(None),
                _ => Err(broken_off()),
            };
        }
        self.due = self.due.map(|_| self.fault != Fault::AtTheEnd);
        match self.inner.next().await? {
            None if self.fault == Fault::AtTheEnd
                && self.due.is_some()
                && self.breaks.fetch_update(Ordering::SeqCst, Ordering::SeqCst, left).is_ok() =>
            {
                Err(broken_off())
            }
            block => Ok(block),
        }
    }
}

impl Files for Breaking {
    type Stream = BreakingStream;

    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        self.inner.info(key).await
    }

    async fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> PortResult<Read<BreakingStream>> {
        // The read of the header, which starts at the first byte, is not affected here.
        let due = (start > 0).then_some(self.in_a_row);
        if due.is_some() && self.fault == Fault::Absent {
            return Ok(Read::Absent);
        }
        Ok(match self.inner.open(key, etag, start, end).await? {
            Read::Found(inner) => {
                Read::Found(BreakingStream { inner, fault: self.fault, breaks: Arc::clone(&self.breaks), due })
            }
            Read::Absent => Read::Absent,
            Read::Changed => Read::Changed,
        })
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        self.inner.read(key, etag, plan).await
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        self.inner.write(key, content_type, bytes).await
    }

    async fn remove(&self, key: &str) -> PortResult<()> {
        Files::remove(&self.inner, key).await
    }

    async fn remove_some(&self, prefix: &str) -> PortResult<bool> {
        self.inner.remove_some(prefix).await
    }
}

/// Splits a file of 30,000 rows over such files, and once more if that fails. Returns the first outcome, the job and
/// the manifests.
async fn split(fault: Fault, breaks: u32, in_a_row: bool) -> (Result<SplitEnd, SplitError>, Job, Vec<Manifest>) {
    let inner = MemoryFiles::default();
    let rows = (1..=30_000).map(|n| format!("{n},\"line one\nof row {n}\"\n"));
    inner.put(KEY, std::iter::once("id,name\n".to_owned()).chain(rows).collect::<String>());
    let info = inner.info(KEY).await.unwrap().unwrap();
    let source = SourceFile {
        key: KEY.into(),
        size_bytes: info.size_bytes,
        etag: info.etag,
        format: Format::Csv,
        name: "file.csv".into(),
    };
    let job = Job {
        source: Some(source),
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "import", Timestamp(0))
    };
    let options = json!({"dataset": "people", "key": "id", "mode": "validate"});
    let store = MemoryStore::default();
    store.create_job(&job, &Definition { options, columns: None }, None).await.unwrap();
    let files = Breaking { inner, fault, breaks: Arc::new(AtomicU32::new(breaks)), in_a_row };
    let ports = Ports { store: store.clone(), queues: MemoryQueues::default(), files };
    let registry = builtin(MemoryRecords::default());
    let splitter = Splitter { ports: &ports, registry: &registry, clock: || Timestamp(1) };
    let message =
        CreateMessage { tenant: None, job_id: job.job_id, generation: 0, position: 0, resend: 0, failures: 0 };
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
async fn a_stream_that_breaks_off_or_ends_early_is_begun_again_from_where_it_was() {
    let (end, whole, expected) = split(Fault::Breaks, 0, false).await;
    assert_eq!((end.unwrap(), whole.split.item_count), (SplitEnd::Ended, 30_000));
    for fault in [Fault::Breaks, Fault::EndsEarly] {
        for (breaks, in_a_row) in [(1, false), (5, false), (3, true)] {
            let (end, job, manifests) = split(fault, breaks, in_a_row).await;
            assert_eq!((end.unwrap(), job.split.item_count), (SplitEnd::Ended, 30_000), "{breaks} breaks");
            assert_eq!(manifests, expected, "{breaks} breaks");
        }
    }
}

#[tokio::test]
async fn a_stream_that_breaks_off_again_and_again_fails_the_delivery_and_not_the_job() {
    for fault in [Fault::Breaks, Fault::EndsEarly] {
        let (end, job, manifests) = split(fault, 4, true).await;
        assert!(matches!(end, Err(SplitError::Port(_))), "{end:?}");
        assert_eq!((job.split.item_count, job.split.ended), (30_000, true));
        assert_eq!(manifests.iter().map(Manifest::items).sum::<u64>(), 30_000);
    }
}

#[tokio::test]
async fn bytes_that_fail_their_checksum_are_not_taken_for_the_file() {
    let (end, job, _) = split(Fault::AtTheEnd, 1, false).await;
    assert!(matches!(end, Err(SplitError::Port(_))), "{end:?}");
    assert_eq!((job.split.item_count, job.split.ended), (30_000, true), "the next delivery reads the file again");
}

#[tokio::test]
async fn an_absent_source_is_reported_as_missing() {
    let (end, job, _) = split(Fault::Absent, 0, false).await;
    assert_eq!(end.unwrap(), SplitEnd::Failed);
    assert_eq!(job.stop.unwrap().error.unwrap().code, "source_missing");
}
