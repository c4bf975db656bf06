//! The source of a job's items: a file, the records of a dataset, or a part of another job.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::{Job, Original, PartSource};
use crate::dataset::Dataset;
use crate::group::ChunkPlan;
use crate::ids::{FileGuid, JobId};
use crate::ports::FileInfo;
use crate::records::{Cutter, Format, Reading, Span};
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;

/// The source of a job's items. A file is stored as it was before there were other sources.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Source {
    /// The records of a file.
    File(SourceFile),
    /// The records of a dataset.
    Dataset(DatasetSource),
    /// A part of another job.
    Job(PartSource),
}

/// The records of a dataset, in the order of their keys.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DatasetSource {
    /// Name of the dataset, which belongs to the job's tenant.
    pub dataset: String,
    /// Only records that were written at this time or later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated_since: Option<Timestamp>,
}

/// A file with the items of a group of a job without a file: the keys of a dataset as JSON Lines, or records of a part
/// of another job in their format. It is written once. Only the transaction that commits a group names it, so the file
/// of another attempt is never read.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct ItemFile {
    /// Unique name within the job's folder.
    pub name: String,
    /// Entity tag: every read names it.
    pub etag: String,
}

impl ItemFile {
    /// Returns the object key of the file of this name.
    pub fn object_key(tenant: &TenantId, id: JobId, name: &str) -> String {
        format!("{JOB_FOLDERS}{tenant}/{id}/keys/{name}.jsonl")
    }
}

impl From<SourceFile> for Source {
    fn from(file: SourceFile) -> Self {
        Self::File(file)
    }
}

impl Source {
    /// Returns the file; `None` for another source.
    pub const fn file(&self) -> Option<&SourceFile> {
        if let Self::File(file) = self { Some(file) } else { None }
    }

    /// Returns the name for people: that of the file, of the dataset, or of the part's records.
    pub fn name(&self) -> &str {
        match self {
            Self::File(file) => &file.name,
            Self::Dataset(source) => &source.dataset,
            Self::Job(source) => &source.name,
        }
    }
}

impl Job {
    /// Sets the source of a new job. Without a file, it cannot be undone: the items of an undo are those of a file.
    pub fn set_source(&mut self, source: Option<Source>) {
        self.source = source;
        self.undo.undoable &= self.file().is_some();
    }

    /// Returns the job's file; `None` for a job with another source, or with none.
    pub fn file(&self) -> Option<&SourceFile> {
        self.source.as_ref().and_then(Source::file)
    }

    /// Returns the dataset whose records are the items; `None` for a job with another source, or with none.
    pub fn dataset(&self) -> Option<Dataset> {
        let Some(Source::Dataset(DatasetSource { dataset, .. })) = &self.source else { return None };
        Some(Dataset { tenant: self.tenant.clone(), name: dataset.clone() })
    }

    /// Returns the part of another job whose items are this job's; `None` for a job with another source, or with none.
    pub const fn part(&self) -> Option<&PartSource> {
        if let Some(Source::Job(source)) = &self.source { Some(source) } else { None }
    }

    /// Returns the format of the records that are the items. `None` if an item is the options or a key of a dataset.
    pub const fn record_format(&self) -> Option<Format> {
        match &self.source {
            Some(Source::File(file)) => Some(file.format),
            Some(Source::Job(source)) => Some(source.format),
            Some(Source::Dataset(_)) | None => None,
        }
    }

    /// Returns true if the splitter writes the items into item files, so that their number is unknown until its end.
    pub const fn has_item_files(&self) -> bool {
        matches!(self.source, Some(Source::Dataset(_) | Source::Job(_)))
    }

    /// Returns the file of which a chunk is a range: the job's file, or an item file. `None` for the options, and for a
    /// chunk of a job with item files that was planned from a work file.
    pub fn chunk_file(&self, plan: &ChunkPlan) -> Option<Cow<'_, SourceFile>> {
        let source = self.source.as_ref()?;
        if let Source::File(file) = source {
            return Some(Cow::Borrowed(file));
        }
        let ItemFile { name, etag } = plan.keys.as_ref()?;
        let key = ItemFile::object_key(&self.tenant, self.job_id, name);
        let info = FileInfo { size_bytes: plan.end, etag: etag.clone() };
        let format = self.record_format().unwrap_or(Format::JsonLines);
        Some(Cow::Owned(SourceFile::new(key, info, format, source.name())))
    }
}

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
    /// The reading of a CSV file, which the commit of the first group stores. `None` before that, for JSON Lines, and
    /// for jobs of versions that read only UTF-8 with commas, and rows of commas as records.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading: Option<Reading>,
    /// The uploaded file from which this one was prepared. `None` for a file that is split as it was uploaded.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub original: Option<Box<Original>>,
}

/// Prefix of the keys of all files in the folders of jobs. Uploads have another one.
pub(super) const JOB_FOLDERS: &str = "jobs/";

impl SourceFile {
    /// Creates the file as it was uploaded: not read yet, and not prepared.
    pub fn new(key: impl Into<String>, info: FileInfo, format: Format, name: impl Into<String>) -> Self {
        let (key, FileInfo { size_bytes, etag }, name) = (key.into(), info, name.into());
        Self { key, size_bytes, etag, format, name, reading: None, original: None }
    }

    /// Creates a cutter of its records, whose first byte is at `offset`; see [`Cutter::starting_at`].
    pub fn cutter(&self, offset: u64) -> Cutter {
        self.reading.map_or_else(|| Cutter::starting_at(self.format, offset), |reading| reading.cutter(offset))
    }

    /// Returns all records of a chunk in memory; see [`Cutter::all`].
    pub fn records(&self, bytes: &[u8]) -> impl Iterator<Item = Span> {
        self.cutter(0).all(bytes)
    }

    /// Returns the key of the file that the client has uploaded.
    pub fn uploaded_key(&self) -> &str {
        self.original.as_ref().map_or(&self.key, |original| &original.key)
    }

    /// Returns the upload that the file came from: the last part of its key. `None` if the client has sent the items
    /// with its request.
    pub fn upload(&self) -> Option<FileGuid> {
        if self.is_of_request() {
            return None;
        }
        FileGuid::parse(self.uploaded_key().rsplit('/').next()?)
    }

    /// Returns true if the file has the items of the job's request: it is in the folder of its job, no other job uses
    /// it, and it is removed with the job.
    pub fn is_of_request(&self) -> bool {
        self.uploaded_key().starts_with(JOB_FOLDERS)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::job::Part;

    #[test]
    fn a_file_is_stored_as_before_there_were_other_sources() {
        let stored = serde_json::json!({"key": "k", "sizeBytes": 7, "etag": "e", "format": "csv", "name": "n"});
        let source: Source = serde_json::from_value(stored.clone()).unwrap();
        assert_eq!(source.file().map(|file| file.size_bytes), Some(7));
        assert_eq!(serde_json::to_value(&source).unwrap(), stored);
        let dataset = DatasetSource { dataset: "people".into(), updated_since: Some(Timestamp(5)) };
        let stored = serde_json::to_value(Source::Dataset(dataset.clone())).unwrap();
        assert_eq!(stored, serde_json::json!({"dataset": "people", "updatedSince": 5}));
        assert_eq!(serde_json::from_value::<Source>(stored).unwrap(), Source::Dataset(dataset));
        let (job_id, name) = (JobId(uuid::Uuid::nil()), "people.csv".to_owned());
        let part = PartSource { job_id, part: Part::Failed, generation: 2, format: Format::Csv, name };
        let stored = serde_json::to_value(Source::Job(part.clone())).unwrap();
        assert_eq!(stored["part"], "failed");
        assert_eq!(serde_json::from_value::<Source>(stored).unwrap(), Source::Job(part));
    }

    const ID: &str = "0b3d3f5e-7d0c-4e34-9c6c-000000000001";

    #[test]
    fn only_a_file_outside_of_the_folders_of_jobs_is_an_upload() {
        let upload = FileGuid::parse(ID);
        for (key, is_of_request, expected) in [
            (format!("uploads/acme/{ID}"), false, upload),
            (format!("jobs/acme/{ID}/source.jsonl"), true, None),
            (format!("jobs/acme/x/{ID}"), true, None),
            ("uploads/acme/people.csv".to_owned(), false, None),
            (String::new(), false, None),
        ] {
            let info = FileInfo { size_bytes: 1, etag: String::new() };
            let file = SourceFile::new(key, info, Format::JsonLines, "");
            assert_eq!((file.is_of_request(), file.upload()), (is_of_request, expected), "{}", file.key);
        }
    }
}
