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

/// Prefix of the keys of all files in the folders of jobs. Uploads have another one.
const JOB_FOLDERS: &str = "jobs/";

impl SourceFile {
    /// Returns the upload that the file came from: the last part of its key. `None` if the file is in its job's own
    /// folder.
    pub fn upload(&self) -> Option<FileGuid> {
        if self.is_in_job_folder() {
            return None;
        }
        FileGuid::parse(self.key.rsplit('/').next()?)
    }

    /// Returns true if the file is in the folder of its job: it has the items of the job's request, no other job uses
    /// it, and it is removed with the job.
    pub fn is_in_job_folder(&self) -> bool {
        self.key.starts_with(JOB_FOLDERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "0b3d3f5e-7d0c-4e34-9c6c-000000000001";

    #[test]
    fn only_a_file_outside_of_the_folders_of_jobs_is_an_upload() {
        let upload = FileGuid::parse(ID);
        for (key, is_in_job_folder, expected) in [
            (format!("uploads/acme/{ID}"), false, upload),
            (format!("jobs/acme/{ID}/source.jsonl"), true, None),
            (format!("jobs/acme/x/{ID}"), true, None),
            ("uploads/acme/people.csv".to_owned(), false, None),
            (String::new(), false, None),
        ] {
            let (etag, name) = (String::new(), String::new());
            let file = SourceFile { key, size_bytes: 1, etag, format: Format::JsonLines, name };
            assert_eq!((file.is_in_job_folder(), file.upload()), (is_in_job_folder, expected), "{}", file.key);
        }
    }
}
