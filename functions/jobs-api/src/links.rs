//! Port that signs links to a report's files. It allows tests of the router without signing keys.

use std::future::Future;

use longshore::files::{MemoryFiles, S3Files};
use longshore_domain::ports::PortResult;

/// Signs download links.
pub trait DownloadUrls: Send + Sync {
    /// Returns a URL with which a browser saves the file as `file_name`, valid for `seconds`. Makes no network call.
    fn download_url(&self, key: &str, file_name: &str, seconds: u64)
    -> impl Future<Output = PortResult<String>> + Send;
}

impl DownloadUrls for S3Files {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        self.presign_get(key, file_name, seconds).await
    }
}

/// For tests: the URLs serve no file.
impl DownloadUrls for MemoryFiles {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        Ok(format!("memory:{key}?as={file_name}&for={seconds}"))
    }
}
