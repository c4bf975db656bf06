//! Files that are put together of parts, over as many calls and invocations as it takes.

use std::future::Future;

use serde::{Deserialize, Serialize};

use super::PortResult;

/// An upload in parts that was begun. Its file appears as a whole when it is completed.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct MultipartUpload {
    /// Key of the file.
    pub key: String,
    /// The bucket's name for the upload.
    pub id: String,
}

/// Files that are written part by part. Several callers may write one upload: who puts the same bytes as the same part does
/// no harm.
pub trait MultipartFiles: Send + Sync {
    /// Begins an upload. One that is never completed is removed by the bucket after a day.
    fn create_multipart(
        &self,
        key: &str,
        content_type: &str,
    ) -> impl Future<Output = PortResult<MultipartUpload>> + Send;
    /// Puts a part, from 1 on, over one of the same number: its entity tag; `None` if there is no such upload any more. All
    /// parts but the last have at least 5 MiB.
    fn upload_part(
        &self,
        upload: &MultipartUpload,
        number: u32,
        bytes: Vec<u8>,
    ) -> impl Future<Output = PortResult<Option<String>>> + Send;
    /// Makes the file of the parts with these entity tags, over one of the same key; false if there is no such upload any
    /// more, or another part in place of one of these.
    fn complete_multipart(
        &self,
        upload: &MultipartUpload,
        etags: &[String],
    ) -> impl Future<Output = PortResult<bool>> + Send;
    /// Forgets an upload, as well as it can be done. Harmless twice.
    fn abort_multipart(&self, upload: &MultipartUpload) -> impl Future<Output = ()> + Send;
}
