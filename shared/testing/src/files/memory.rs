//! Files in memory, and the parts of unfinished uploads.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use longshore_domain::group::ChunkPlan;
use longshore_domain::ports::{FileInfo, FileStream, Files, PortError, PortResult, PrefixRemoval, Read};
use sha2::{Digest, Sha256};

use longshore::aws_limits::s3::check_key;

/// Bytes of a block of a stream: small, so that tests see many blocks, and odd, so that records cross their
/// boundaries.
const BLOCK_BYTES: usize = 8191;

/// Files in memory; clones share them.
#[derive(Clone, Debug, Default)]
pub struct MemoryFiles {
    files: Arc<Mutex<BTreeMap<String, MemoryFile>>>,
    pub(super) parts: MemoryParts,
}

/// A file, and its entity tag once it was requested.
#[derive(Clone, Debug)]
struct MemoryFile {
    bytes: Arc<[u8]>,
    etag: OnceLock<String>,
}

impl MemoryFile {
    fn etag(&self) -> &str {
        self.etag.get_or_init(|| etag(&self.bytes))
    }
}

impl MemoryFiles {
    /// Returns the bytes of a file.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.files().get(key).map(|file| file.bytes.to_vec())
    }

    /// Puts a file, overwriting one of the same name.
    pub fn put(&self, key: &str, bytes: impl Into<Vec<u8>>) {
        let file = MemoryFile { bytes: bytes.into().into(), etag: OnceLock::new() };
        self.files().insert(key.to_owned(), file);
    }

    /// Removes a file.
    pub fn remove(&self, key: &str) {
        self.files().remove(key);
    }

    /// Returns the names of all files, in order.
    pub fn keys(&self) -> Vec<String> {
        self.files().keys().cloned().collect()
    }

    fn files(&self) -> MutexGuard<'_, BTreeMap<String, MemoryFile>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files for MemoryFiles {
    type Stream = MemoryStream;

    async fn info(&self, key: &str) -> PortResult<Option<FileInfo>> {
        let info = |file: &MemoryFile| FileInfo { size_bytes: file.bytes.len() as u64, etag: file.etag().to_owned() };
        Ok(self.files().get(key).map(info))
    }

    async fn open(
        &self,
        key: &str,
        expected: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> PortResult<Read<MemoryStream>> {
        let files = self.files();
        let Some(file) = files.get(key) else {
            return Ok(Read::Absent);
        };
        if expected.is_some_and(|expected| expected != file.etag()) {
            return Ok(Read::Changed);
        }
        let bytes = Arc::clone(&file.bytes);
        let end = end.map_or(bytes.len(), |end| bytes.len().min(end as usize));
        let position = end.min(start as usize);
        Ok(Read::Found(MemoryStream { bytes, position, end }))
    }

    async fn read(&self, key: &str, etag: Option<&str>, plan: Option<&ChunkPlan>) -> PortResult<Read<Vec<u8>>> {
        let (start, end) = plan.map_or((0, None), |plan| (plan.start, Some(plan.end)));
        Ok(match self.open(key, etag, start, end).await? {
            Read::Found(stream) => Read::Found(stream.bytes[stream.position..stream.end].to_vec()),
            Read::Absent => Read::Absent,
            Read::Changed => Read::Changed,
        })
    }

    async fn write(&self, key: &str, _: &str, bytes: Vec<u8>) -> PortResult<()> {
        check_key(key).map_err(failed("write"))?;
        self.put(key, bytes);
        Ok(())
    }

    async fn remove(&self, key: &str) -> PortResult<()> {
        self.files().remove(key);
        Ok(())
    }

    async fn remove_some(&self, prefix: &str) -> PortResult<PrefixRemoval> {
        self.files().retain(|key, _| !key.starts_with(prefix));
        Ok(PrefixRemoval::Emptied)
    }
}

/// A file that is being read.
#[derive(Debug)]
pub struct MemoryStream {
    bytes: Arc<[u8]>,
    position: usize,
    end: usize,
}

impl FileStream for MemoryStream {
    async fn next(&mut self) -> PortResult<Option<Vec<u8>>> {
        let end = self.end.min(self.position + BLOCK_BYTES);
        let block = self.bytes[self.position..end].to_vec();
        self.position = end;
        Ok(Some(block).filter(|block| !block.is_empty()))
    }
}

/// The bytes of parts by their numbers.
pub(super) type Parts = BTreeMap<u32, Vec<u8>>;

/// Unfinished and completed uploads; clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct MemoryParts {
    unfinished: Arc<Mutex<BTreeMap<String, Parts>>>,
    completed: Arc<Mutex<BTreeMap<String, CompletedParts>>>,
}

/// A completed upload.
#[derive(Debug)]
pub(super) struct CompletedParts {
    etags: Vec<String>,
    /// True if a repeated call gets the same response as the first; false if it is answered as for a missing upload.
    answered_again: bool,
}

impl MemoryParts {
    pub(super) fn unfinished(&self) -> MutexGuard<'_, BTreeMap<String, Parts>> {
        self.unfinished.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn completed(&self) -> MutexGuard<'_, BTreeMap<String, CompletedParts>> {
        self.completed.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Records a completed upload. S3's documentation names `NoSuchUpload` as the response to the same call again,
    /// but does not guarantee it: <https://docs.aws.amazon.com/AmazonS3/latest/API/API_CompleteMultipartUpload.html>.
    /// S3 is also known to repeat its first response. Here every other upload does that.
    pub(super) fn complete(&self, id: &str, etags: &[String]) {
        let mut completed = self.completed();
        let answered_again = completed.len().is_multiple_of(2);
        completed.insert(id.to_owned(), CompletedParts { etags: etags.to_vec(), answered_again });
    }

    /// Returns true if a repeated completion of a finished upload gets its first response again.
    pub(super) fn is_completed_again(&self, id: &str, etags: &[String]) -> bool {
        self.completed().get(id).is_some_and(|parts| parts.answered_again && parts.etags == etags)
    }
}

pub(super) fn etag(bytes: &[u8]) -> String {
    let hash = Sha256::digest(bytes);
    let first = hash.iter().take(16).fold(0, |number, byte| number << 8 | u128::from(*byte));
    format!("\"{first:032x}\"")
}

/// Names the failed operation as the port does.
pub(super) fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "files", operation, source: source.into() }
}

/// Implements these operations of [`Files`] by the files in a field, for test files
/// that change only the other operations: `delegate_files!(inner: info write remove remove_some);`.
#[macro_export]
macro_rules! delegate_files {
    ($files:tt: $($operation:ident)+) => { $($crate::delegate_files!(@$operation $files);)+ };
    (@info $files:tt) => {
        async fn info(
            &self,
            key: &str,
        ) -> ::longshore_domain::ports::PortResult<Option<::longshore_domain::ports::FileInfo>> {
            ::longshore_domain::ports::Files::info(&self.$files, key).await
        }
    };
    (@open $files:tt) => {
        async fn open(
            &self,
            key: &str,
            etag: Option<&str>,
            start: u64,
            end: Option<u64>,
        ) -> ::longshore_domain::ports::PortResult<::longshore_domain::ports::Read<Self::Stream>> {
            ::longshore_domain::ports::Files::open(&self.$files, key, etag, start, end).await
        }
    };
    (@read $files:tt) => {
        async fn read(
            &self,
            key: &str,
            etag: Option<&str>,
            plan: Option<&::longshore_domain::group::ChunkPlan>,
        ) -> ::longshore_domain::ports::PortResult<::longshore_domain::ports::Read<Vec<u8>>> {
            ::longshore_domain::ports::Files::read(&self.$files, key, etag, plan).await
        }
    };
    (@write $files:tt) => {
        async fn write(
            &self,
            key: &str,
            content_type: &str,
            bytes: Vec<u8>,
        ) -> ::longshore_domain::ports::PortResult<()> {
            ::longshore_domain::ports::Files::write(&self.$files, key, content_type, bytes).await
        }
    };
    (@remove $files:tt) => {
        async fn remove(&self, key: &str) -> ::longshore_domain::ports::PortResult<()> {
            ::longshore_domain::ports::Files::remove(&self.$files, key).await
        }
    };
    (@remove_some $files:tt) => {
        async fn remove_some(
            &self,
            prefix: &str,
        ) -> ::longshore_domain::ports::PortResult<::longshore_domain::ports::PrefixRemoval> {
            ::longshore_domain::ports::Files::remove_some(&self.$files, prefix).await
        }
    };
}

/// Implements the multipart uploads of files whose parts are not needed: each upload is accepted and discarded.
#[macro_export]
macro_rules! discard_parts {
    ($files:ty) => {
        impl ::longshore_domain::ports::MultipartFiles for $files {
            async fn create_multipart(
                &self,
                key: &str,
                _: &str,
            ) -> ::longshore_domain::ports::PortResult<::longshore_domain::ports::MultipartUpload> {
                Ok(::longshore_domain::ports::MultipartUpload { key: key.to_owned(), id: key.to_owned() })
            }

            async fn upload_part(
                &self,
                _: &::longshore_domain::ports::MultipartUpload,
                number: u32,
                _: Vec<u8>,
            ) -> ::longshore_domain::ports::PortResult<Option<String>> {
                Ok(Some(number.to_string()))
            }

            async fn copy_part(
                &self,
                _: &::longshore_domain::ports::MultipartUpload,
                number: u32,
                _: &str,
            ) -> ::longshore_domain::ports::PortResult<Option<String>> {
                Ok(Some(number.to_string()))
            }

            async fn complete_multipart(
                &self,
                _: &::longshore_domain::ports::MultipartUpload,
                _: &[String],
            ) -> ::longshore_domain::ports::PortResult<::longshore_domain::ports::MultipartOutcome> {
                Ok(::longshore_domain::ports::MultipartOutcome::Completed)
            }

            async fn abort_multipart(&self, _: &::longshore_domain::ports::MultipartUpload) {}
        }
    };
}
