//! Who signs URLs: a port, so that the router is tested without keys.

use std::future::Future;

use longshore::files::{PutUrl, S3Files};
use longshore_domain::ports::{PortResult, Upload};

/// Signs URLs for uploads.
pub trait UploadUrls: Send + Sync {
    /// A URL that takes exactly this upload once, within the next `seconds`; `sha256` in base64. Makes no call.
    fn upload_url(
        &self,
        upload: &Upload,
        sha256: Option<&str>,
        seconds: u64,
    ) -> impl Future<Output = PortResult<PutUrl>> + Send;
}

impl UploadUrls for S3Files {
    async fn upload_url(&self, upload: &Upload, sha256: Option<&str>, seconds: u64) -> PortResult<PutUrl> {
        self.presign_put(upload, sha256, seconds).await
    }
}
