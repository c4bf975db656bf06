//! `GET /api/jobs/{jobId}/output`: the result document, with links to the report's files in place of their keys.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use longshore::http::{Answer, Failure, PathText, Tenant};
use longshore::openapi::CacheNoStore;
use longshore::ports::report_key;
use longshore::problem::{Kind, Problem};
use longshore::receipt::{RECEIPT_NAME, Receipt, download_name};
use longshore::result::{RESULT_NAME, Report, ReportFile, ReportFiles, ResultCounts, ResultDocument, Timings};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobError, Status};
use longshore_domain::ports::{Files, PortResult, Read};
use longshore_domain::time_stamp::Timestamp;
use serde::Serialize;
use serde::de::DeserializeOwned;
use utoipa::ToSchema;

use crate::document::path;
use crate::openapi::examples;
use crate::openapi::parameters::JobIdInPath;
use crate::openapi::refusals::OutputRefusals;
use crate::{Api, Backend, DownloadUrls};

/// Lifetime of a link in seconds: long enough for a click, too short to be shared.
const LINK_SECONDS: i64 = 15 * 60;

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
    /// Times and duration of the job.
    pub timings: Timings,
    /// Reason why the job did not complete; otherwise `null`.
    #[schema(required = true)]
    pub error: Option<JobError>,
    /// Non-fatal warnings.
    pub issues: Vec<JobError>,
    /// Files with the rows that did not succeed.
    pub files: FileLinks,
    /// Receipt of the input and the output, for comparison with the files; `null` if the job has no report.
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
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
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
}

/// A link to one file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutputFile)]
pub struct FileLink {
    /// Presigned URL. No further authorization is needed.
    #[schema(format = "uri")]
    pub url: String,
    /// Rows below the header.
    #[schema(minimum = 1)]
    pub rows: u64,
    /// Time when the link expires, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// Returns the result of a finished job; 404 before the end. If the job ended without a report, or its report has
/// expired, the answer comes from the ledger: the counts, no files, and a warning.
#[utoipa::path(
    get,
    path = "/api/jobs/{jobId}/output",
    operation_id = "getJobOutput",
    tag = "jobs",
    summary = "Read the result of a finished job.",
    description = "404 before the job has a final status, with the problem `not-finished`. A job that ended without a \
        report, or whose report has expired, is answered with the counts of the items that were read, no files, \
        and the issue `no_report`.",
    params(JobIdInPath),
    responses(
        (
            status = 200,
            description = "The result. The links in it end after 15 minutes; ask again for new ones.",
            body = OutputDocument,
            headers(
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::output()),
        ),
        OutputRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(State(api): State<Arc<Api<B>>>, tenant: Tenant, PathText(id): PathText) -> Answer {
    let job = api.job(&tenant, &id).await?;
    if !job.status.is_final() {
        return Err(not_finished(&job).into());
    }
    let files = &api.ports.files;
    let (stored, receipt) = futures::try_join!(stored_result(files, &job), stored_receipt(files, &job))?;
    let result = stored.map_or_else(|| of_ledger(&job), |stored| stored.with_job(&job));
    let links = Linker { files, job: &job, now: (api.clock)() };
    let document = links.document(result, receipt).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}

/// Returns the result that completion wrote, if it exists.
pub(crate) async fn stored_result(files: &impl Files, job: &Job) -> Result<Option<ResultDocument>, Failure> {
    stored_document(files, job, RESULT_NAME).await
}

/// Returns the receipt that completion wrote, if it exists.
async fn stored_receipt(files: &impl Files, job: &Job) -> Result<Option<Receipt>, Failure> {
    stored_document(files, job, RECEIPT_NAME).await
}

async fn stored_document<T: DeserializeOwned>(files: &impl Files, job: &Job, name: &str) -> Result<Option<T>, Failure> {
    match files.read(&report_key(job, name), None, None).await? {
        Read::Found(bytes) => serde_json::from_slice(&bytes).map_err(|error| Failure::Ours(Box::new(error))),
        Read::Absent | Read::Changed => Ok(None),
    }
}

/// Builds the result from the job itself: its final status was written together with the counts of all ended items.
fn of_ledger(job: &Job) -> ResultDocument {
    let ended = job.completion.totals.unwrap_or_default();
    let counts = ResultCounts {
        succeeded: ended.succeeded,
        failed: ended.failed,
        skipped: ended.skipped,
        unprocessed: job.split.item_count.saturating_sub(ended.done()),
    };
    let message = "the files of this job are not there: they could not be written, or they have expired; \
                   the counts are those of the items that were read";
    let issues = vec![JobError::new("no_report", message)];
    ResultDocument::new(job, Report { counts, issues, files: ReportFiles::default() })
}

/// 404: the requested data is in a report that does not exist.
pub(crate) fn no_report() -> Problem {
    let detail = "the files of this job are not there: they could not be written, or they have expired";
    Problem::new(Kind::NoReport, detail)
}

/// 404: the job has no result yet.
pub(crate) fn not_finished(job: &Job) -> Problem {
    let status = serde_json::to_value(job.status).unwrap_or_default();
    let status = status.as_str().unwrap_or_default();
    let detail = format!("the job is {status} and has no result yet; ask {} until it has ended", path(job.job_id));
    Problem::new(Kind::NotFinished, detail)
}

/// Signs links to the files of a job's report.
pub(crate) struct Linker<'a, F> {
    pub(crate) files: &'a F,
    pub(crate) job: &'a Job,
    pub(crate) now: Timestamp,
}

impl<F: DownloadUrls> Linker<'_, F> {
    async fn document(&self, result: ResultDocument, receipt: Option<Receipt>) -> Result<OutputDocument, Failure> {
        let ReportFiles { failed, skipped, unprocessed } = result.files;
        let files = FileLinks {
            failed: self.perhaps(failed).await?,
            skipped: self.perhaps(skipped).await?,
            unprocessed: self.perhaps(unprocessed).await?,
        };
        Ok(OutputDocument {
            job_id: result.job_id,
            job_type: result.job_type,
            status: result.status,
            item_count: result.item_count,
            counts: result.counts,
            timings: result.timings,
            error: result.error,
            issues: result.issues,
            files,
            receipt: match receipt {
                Some(document) => Some(self.receipt(document).await?),
                None => None,
            },
        })
    }

    async fn receipt(&self, document: Receipt) -> PortResult<ReceiptLink> {
        let key = report_key(self.job, RECEIPT_NAME);
        Ok(ReceiptLink { url: self.url(&key).await?, expires_at: self.expires_at(), document })
    }

    async fn perhaps(&self, file: Option<ReportFile>) -> PortResult<Option<FileLink>> {
        match file {
            Some(file) => Ok(Some(self.link(file).await?)),
            None => Ok(None),
        }
    }

    /// Creates a link to a file.
    pub(crate) async fn link(&self, ReportFile { key, rows }: ReportFile) -> PortResult<FileLink> {
        Ok(FileLink { url: self.url(&key).await?, rows, expires_at: self.expires_at() })
    }

    async fn url(&self, key: &str) -> PortResult<String> {
        let name = download_name(self.job, key.rsplit('/').next().unwrap_or(key));
        self.files.download_url(key, &name, LINK_SECONDS.unsigned_abs()).await
    }

    fn expires_at(&self) -> String {
        self.now.plus_seconds(LINK_SECONDS).to_rfc3339()
    }
}
