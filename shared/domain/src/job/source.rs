//! The file of a job.

use serde::{Deserialize, Serialize};

use crate::ids::FileGuid;
use crate::records::Format;

/// The file of a job, as it was when the job was created.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SourceFile {
    /// Object key.
    pub key: String,
    /// Size in bytes.
    pub size_bytes: u64,
    /// Entity tag: every read names it, so that a changed file fails the job.
    pub etag: String,
    /// Format of its records.
    pub format: Format,
    /// The client's name for the file.
    pub name: String,
}

impl SourceFile {
    /// Returns the upload that the file came from: the last part of its key.
    pub fn upload(&self) -> Option<FileGuid> {
        FileGuid::parse(self.key.rsplit('/').next()?)
    }
}
