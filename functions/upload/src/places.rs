//! Where uploads are put: a port, so that the router is tested without keys.

use std::future::Future;

use longshore::files::{MemoryFiles, PutUrl, S3Files};
use longshore_domain::ports::{Files, PortResult, Upload};

/// Signs URLs for uploads, and sees whether one was used.
pub trait UploadPlaces: Send + Sync {
    /// A URL that takes exactly this upload once, within the next `seconds`. Makes no call.
    fn upload_url(&self, upload: &Upload, seconds: u64) -> impl Future<Output = PortResult<PutUrl>> + Send;
    /// Whether the file was put.
    fn is_received(&self, upload: &Upload) -> impl Future<Output = PortResult<bool>> + Send;
}

impl UploadPlaces for S3Files {
    async fn upload_url(&self, upload: &Upload, seconds: u64) -> PortResult<PutUrl> {
        self.presign_put(upload, seconds).await
    }

    /// HeadObject.
    async fn is_received(&self, upload: &Upload) -> PortResult<bool> {
        Ok(self.info(&upload.key).await?.is_some())
    }
}

/// For tests: nothing can be put there.
impl UploadPlaces for MemoryFiles {
    async fn upload_url(&self, upload: &Upload, seconds: u64) -> PortResult<PutUrl> {
        let checksum = upload.sha256.clone().map(|sha256| ("x-amz-checksum-sha256".to_owned(), sha256));
        let headers = [("content-type".to_owned(), upload.content_type.clone())].into_iter().chain(checksum);
        Ok(PutUrl { url: format!("memory:{}?for={seconds}", upload.key), headers: headers.collect() })
    }

    async fn is_received(&self, upload: &Upload) -> PortResult<bool> {
        Ok(self.get(&upload.key).is_some())
    }
}
