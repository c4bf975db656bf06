//! In-memory files that call a hook before every operation. The hook can refuse the operation, or act at that moment.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{
    FileInfo, FileStream, Files, MultipartFiles, MultipartOutcome, MultipartUpload, PortError, PortResult,
    PrefixRemoval, Read,
};
use longshore_testing::{MemoryFiles, MemoryStream};

/// A hook, called with an operation and its key before the operation. Returning false refuses the operation.
pub(crate) type Hook = Box<dyn FnMut(&str, &str) -> bool + Send>;

#[derive(Clone, Default)]
pub(crate) struct Hooked {
    pub(crate) inner: MemoryFiles,
    /// Number of further streams to the end of a file that end at their first byte, without an error.
    pub(crate) ends_early: Arc<AtomicUsize>,
    hook: Arc<Mutex<Option<Hook>>>,
}

impl Hooked {
    pub(crate) fn set(&self, hook: impl FnMut(&str, &str) -> bool + Send + 'static) {
        *self.hook.lock().unwrap() = Some(Box::new(hook));
    }

    pub(crate) fn clear(&self) {
        *self.hook.lock().unwrap() = None;
    }

    fn ask(&self, operation: &'static str, key: &str) -> PortResult<()> {
        // The hook is taken out while it runs, so that its own operations do not call it.
        let hook = self.hook.lock().unwrap().take();
        let Some(mut hook) = hook else { return Ok(()) };
        let allowed = hook(operation, key);
        *self.hook.lock().unwrap() = Some(hook);
        let refused = || PortError { service: "files", operation, source: "refused by the test".into() };
        if allowed { Ok(()) } else { Err(refused()) }
    }
}

pub(crate) struct HookedStream(MemoryStream, Hooked, String);

impl FileStream for HookedStream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        self.1.ask("next", &self.2)?;
        self.0.next().await
    }
}

impl Files for Hooked {
    type Stream = HookedStream;

    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        self.inner.info(key).await
    }

    async fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> PortResult<Read<HookedStream>> {
        self.ask("open", key)?;
        let ends_early =
            end.is_none() && self.ends_early.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1)).is_ok();
        let start = if ends_early { u64::MAX } else { start };
        Ok(match self.inner.open(key, etag, start, end).await? {
            Read::Found(stream) => Read::Found(HookedStream(stream, self.clone(), key.to_owned())),
            Read::Absent => Read::Absent,
            Read::Changed => Read::Changed,
        })
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        self.ask("read", key)?;
        self.inner.read(key, etag, plan).await
    }

    async fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> PortResult<()> {
        self.ask("write", key)?;
        self.inner.write(key, content_type, bytes).await
    }

    async fn remove(&self, key: &str) -> PortResult<()> {
        self.ask("remove", key)?;
        Files::remove(&self.inner, key).await
    }

    async fn remove_some(&self, prefix: &str) -> PortResult<PrefixRemoval> {
        self.ask("remove", prefix)?;
        self.inner.remove_some(prefix).await
    }
}

impl MultipartFiles for Hooked {
    async fn create_multipart(&self, key: &str, content_type: &str) -> PortResult<MultipartUpload> {
        self.ask("create_multipart", key)?;
        self.inner.create_multipart(key, content_type).await
    }

    async fn upload_part(&self, upload: &MultipartUpload, number: u32, bytes: Vec<u8>) -> PortResult<Option<String>> {
        self.ask("upload_part", &upload.key)?;
        self.inner.upload_part(upload, number, bytes).await
    }

    async fn copy_part(&self, upload: &MultipartUpload, number: u32, from: &str) -> PortResult<Option<String>> {
        self.ask("copy_part", from)?;
        self.inner.copy_part(upload, number, from).await
    }

    async fn complete_multipart(&self, upload: &MultipartUpload, etags: &[String]) -> PortResult<MultipartOutcome> {
        self.ask("complete_multipart", &upload.key)?;
        self.inner.complete_multipart(upload, etags).await
    }

    async fn abort_multipart(&self, upload: &MultipartUpload) {
        self.inner.abort_multipart(upload).await;
    }
}
