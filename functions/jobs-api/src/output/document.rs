//! Response document of a result.

use std::collections::BTreeMap;

use longshore::receipt::Receipt;
use longshore::result::{ResultCounts, Timings};
use longshore_domain::ids::JobId;
use longshore_domain::job::{JobError, Status};
use serde::Serialize;
use utoipa::ToSchema;

/// Result of a finished job.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Output)]
pub struct OutputDocument {
    /// Id of the job.
    pub job_id: JobId,
    /// Name of the job type.
    pub job_type: String,
    /// Final status of the job.
    pub status: Status,
    /// Items of the input.
    pub item_count: u64,
    /// Items by outcome; their sum is `itemCount`.
    pub counts: ResultCounts,
    /// Number of failed items by code. Of at most 100 codes: if there are more, the sum is less than
    /// `counts.failed`. Empty if the job has no report, or one of an earlier version.
    pub failures_by_code: BTreeMap<String, u64>,
    /// Times and duration of the job.
    pub timings: Timings,
    /// Reason why the job did not complete; otherwise `null`.
    #[schema(required = true)]
    pub error: Option<JobError>,
    /// Non-fatal warnings.
    pub issues: Vec<JobError>,
    /// Files with the rows that did not succeed.
    pub files: FileLinks,
    /// Receipt of input and output, to verify the files with; `null` if the job has no report.
    #[schema(required = true)]
    pub receipt: Option<ReceiptLink>,
}

/// The receipt, and a link to the file with the same contents.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutputReceipt)]
pub struct ReceiptLink {
    /// Presigned URL. No further authorization is needed.
    #[schema(format = "uri")]
    pub url: String,
    /// Time when the link expires, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// Contents of the receipt.
    pub document: Receipt,
}

/// Links to the files of a report; `null` for a file without rows.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutputFiles)]
pub struct FileLinks {
    /// Items that failed, with code, field and message.
    #[schema(required = true)]
    pub failed: Option<FileLink>,
    /// Items that were skipped, with the reason.
    #[schema(required = true)]
    pub skipped: Option<FileLink>,
    /// Items that had not ended when the job was stopped.
    #[schema(required = true)]
    pub unprocessed: Option<FileLink>,
    /// Outputs of the items that succeeded.
    #[schema(required = true)]
    pub results: Option<FileLink>,
    /// Index of the results: a line of JSON for each slice of the file, with its rows, size and SHA-256.
    #[schema(required = true)]
    pub results_index: Option<FileLink>,
}

/// A link to one file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutputFile)]
pub struct FileLink {
    /// Name of the file, such as `results.csv.gz`.
    pub name: String,
    /// Path of the file's stable address, which redirects to a new presigned URL until the job expires.
    #[schema(format = "uri-reference")]
    pub href: String,
    /// Presigned URL. No further authorization is needed.
    #[schema(format = "uri")]
    pub url: String,
    /// Rows, without a header.
    #[schema(minimum = 1)]
    pub rows: u64,
    /// Time when the link expires, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
}
