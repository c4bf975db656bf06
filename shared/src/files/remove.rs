//! Removes the files of a job page by page, so that an interrupted call has still made progress.

use aws_sdk_s3::types::{Delete, ObjectIdentifier};
use longshore_domain::ports::{PortResult, PrefixRemoval};

use super::{S3Files, failed};

/// Error of files that S3 did not remove.
#[derive(Debug, thiserror::Error)]
#[error("S3 did not remove {count} files of a page: {code}")]
struct NotRemoved {
    count: usize,
    code: String,
}

impl S3Files {
    /// Removes one page of up to 1,000 files: S3 lists and removes the same number at once.
    ///
    /// An error of a single file fails the call; removed files stay removed, and the next call lists the others.
    pub(super) async fn remove_page(&self, prefix: &str) -> PortResult<PrefixRemoval> {
        let list = self.client.list_objects_v2().bucket(&self.bucket).prefix(prefix);
        let page = list.send().await.map_err(failed("remove_some"))?;
        let keys = page.contents().iter().filter_map(|object| object.key());
        let keys: Result<Vec<_>, _> = keys.map(|key| ObjectIdentifier::builder().key(key).build()).collect();
        let keys = keys.map_err(failed("remove_some"))?;
        if !keys.is_empty() {
            self.delete(keys).await?;
        }
        Ok(if page.is_truncated().unwrap_or(false) { PrefixRemoval::MoreLeft } else { PrefixRemoval::Emptied })
    }

    async fn delete(&self, keys: Vec<ObjectIdentifier>) -> PortResult<()> {
        let delete = Delete::builder().set_objects(Some(keys)).quiet(true).build().map_err(failed("remove_some"))?;
        let call = self.client.delete_objects().bucket(&self.bucket).delete(delete);
        let errors = call.send().await.map_err(failed("remove_some"))?.errors.unwrap_or_default();
        match errors.first() {
            None => Ok(()),
            Some(first) => {
                let code = first.code().unwrap_or_default().to_owned();
                Err(failed("remove_some")(NotRemoved { count: errors.len(), code }))
            }
        }
    }
}
