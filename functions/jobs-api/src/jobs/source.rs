//! The source of a job: as its document shows it, and the file of items in the job's own folder.
//!
//! The file is written before the transaction that creates the job. If the function dies in between, or if the
//! transaction is refused, no job refers to the file. A refused call removes it; otherwise the bucket's lifecycle rule
//! does. A call whose transaction failed leaves it, because the job may have been stored.

use longshore::http::Failure;
use longshore::ports::JobFolder;
use longshore::telemetry;
use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, Job, Original, Part, PartSource, Source, SourceFile};
use longshore_domain::ports::{Files, Read};
use longshore_domain::records::{Form, Format, Reading};
use longshore_domain::timestamp::Timestamp;
use serde::Serialize;
use utoipa::ToSchema;

/// Name of the file of items, from which the names of the report's files are made.
const ITEMS_NAME: &str = "items.jsonl";

/// Source of a job's items.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(tag = "kind", rename_all = "camelCase")]
pub enum JobSource {
    /// An uploaded file.
    File {
        /// Name of the file, as set by the client.
        name: String,
        /// Size in bytes.
        #[serde(rename = "sizeBytes")]
        size_bytes: u64,
        /// How the file is read: what was given, and what was found. Absent before the first items of CSV are counted,
        /// and for JSON Lines.
        #[serde(skip_serializing_if = "Option::is_none")]
        reading: Option<Reading>,
        /// What was converted before the file was read. Absent for a file that is read as it is, and before it is
        /// converted.
        #[serde(skip_serializing_if = "Option::is_none")]
        prepared: Option<PreparedSource>,
    },
    /// The items of the request that created the job, or the validated one from which it was started.
    Items {
        /// Size in bytes as JSON Lines.
        #[serde(rename = "sizeBytes")]
        size_bytes: u64,
    },
    /// A part of another job, copied when this one was split.
    Job {
        /// The other job. It may have been deleted since.
        #[serde(rename = "jobId")]
        job_id: JobId,
        /// The part.
        part: Part,
    },
    /// The records of a dataset, in the order of their keys.
    Dataset {
        /// Name of the dataset.
        dataset: String,
        /// Only records that were written at this time or later; `null` if all.
        #[serde(rename = "updatedSince")]
        #[schema(required = true, format = DateTime)]
        updated_since: Option<String>,
        /// The `updatedSince` of a later job that takes every record that this one may have missed.
        #[serde(rename = "nextSince")]
        #[schema(format = DateTime)]
        next_since: String,
    },
}

/// A file that was converted before it was split.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = PreparedSource)]
pub struct PreparedSource {
    /// Form of the file.
    form: Form,
    /// Name of the file in an archive; absent for other forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// Name of the sheet of a workbook; absent for other forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    sheet: Option<String>,
}

impl From<&Original> for PreparedSource {
    fn from(original: &Original) -> Self {
        Self { form: original.form, file: original.file.clone(), sheet: original.sheet.clone() }
    }
}

/// Seconds before a job's creation from which the next job over a dataset takes its records: the time of a write is set
/// before the write.
const OVERLAP_S: i64 = 60;

impl JobSource {
    /// Returns the source of a job; `None` for a job that is one item.
    pub fn new(job: &Job) -> Option<Self> {
        Some(match job.source.as_ref()? {
            Source::File(file) => Self::from(file),
            Source::Job(PartSource { job_id, part, .. }) => Self::Job { job_id: *job_id, part: *part },
            Source::Dataset(DatasetSource { dataset, updated_since }) => Self::Dataset {
                dataset: dataset.clone(),
                updated_since: updated_since.map(Timestamp::to_rfc3339),
                next_since: job.times.queued_at().plus_seconds(-OVERLAP_S).to_rfc3339(),
            },
        })
    }
}

impl From<&SourceFile> for JobSource {
    fn from(file: &SourceFile) -> Self {
        let size_bytes = file.as_uploaded().size_bytes;
        match file.is_of_request() {
            true => Self::Items { size_bytes },
            false => {
                let prepared = file.original.as_deref().map(PreparedSource::from);
                Self::File { name: file.name.clone(), size_bytes, reading: file.reading, prepared }
            }
        }
    }
}

/// Stores items, as JSON Lines, as the source of a new job. The key is new, so nothing is overwritten.
pub(super) async fn store_items(files: &impl Files, job: &Job, lines: Vec<u8>) -> Result<SourceFile, Failure> {
    let key = JobFolder::for_job(job).source_key();
    files.write(&key, "application/x-ndjson", lines).await?;
    let info = files.info(&key).await?.ok_or_else(|| Failure::Internal("the stored items do not exist".into()))?;
    Ok(SourceFile::new(key, info, Format::JsonLines, ITEMS_NAME))
}

/// Returns the source of a job that is started from a validated one: the same upload, or a copy of the items, because
/// the folder of the validated job can be removed at any time. `None` if the items have changed or been removed.
pub(super) async fn started_source(
    files: &impl Files,
    validated: &SourceFile,
    job: &Job,
) -> Result<Option<SourceFile>, Failure> {
    if !validated.is_of_request() {
        // The prepared file is in the folder of the validated job. The new job prepares its own.
        return Ok(Some(validated.as_uploaded()));
    }
    match files.read(&validated.key, Some(&validated.etag), None).await? {
        Read::Found(lines) => store_items(files, job, lines).await.map(Some),
        Read::Absent | Read::Changed => Ok(None),
    }
}

/// Removes the items of a job that was certainly not stored. A failure is only logged: the items expire.
pub(super) async fn discard_items(files: &impl Files, job: &Job) {
    let Some(source) = job.file().filter(|source| source.is_of_request()) else { return };
    if let Err(error) = files.remove(&source.key).await {
        let error = telemetry::chain(&error);
        tracing::warn!(job.id = %job.job_id, error, "cannot remove the items of a refused request; they will expire");
    }
}
