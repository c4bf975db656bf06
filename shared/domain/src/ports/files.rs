//! Storage of sources, work files and reports: files as a whole, and files that are assembled from parts over several
//! calls and invocations.

use std::future::Future;

use serde::{Deserialize, Serialize};

use super::PortResult;
use crate::group::ChunkPlan;

/// Metadata of an object.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct FileInfo {
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag.
    pub etag: String,
}

/// The outcome of a conditional read.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Read<T> {
    /// The object, or its stream.
    Found(T),
    /// The object does not exist.
    Absent,
    /// The object has another entity tag.
    Changed,
}

/// A file that is being streamed in.
pub trait FileStream: Send {
    /// Returns the next block; `None` at the end.
    fn next(&mut self) -> impl Future<Output = PortResult<Option<Vec<u8>>>> + Send;
}

/// The outcome of removing a page of files.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum PrefixRemoval {
    /// No file with the prefix is left.
    Emptied,
    /// There can be more files with the prefix.
    MoreLeft,
}

/// Storage of sources, work files and reports.
pub trait Files: Send + Sync {
    /// The stream of a file.
    type Stream: FileStream;
    /// Reads a file's metadata; `None` if the file does not exist.
    fn info(&self, key: &str) -> impl Future<Output = PortResult<Option<FileInfo>>> + Send;
    /// Streams a file from byte `start` to `end` (exclusive), or to its end. Refuses a file with another entity tag
    /// than `etag`.
    fn open(
        &self,
        key: &str,
        etag: Option<&str>,
        start: u64,
        end: Option<u64>,
    ) -> impl Future<Output = PortResult<Read<Self::Stream>>> + Send;
    /// Reads a small file, or the range of a chunk, as a whole.
    fn read(
        &self,
        key: &str,
        etag: Option<&str>,
        plan: Option<&ChunkPlan>,
    ) -> impl Future<Output = PortResult<Read<Vec<u8>>>> + Send;
    /// Writes a small file; replaces one of the same name.
    fn write(&self, key: &str, content_type: &str, bytes: Vec<u8>) -> impl Future<Output = PortResult<()>> + Send;
    /// Removes a file. Idempotent.
    fn remove(&self, key: &str) -> impl Future<Output = PortResult<()>> + Send;
    /// Removes up to a thousand files with this key prefix.
    fn remove_some(&self, prefix: &str) -> impl Future<Output = PortResult<PrefixRemoval>> + Send;
}

/// A multipart upload in progress. Its file appears as a whole on completion.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct MultipartUpload {
    /// Key of the file.
    pub key: String,
    /// The bucket's id of the upload.
    pub id: String,
}

/// The outcome of completing a multipart upload.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum MultipartOutcome {
    /// The file exists.
    Completed,
    /// The upload no longer exists, or the file already exists: another call is completing or has completed it, or it
    /// was removed.
    Gone,
    /// A part differs from the listed one: it was uploaded again meanwhile, or another call completed the upload.
    Changed,
}

/// Files that are written part by part. Several callers may write one upload: writing the same bytes as the same part
/// is harmless.
pub trait MultipartFiles: Send + Sync {
    /// Begins an upload. The bucket removes it after a day unless it is completed.
    fn create_multipart(
        &self,
        key: &str,
        content_type: &str,
    ) -> impl Future<Output = PortResult<MultipartUpload>> + Send;
    /// Uploads a part, numbered from 1, and replaces one of the same number. Returns its entity tag; `None` if the
    /// upload no longer exists. All parts except the last have at least 5 MiB.
    fn upload_part(
        &self,
        upload: &MultipartUpload,
        number: u32,
        bytes: Vec<u8>,
    ) -> impl Future<Output = PortResult<Option<String>>> + Send;
    /// Copies a whole file as a part, without reading it, and replaces one of the same number. Returns its entity tag;
    /// `None` if the upload no longer exists. A missing file is an error. The file has at least 5 MiB, and at most
    /// 5 GiB.
    fn copy_part(
        &self,
        upload: &MultipartUpload,
        number: u32,
        from: &str,
    ) -> impl Future<Output = PortResult<Option<String>>> + Send;
    /// Assembles the file from the parts with these entity tags, and replaces one of the same key.
    fn complete_multipart(
        &self,
        upload: &MultipartUpload,
        etags: &[String],
    ) -> impl Future<Output = PortResult<MultipartOutcome>> + Send;
    /// Aborts an upload, best effort. Idempotent.
    fn abort_multipart(&self, upload: &MultipartUpload) -> impl Future<Output = ()> + Send;
}
