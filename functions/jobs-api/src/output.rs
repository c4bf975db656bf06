//! `GET /api/jobs/{jobId}/output`: the result document, with links in place of the keys of the report's files.

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

/// How long a link holds: long enough for a click, too short to be passed around.
const LINK_SECONDS: i64 = 15 * 60;

/// What a finished job came to.
#[derive(Clone, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Output)]
pub struct OutputDocument {
    /// The job.
    pub job_id: JobId,
    /// Name of its job type.
    pub job_type: String,
    /// Its final status.
    pub status: Status,
    /// Items of the input.
    pub item_count: u64,
    /// What became of them; together they are `itemCount`.
    pub counts: ResultCounts,
    /// When, and how long.
    pub timings: Timings,
    /// Why it did not complete.
    #[schema(required = true)]
    pub error: Option<JobError>,
    /// Things to know that stopped nothing.
    pub issues: Vec<JobError>,
    /// The rows that did not succeed.
    pub files: FileLinks,
    /// What went in and what came out, to be held against the files; `null` if the job has no report.
    #[schema(required = true)]
    pub receipt: Option<ReceiptLink>,
}

/// The receipt, and a link to the file that holds the same.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OutputReceipt)]
pub struct ReceiptLink {
    /// Presigned; needs no other right.
    #[schema(format = "uri")]
    pub url: String,
    /// When the link ends, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
    /// What it says.
    pub document: Receipt,
}

/// Links to the files of a report; `null` for one that has no rows.
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
    /// Presigned; needs no other right.
    #[schema(format = "uri")]
    pub url: String,
    /// Rows below its header.
    #[schema(minimum = 1)]
    pub rows: u64,
    /// When the link ends, in RFC 3339.
    #[schema(format = DateTime)]
    pub expires_at: String,
}

/// The result of a finished job; 404 before. A job that ended without a report, or whose report has expired, is answered
/// from the ledger: the counts, no files, and an issue that says so.
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

/// The result that completion wrote, if it is there.
pub(crate) async fn stored_result(files: &impl Files, job: &Job) -> Result<Option<ResultDocument>, Failure> {
    stored_document(files, job, RESULT_NAME).await
}

/// The receipt that completion wrote, if it is there.
async fn stored_receipt(files: &impl Files, job: &Job) -> Result<Option<Receipt>, Failure> {
    stored_document(files, job, RECEIPT_NAME).await
}

async fn stored_document<T: DeserializeOwned>(files: &impl Files, job: &Job, name: &str) -> Result<Option<T>, Failure> {
    match files.read(&report_key(job, name), None, None).await? {
        Read::Found(bytes) => serde_json::from_slice(&bytes).map_err(|error| Failure::Ours(Box::new(error))),
        Read::Absent | Read::Changed => Ok(None),
    }
}

/// What the job itself says: its final status came with the counts of all items that had ended.
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

/// 404: what is asked for stands in a report that is not there.
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

    /// A link to a file.
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
