//! Removes the files of a job page by page, so that a call that dies half-way has still made progress.

use aws_sdk_s3::types::{Delete, ObjectIdentifier};
use longshore_domain::ports::PortResult;

use super::{S3Files, failed};

/// Error: S3 did not remove some files.
#[derive(Debug, thiserror::Error)]
#[error("S3 left {count} files of a page: {code}")]
struct Left {
    count: usize,
    code: String,
}

impl S3Files {
    /// Removes one page of up to 1,000 files: S3 lists and removes the same number at once. Returns true if there are
    /// more.
    ///
    /// An error of a single file fails the call; removed files stay removed, and the next call lists the others.
    pub(super) async fn remove_page(&self, prefix: &str) -> PortResult<bool> {
        let list = self.client.list_objects_v2().bucket(&self.bucket).prefix(prefix);
        let page = list.send().await.map_err(failed("remove_some"))?;
        let keys = page.contents().iter().filter_map(|object| object.key());
        let keys: Result<Vec<_>, _> = keys.map(|key| ObjectIdentifier::builder().key(key).build()).collect();
        let keys = keys.map_err(failed("remove_some"))?;
        if !keys.is_empty() {
            self.delete(keys).await?;
        }
        Ok(page.is_truncated().unwrap_or(false))
    }

    async fn delete(&self, keys: Vec<ObjectIdentifier>) -> PortResult<()> {
        let delete = Delete::builder().set_objects(Some(keys)).quiet(true).build().map_err(failed("remove_some"))?;
        let call = self.client.delete_objects().bucket(&self.bucket).delete(delete);
        let left = call.send().await.map_err(failed("remove_some"))?.errors.unwrap_or_default();
        match left.first() {
            None => Ok(()),
            Some(first) => {
                let code = first.code().unwrap_or_default().to_owned();
                Err(failed("remove_some")(Left { count: left.len(), code }))
            }
        }
    }
}
