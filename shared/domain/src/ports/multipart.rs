//! Port for files that are assembled from parts, over several calls and invocations.

use std::future::Future;

use serde::{Deserialize, Serialize};

use super::PortResult;

/// A multipart upload in progress. Its file appears as a whole on completion.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct MultipartUpload {
    /// Key of the file.
    pub key: String,
    /// The bucket's id of the upload.
    pub id: String,
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
    /// Assembles the file from the parts with these entity tags, and replaces one of the same key. Returns false if the
    /// upload no longer exists, or if a part was replaced.
    fn complete_multipart(
        &self,
        upload: &MultipartUpload,
        etags: &[String],
    ) -> impl Future<Output = PortResult<bool>> + Send;
    /// Aborts an upload, best effort. Idempotent.
    fn abort_multipart(&self, upload: &MultipartUpload) -> impl Future<Output = ()> + Send;
}
