//! The receipt of a finished job: what went in, what came out, and which code made the one of the other.
//!
//! Completion writes it beside the report, and whoever has the files can hold them against it without asking anybody. It
//! says only what all completions of one generation agree on: no status, for another may be about to give it, and no time.

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::fingerprint::Fingerprint;
use crate::result::ResultCounts;

/// Name of the document within a job's report; see [`JobFolder`](crate::ports::JobFolder).
pub const RECEIPT_NAME: &str = "receipt.json";

/// What went into a job and what came out.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Receipt {
    /// The job.
    pub job_id: JobId,
    /// Name of its job type.
    pub job_type: String,
    /// 0, and one more with each retry.
    pub generation: u32,
    /// Items of the input, as far as it was or could still be read.
    pub item_count: u64,
    /// What became of them.
    pub counts: ResultCounts,
    /// The file of the job; `null` for a job without one.
    #[schema(required = true)]
    pub input: Option<InputReceipt>,
    /// The corrected failures file of this retry, if it ran with one.
    #[schema(required = true)]
    pub corrected: Option<InputReceipt>,
    /// The files of the report; those that have rows.
    pub files: Vec<FileReceipt>,
    /// Which code wrote it.
    pub code: CodeVersion,
}

/// A file that went in.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct InputReceipt {
    /// The client's name for it.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// Its SHA-256 in hexadecimal; `null` if it cannot be known, and `basis` says why.
    #[schema(required = true, pattern = "^[0-9a-f]{64}$")]
    pub sha256: Option<String>,
    /// How its SHA-256 is known, or why it is not.
    pub basis: Basis,
}

/// How the SHA-256 of an input is known, or why it is not.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum Basis {
    /// The client gave it with the upload, and the bucket took no other file.
    Upload,
    /// The file was read once more at the job's end, and was the one that the job had worked.
    Read,
    /// Not known: the file was not there any more as it was.
    Gone,
    /// Not known: reading the file once more would have taken longer than the function may run, or broke off again and again.
    TooLong,
}

/// A file that came out.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct FileReceipt {
    /// Its name when it is downloaded.
    pub name: String,
    /// Rows below its header.
    pub rows: u64,
    /// Size and SHA-256.
    #[serde(flatten)]
    pub fingerprint: Fingerprint,
}

/// A version of this code.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
pub struct CodeVersion {
    /// Of the package.
    pub version: String,
    /// The commit, if the build was told.
    #[schema(required = true)]
    pub commit: Option<String>,
}

/// `people-failed.csv` for `failed.csv` of a job over `people.csv`: a person has many of them in one folder.
pub fn download_name(job: &Job, name: &str) -> String {
    let source = job.source.as_ref().map_or(job.job_type.as_str(), |source| source.name.as_str());
    let stem = source.rsplit_once('.').map_or(source, |(stem, _)| stem);
    let stem = if stem.is_empty() { source } else { stem };
    format!("{stem}-{name}")
}
