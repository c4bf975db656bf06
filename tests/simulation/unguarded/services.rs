//! Queues and files with one of their conditions removed.

use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::group::ChunkPlan;
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, WebhookMessage};
use longshore_domain::ports::{
    FileInfo, Files, MultipartFiles, MultipartOutcome, MultipartUpload, PortResult, PrefixRemoval, Queues, Read,
    RedriveToSource,
};
use longshore_domain::work_file::{End, WorkFile};
use longshore_testing::{MemoryFiles, MemoryQueues};

use super::{NONCE, Unguarded, as_is, without};

impl Queues for Unguarded<MemoryQueues> {
    as_is! {
        async fn send_chunks(&self, messages: &[ChunkMessage], delay_s: i32) -> PortResult<()>;
        async fn send_webhooks(&self, messages: &[WebhookMessage], delay_s: i32) -> PortResult<()>;
    }

    async fn send_create(&self, message: &CreateMessage) -> PortResult<()> {
        self.forget_if_removed();
        self.0.send_create(message).await
    }

    async fn send_prepare(&self, message: &CreateMessage) -> PortResult<()> {
        self.forget_if_removed();
        self.0.send_prepare(message).await
    }

    async fn send_complete(&self, message: &CompleteMessage) -> PortResult<()> {
        self.forget_if_removed();
        self.0.send_complete(message).await
    }
}

impl RedriveToSource for Unguarded<MemoryQueues> {
    as_is! {
        async fn redrive_to_source(&self, dead_letter: &DeadLetterRecord, body: &str) -> PortResult<()>;
    }
}

impl Unguarded<MemoryQueues> {
    fn forget_if_removed(&self) {
        if without("deduplication") {
            self.0.forget_deduplication();
        }
    }
}

impl Files for Unguarded<MemoryFiles> {
    type Stream = <MemoryFiles as Files>::Stream;

    as_is! {
        async fn info(&self, key: &str) -> PortResult<Option<FileInfo>>;
        async fn open(&self, key: &str, etag: Option<&str>, start: u64, end: Option<u64>) -> PortResult<Read<Self::Stream>>;
        async fn remove_some(&self, prefix: &str) -> PortResult<PrefixRemoval>;
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        self.0.read(&stored_key(key), etag, plan).await
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        if key.contains("/versions/") && without("versions-stored-before-overwrites") {
            return Ok(());
        }
        self.0.write(&stored_key(key), content_type, work_file_as_written(key, bytes)).await
    }

    async fn remove(&self, key: &str) -> PortResult<()> {
        Files::remove(&self.0, key).await
    }
}

impl MultipartFiles for Unguarded<MemoryFiles> {
    as_is! {
        async fn create_multipart(&self, key: &str, content_type: &str) -> PortResult<MultipartUpload>;
        async fn upload_part(&self, upload: &MultipartUpload, number: u32, bytes: Vec<u8>) -> PortResult<Option<String>>;
        async fn copy_part(&self, upload: &MultipartUpload, number: u32, from: &str) -> PortResult<Option<String>>;
        async fn complete_multipart(&self, upload: &MultipartUpload, etags: &[String]) -> PortResult<MultipartOutcome>;
    }

    async fn abort_multipart(&self, upload: &MultipartUpload) {
        self.0.abort_multipart(upload).await;
    }
}

/// Returns a file as a worker without the removed guard writes it: without the items in gaps, or without the times of
/// deferred items.
fn work_file_as_written(key: &str, bytes: Vec<u8>) -> Vec<u8> {
    let (drops_gaps, drops_times) = (without("gaps-are-deferred"), without("items-wait-for-their-own-time"));
    if !key.contains("/chunks/") || !(drops_gaps || drops_times) {
        return bytes;
    }
    let Ok(mut file) = WorkFile::parse(&bytes) else { return bytes };
    if drops_gaps {
        // The reason of an item in a gap is one of the worker, such as "the handler has not answered for the item".
        let is_in_gap = |end: &End| matches!(end, End::Transient { reason, .. } if reason.starts_with("the handler"));
        file.entries.retain(|entry| !is_in_gap(&entry.end));
    }
    for entry in &mut file.entries {
        if let End::Transient { due, .. } = &mut entry.end {
            *due = due.filter(|_| !drops_times);
        }
    }
    file.to_bytes().unwrap_or(bytes)
}

/// The key under which a file is stored. If the condition is removed, a work file's key does not name its attempt.
pub(crate) fn stored_key(key: &str) -> String {
    match key.rsplit_once('/').filter(|(folder, _)| folder.contains("/chunks/") && without("attempt-in-names")) {
        Some((folder, name)) => format!("{folder}/{}", name.get(NONCE..).unwrap_or(name)),
        None => key.to_owned(),
    }
}
