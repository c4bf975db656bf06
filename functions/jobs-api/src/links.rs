//! Who signs the links to a report's files: a port, so that the router is tested without keys.

use std::future::Future;

use longshore::files::{MemoryFiles, S3Files};
use longshore_domain::ports::PortResult;

/// Signs links.
pub trait DownloadUrls: Send + Sync {
    /// A URL by which a browser saves the file under `file_name`, within the next `seconds`. Makes no call.
    fn download_url(&self, key: &str, file_name: &str, seconds: u64)
    -> impl Future<Output = PortResult<String>> + Send;
}

impl DownloadUrls for S3Files {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        self.presign_get(key, file_name, seconds).await
    }
}

/// For tests: nothing can be fetched there.
impl DownloadUrls for MemoryFiles {
    async fn download_url(&self, key: &str, file_name: &str, seconds: u64) -> PortResult<String> {
        Ok(format!("memory:{key}?as={file_name}&for={seconds}"))
    }
}
