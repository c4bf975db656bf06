//! The receipt of a finished job: its input, its output, and the version of the code that processed it.
//!
//! Completion writes it with the report, and anyone who has the files can compare them with it. It contains only facts
//! on which all completions of one generation agree: no status, because another completion may be about to set it, and
//! no time.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Part, PartSource, Source};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::fingerprint::Fingerprint;
use crate::result::ResultCounts;

/// Name of the document within a job's report; see [`JobFolder`](crate::ports::JobFolder).
pub const RECEIPT_NAME: &str = "receipt.json";

/// Input and output of a job.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The job.
    pub job_id: JobId,
    /// Name of its job type.
    pub job_type: String,
    /// Generation of the job: 0, plus one for each retry.
    pub generation: u32,
    /// Items of the input that were read, or could still be read.
    pub item_count: u64,
    /// Number of items by result.
    pub counts: ResultCounts,
    /// The file of the job; `null` for a job without a file.
    #[schema(required = true)]
    pub input: Option<InputReceipt>,
    /// The part of another job whose items were copied as the input; absent for a job with another source.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<PartReceipt>,
    /// The corrected failures file of this retry; `null` if it had none.
    #[schema(required = true)]
    pub corrected: Option<InputReceipt>,
    /// The files of the report that have rows.
    pub files: Vec<FileReceipt>,
    /// The results; `null` if the items of the job have no output, or none has succeeded.
    #[schema(required = true)]
    #[serde(default)]
    pub results: Option<ResultsReceipt>,
    /// Version of the code that wrote the receipt.
    pub code: CodeVersion,
}

/// A part of another job as the input.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct PartReceipt {
    /// The other job.
    pub job_id: JobId,
    /// Its generation.
    pub generation: u32,
    /// The part.
    pub part: Part,
}

impl From<&PartSource> for PartReceipt {
    fn from(source: &PartSource) -> Self {
        Self { job_id: source.job_id, generation: source.generation, part: source.part }
    }
}

/// An input file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct InputReceipt {
    /// Name of the file, as set by the client.
    pub name: String,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal; `null` if it is unknown, for the reason in `basis`.
    #[schema(required = true, pattern = "^[0-9a-f]{64}$")]
    pub sha256: Option<String>,
    /// Source of the SHA-256, or the reason why it is unknown.
    pub basis: Basis,
}

/// Source of the SHA-256 of an input, or the reason why it is unknown.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The client sent it with the upload, and S3 accepted no other file.
    Upload,
    /// Computed at the job's end from the unchanged file.
    Read,
    /// Unknown: the file was removed or replaced.
    Gone,
    /// Unknown: reading the file would have taken longer than the function can run, or failed repeatedly.
    TooLong,
}

/// An output file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct FileReceipt {
    /// Name of the downloaded file.
    pub name: String,
    /// Number of rows below the header.
    pub rows: u64,
    /// Size and SHA-256.
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
}

/// The results file, and its index.
///
/// S3 assembles large files of JSON Lines from the outputs of the workers without a read, so that their SHA-256 is
/// unknown. The index names the SHA-256 of each slice.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct ResultsReceipt {
    /// Name of the downloaded file.
    pub name: String,
    /// Number of rows: one for each item that succeeded.
    pub rows: u64,
    /// Size in bytes.
    pub size: u64,
    /// SHA-256 in hexadecimal; `null` if S3 assembled the file.
    #[schema(required = true, pattern = "^[0-9a-f]{64}$")]
    pub sha256: Option<String>,
    /// CRC-64/NVME in base64, as S3 shows it for the object.
    #[schema(pattern = "^[A-Za-z0-9+/]{11}=$")]
    pub crc64nvme: String,
    /// The index of the results: a line of JSON for each slice of the file in order, with its rows, size and SHA-256.
    pub index: FileReceipt,
}

/// Version of the code that wrote the receipt.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct CodeVersion {
    /// Version of the package.
    pub version: String,
    /// Commit of the build; `null` if it is unknown.
    #[schema(required = true)]
    pub commit: Option<String>,
}

/// Returns a file's name for downloads: `people-failed.csv` for `failed.csv` of a job with the file `people.csv`, so
/// that files of several jobs have different names.
pub fn download_name(job: &Job, name: &str) -> String {
    let source = job.source.as_ref().map_or(job.job_type.as_str(), Source::name);
    let stem = source.rsplit_once('.').map_or(source, |(stem, _)| stem);
    let stem = if stem.is_empty() { source } else { stem };
    format!("{stem}-{name}")
}
