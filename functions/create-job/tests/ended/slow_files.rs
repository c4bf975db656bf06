//! In-memory files with slow reads, and the clock that the reads advance.

use std::cell::Cell;

use futures::FutureExt;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{FileInfo, Files, PortResult, PrefixRemoval, Read};
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{MemoryFiles, MemoryStream};

/// Duration of reading a file, in milliseconds.
pub(crate) const READ_MS: i64 = 20;

thread_local!(static CLOCK: Cell<i64> = const { Cell::new(0) });

pub(super) fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// Returns the result of a call that never waits.
pub(super) fn now<T>(call: impl Future<Output = T>) -> T {
    call.now_or_never().unwrap()
}

/// Files with slow reads.
#[derive(Clone, Default)]
pub(crate) struct SlowFiles(pub(crate) MemoryFiles);

impl Files for SlowFiles {
    type Stream = MemoryStream;

    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        self.0.info(key).await
    }

    async fn open(&self, key: &str, etag: Option<&str>, from: u64, to: Option<u64>) -> PortResult<Read<MemoryStream>> {
        self.0.open(key, etag, from, to).await
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        CLOCK.set(CLOCK.get() + READ_MS);
        self.0.read(key, etag, plan).await
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        self.0.write(key, content_type, bytes).await
    }

    async fn remove(&self, key: &str) -> PortResult<()> {
        Files::remove(&self.0, key).await
    }

    async fn remove_some(&self, prefix: &str) -> PortResult<PrefixRemoval> {
        self.0.remove_some(prefix).await
    }
}
