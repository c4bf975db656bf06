//! `POST /api/jobs/{jobId}/retry`, a retry of failed rows: runs failed and unprocessed items again, and no others. With
//! a corrected failures file, of the failed items only those in the file run again.
//!
//! The splitter reads the whole corrected file later. A single ranged read here finds most errors in time to report
//! them to the client.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::failures_file::{CORRECTED_BYTES, ColumnLayout, Columns, HEAD_BYTES};
use longshore::files::ResumingReader;
use longshore::http::{Answer, Bad, Failure, Fields, OptionalFields, PathText, Tenant, count_work_call};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Job, Reopen, SourceFile, deadline};
use longshore_domain::ports::{Files, JobProgress, JobStore, JobTransitions, PortError, Read, Reopened};
use longshore_domain::records::Extent;
use utoipa::ToSchema;

use super::accept::accepted;
use super::document::JobDocument;
use super::find::{find_job, with_groups};
use super::request::{find_source, refused, unknown_file};
use crate::admission::{admit, over_quota};
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::examples;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::RetryRefusals;
use crate::unreadable::unreadable;

/// Maximum body size: one file id, with room for white space.
const BODY_BYTES: usize = 4 * 1024;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Options of a retry.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RetryRequest {
    /// Upload of a corrected failures file of up to 32 MiB.
    file_guid: Option<FileGuid>,
}

/// Reopens the job as a new generation: 202 with the job, if the limits allow it. A single transaction, so that only
/// one of two concurrent retries succeeds. If the create message is lost, the sweeper sends it.
#[utoipa::path(
    post,
    path = "/api/jobs/{jobId}/retry",
    operation_id = "retryJob",
    tag = "jobs",
    summary = "Retry failed and unprocessed items.",
    description = include_str!("retry.md").trim_ascii_end(),
    params(JobIdInPath, IfMatchHeader),
    request_body(
        content = Option<RetryRequest>,
        description = "Up to 4 KiB, or nothing.",
        example = json!({ "fileGuid": "4f1c2a60-6d0c-4b5e-9a44-0c1d7e2f3a4b" }),
    ),
    responses(
        (
            status = 202,
            description = "The job is reopened. Poll it at `Location`.",
            body = JobDocument,
            headers(
                ("Location" = inline(OnePath), description = "The job."),
                ("Retry-After" = inline(RetryAfterSeconds), description = "Seconds."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::retried()),
        ),
        RetryRefusals,
    ),
)]
pub(crate) async fn retry<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
    OptionalFields(fields): OptionalFields<BODY_BYTES>,
) -> Answer {
    let job = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let file = file_of(fields)?;
    // A refused call costs the same reads, so every call is counted.
    count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    let JobProgress { groups, job } = with_groups(&api.ports.store, job).await?;
    if !job.has_remaining() {
        return Err(not_retryable(&job).into());
    }
    let corrected = match file {
        Some(file) => Some(find_corrected(&api, &tenant, &job, file).await?),
        None => None,
    };
    etag::check_match(&headers, &JobDocument::new(&job, &groups))?;
    admit(&api, &tenant, job.priority).await?;
    let at = (api.clock)();
    let deadline_at = deadline(at, job.times.timeout_s, job.times.expires_at);
    let reopen = Reopen { generation: job.generation, at, deadline_at, corrected, selected_chunks: None };
    match api.ports.store.reopen(&job, &reopen).await? {
        Reopened::Made(job) => {
            api.ports.send_create(&job).await;
            let JobProgress { groups, job } = with_groups(&api.ports.store, *job).await?;
            Ok(accepted(&job, &groups))
        }
        Reopened::Refused => Err(not_ended("another call has just reopened this job").into()),
        Reopened::OverQuota(exceeded) => Err(over_quota(exceeded, at).into()),
    }
}

/// Reads the corrected file's id from a request.
fn file_of(mut fields: Fields) -> Result<Option<FileGuid>, Problem> {
    let read = |value: &serde_json::Value| value.as_str().and_then(FileGuid::parse).ok_or_else(unknown_file);
    let file = fields.optional("fileGuid", read);
    fields.finish()?;
    Ok(file)
}

fn not_retryable(job: &Job) -> Problem {
    if !job.status.is_final() {
        return not_ended("cancel the job, or wait until it ends");
    }
    let detail = "every item of the job succeeded or was skipped, so no item can be retried";
    Problem::new(Kind::NothingToRetry, detail)
}

fn not_ended(advice: &str) -> Problem {
    Problem::new(Kind::NotEnded, format!("only a job that has ended can be retried; {advice}"))
}

/// Returns the corrected failures file in its current version, identified by its entity tag.
///
/// # Errors
/// 422 at `/fileGuid`: the errors of a job's file, and `file_not_allowed`, `corrected_file_too_large`,
/// `not_a_failures_file`. 503 `unavailable` if the file cannot be read.
async fn find_corrected<B: Backend>(
    api: &Api<B>,
    tenant: &Tenant,
    job: &Job,
    id: FileGuid,
) -> Result<SourceFile, Failure> {
    let Some(source) = &job.source else { return Err(refused(no_file_to_correct())) };
    let file = find_source(api, tenant, id).await?;
    if file.size_bytes > CORRECTED_BYTES {
        return Err(refused(too_large(file.size_bytes)));
    }
    let definition = api.ports.store.definition(job.job_id).await?;
    let columns = Columns::from_names(source.format, definition.and_then(|definition| definition.columns));
    let columns =
        columns.ok_or_else(|| refused(not_a_failures_file("no row of this job has failed; retry without a file")))?;
    let head = read_head(&api.ports.files, &file).await?;
    let extent = Extent::from_lengths(head.len() as u64, file.size_bytes);
    ColumnLayout::find(&head, extent, &columns).map_err(|error| refused(not_a_failures_file(&error.to_string())))?;
    Ok(file)
}

/// Reads the first bytes of a file that existed a moment ago.
///
/// # Errors
/// 422 `unknown_file` if it no longer exists; 503 `unavailable` if it cannot be read.
async fn read_head(files: &impl Files, file: &SourceFile) -> Result<Vec<u8>, Failure> {
    let mut reader = ResumingReader::new(files, file, 0).up_to(HEAD_BYTES);
    let mut head = Vec::new();
    loop {
        match reader.next().await.map_err(|error| cannot_be_read(&error))? {
            Read::Found(Some(block)) => head.extend_from_slice(&block),
            Read::Found(None) => return Ok(head),
            Read::Absent | Read::Changed => return Err(refused(unknown_file())),
        }
    }
}

fn cannot_be_read(error: &PortError) -> Failure {
    unreadable(&telemetry::chain(error), "the corrected file cannot be read at the moment; retry later")
}

fn not_a_failures_file(why: &str) -> Bad {
    Bad::new("not_a_failures_file", format!("the file is not a corrected failures file of this job: {why}"))
}

fn no_file_to_correct() -> Bad {
    Bad::new(
        "file_not_allowed",
        "this job has no file, so there are no rows to correct; retry without a file, or create another job",
    )
}

fn too_large(size_bytes: u64) -> Bad {
    let detail = format!(
        "the corrected file has {size_bytes} bytes; the maximum is {CORRECTED_BYTES}; split it, and retry with one \
         part after the other; rows that are in no part stay failed"
    );
    Bad::new("corrected_file_too_large", detail)
}
