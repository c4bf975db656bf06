//! A stream of any length is split in bounded memory, also for a job type whose messages contain their rows.

#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod support {
    pub(crate) mod memory;
}

use create_job::{SplitEnd, Splitter};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, WebhookMessage};
use longshore_domain::ports::{Definition, FileInfo, FileStream, Files, JobStore, PortResult, Queues, Read};
use longshore_domain::records::Format;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryStore, delegate_files};
use serde_json::json;
use support::memory::{Small, peak};

/// Bytes of the source.
const SIZE: u64 = 100 << 20;

/// Bytes of a row and of a block: rows do not cross block boundaries.
const ROW: usize = 1 << 10;

/// A source that is generated while it is read.
#[derive(Clone, Default)]
struct Generated(MemoryFiles);

/// Remaining bytes of the source.
struct Rows(u64);

impl FileStream for Rows {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        let mut block = vec![b'x'; ROW.min(self.0 as usize)];
        self.0 -= block.len() as u64;
        block.last_mut().into_iter().for_each(|last| *last = b'\n');
        Ok(Some(block).filter(|block| !block.is_empty()))
    }
}

impl Files for Generated {
    type Stream = Rows;

    delegate_files!(0: info read write remove remove_some);

    async fn open(&self, _: &str, _: Option<&str>, start: u64, end: Option<u64>) -> PortResult<Read<Rows>> {
        Ok(Read::Found(Rows(end.unwrap_or(SIZE) - start)))
    }
}

/// Queues that discard all messages.
#[derive(Clone)]
struct Discarding;

impl Queues for Discarding {
    async fn send_create(&self, _: &CreateMessage) -> PortResult<()> {
        Ok(())
    }

    async fn send_prepare(&self, _: &CreateMessage) -> PortResult<()> {
        Ok(())
    }

    async fn send_chunks(&self, messages: &[ChunkMessage], _: i32) -> PortResult<()> {
        for message in messages {
            let plan = &message.plan;
            let rows = message.inline.as_ref().map(String::len);
            assert_eq!(rows, Some((plan.end - plan.start) as usize), "the message contains its rows");
        }
        Ok(())
    }

    async fn send_complete(&self, _: &CompleteMessage) -> PortResult<()> {
        Ok(())
    }

    async fn send_webhooks(&self, _: &[WebhookMessage], _: i32) -> PortResult<()> {
        Ok(())
    }
}

#[tokio::test]
async fn a_hundred_megabytes_are_split_in_sixteen_megabytes_of_memory() {
    let source = SourceFile::new("k", FileInfo { size_bytes: SIZE, etag: "e".into() }, Format::Csv, "f.csv");
    let job = Job {
        source: Some(source.into()),
        ..Job::waiting(JobId::generate(), TenantId::from_static("default"), "small", Timestamp(0))
    };
    let store = MemoryStore::default();
    store.create_job(&job, &Definition::new(json!({})), None).await.unwrap();
    let ports = Ports { store: store.clone(), queues: Discarding, files: Generated::default() };
    let registry = Registry::default().with(Small);
    let splitter = Splitter { ports: &ports, registry: &registry, clock: || Timestamp(1) };
    let message = CreateMessage::new(&job);
    let before = peak();
    assert_eq!(splitter.split(&message, Timestamp(1_000)).await.unwrap(), SplitEnd::Ended);
    let grown = (peak() - before) >> 20;
    assert_eq!(store.job(job.job_id).await.unwrap().unwrap().split.item_count, (SIZE >> 10) - 1, "a header and rows");
    assert!(grown < 16, "{grown} MiB more");
}
