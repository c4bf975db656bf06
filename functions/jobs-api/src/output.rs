//! `GET /api/jobs/{jobId}/output`: the result document, with links in place of the keys of the report's files.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::header;
use axum::response::IntoResponse;
use longshore::http::{Answer, Failure, PathText, Tenant};
use longshore::ports::JobFolder;
use longshore::problem::Problem;
use longshore::result::{RESULT_NAME, ReportFile, ReportFiles, ResultCounts, ResultDocument, Timings};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobError, Status};
use longshore_domain::ports::{Files, Read};
use longshore_domain::time_stamp::Timestamp;
use serde::Serialize;

use crate::document::path;
use crate::{Api, Backend, DownloadUrls};

/// How long a link holds: long enough for a click, too short to be passed around.
const LINK_SECONDS: i64 = 15 * 60;

/// What a finished job came to.
#[derive(Clone, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct OutputDocument {
    /// The job.
    pub job_id: JobId,
    /// Name of its job type.
    pub job_type: String,
    /// Its final status.
    pub status: Status,
    /// Items of the input.
    pub item_count: u64,
    /// What became of them; together they are `item_count`.
    pub counts: ResultCounts,
    /// When, and how long.
    pub timings: Timings,
    /// Why it did not complete.
    pub error: Option<JobError>,
    /// Things to know that stopped nothing.
    pub issues: Vec<JobError>,
    /// The rows that did not succeed.
    pub files: FileLinks,
}

/// Links to the files of a report; `null` for one that has no rows.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
pub struct FileLinks {
    /// Items that failed, with code, field and message.
    pub failed: Option<FileLink>,
    /// Items that were skipped, with the reason.
    pub skipped: Option<FileLink>,
    /// Items that had not ended when the job was stopped.
    pub unprocessed: Option<FileLink>,
}

/// A link to one file.
#[derive(Clone, Eq, PartialEq, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileLink {
    /// To be fetched without any other right.
    pub url: String,
    /// Rows below its header.
    pub rows: u64,
    /// When the link ends, in RFC 3339.
    pub expires_at: String,
}

/// The result of a finished job; 404 before.
pub(crate) async fn get<B: Backend>(State(api): State<Arc<Api<B>>>, tenant: Tenant, PathText(id): PathText) -> Answer {
    let job = api.job(&tenant, &id).await?;
    if !job.status.is_final() {
        return Err(not_finished(&job).into());
    }
    let result = read(&api.ports.files, &job).await?.with_job(&job);
    let links = Linker { files: &api.ports.files, job: &job, now: (api.clock)() };
    let document = links.document(result).await?;
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}

async fn read(files: &impl Files, job: &Job) -> Result<ResultDocument, Failure> {
    match files.read(&JobFolder::of(job).report_key(job.generation, RESULT_NAME), None, None).await? {
        Read::Found(bytes) => serde_json::from_slice(&bytes).map_err(|error| Failure::Ours(Box::new(error))),
        Read::Absent | Read::Changed => Err(Problem::not_found("result of this job any more").into()),
    }
}

fn not_finished(job: &Job) -> Problem {
    let status = serde_json::to_value(job.status).unwrap_or_default();
    let status = status.as_str().unwrap_or_default();
    let detail = format!("the job is {status} and has no result yet; ask {} until it has ended", path(job.job_id));
    Problem::new(404, "not-finished", "Job not finished", detail)
}

struct Linker<'a, F> {
    files: &'a F,
    job: &'a Job,
    now: Timestamp,
}

impl<F: DownloadUrls> Linker<'_, F> {
    async fn document(&self, result: ResultDocument) -> Result<OutputDocument, Failure> {
        let ReportFiles { failed, skipped, unprocessed } = result.files;
        let files = FileLinks {
            failed: self.link(failed).await?,
            skipped: self.link(skipped).await?,
            unprocessed: self.link(unprocessed).await?,
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
        })
    }

    async fn link(&self, file: Option<ReportFile>) -> Result<Option<FileLink>, Failure> {
        let Some(ReportFile { key, rows }) = file else { return Ok(None) };
        let url = self.files.download_url(&key, &self.name(&key), LINK_SECONDS.unsigned_abs()).await?;
        Ok(Some(FileLink { url, rows, expires_at: self.now.plus_seconds(LINK_SECONDS).to_rfc3339() }))
    }

    /// `people-failed.csv` for `…/failed.csv` of `people.csv`: a person has many of them in one folder.
    fn name(&self, key: &str) -> String {
        let source = self.job.source.as_ref().map_or(self.job.job_type.as_str(), |source| source.name.as_str());
        let stem = source.rsplit_once('.').map_or(source, |(stem, _)| stem);
        let stem = if stem.is_empty() { source } else { stem };
        format!("{stem}-{}", key.rsplit('/').next().unwrap_or(key))
    }
}
