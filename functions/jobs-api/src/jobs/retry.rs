//! `POST /api/jobs/{jobId}/retry`: runs failed and unprocessed items again, and no others. With a corrected failures
//! file, of the failed items only those in the file run again.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::http::{Answer, Fields, OptionalFields, PathText, Tenant};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::problem::{Kind, Problem};
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Job, Reopen, deadline};
use longshore_domain::ports::{JobTransitions, Reopened};
use utoipa::ToSchema;

use super::accept::{accepted, send_create};
use super::document::JobDocument;
use super::find::{find_job, with_groups};
use super::source::find_corrected;
use super::source::unknown_file;
use crate::admission::{admit, count_call, day_is_full, too_many_jobs};
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::examples;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::RetryRefusals;

/// Maximum body size: one file id, with room for white space.
const BODY_BYTES: usize = 4 * 1024;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Options of a retry.
#[allow(dead_code, reason = "only described")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RetryRequest {
    /// Upload of a corrected failures file of up to 32 MiB.
    file_guid: Option<FileGuid>,
}

/// Opens the job again as a new generation: 202 with the job, if the limits allow it. One transaction, so that only one
/// of two concurrent retries succeeds. If the message that follows is lost, the sweeper sends it.
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
            description = "Opened again. Poll the job at `Location`.",
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
    // The reads cost the same if the call is refused later, so it is counted first.
    count_call(&api.ports.store, &tenant, (api.clock)()).await?;
    let (groups, job) = with_groups(&api.ports.store, job).await?;
    if !job.has_remaining() {
        return Err(refused(&job).into());
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
            send_create(&api.ports.queues, &job).await;
            let (groups, job) = with_groups(&api.ports.store, *job).await?;
            Ok(accepted(&job, &groups))
        }
        Reopened::Refused => Err(not_ended("it was opened again just now").into()),
        Reopened::OverLimit(active) => Err(too_many_jobs(active).into()),
        Reopened::OverDailyBytes(bytes) => Err(day_is_full(bytes, at).into()),
    }
}

/// Reads the corrected file's id from a request.
fn file_of(mut fields: Fields) -> Result<Option<FileGuid>, Problem> {
    let read = |value: &serde_json::Value| value.as_str().and_then(FileGuid::parse).ok_or_else(unknown_file);
    let file = fields.optional("fileGuid", read);
    fields.finish()?;
    Ok(file)
}

fn refused(job: &Job) -> Problem {
    if !job.status.is_final() {
        return not_ended("cancel it, or wait for its end");
    }
    let detail = "every item of the job succeeded or was skipped: there is nothing to run again";
    Problem::new(Kind::NothingToRetry, detail)
}

fn not_ended(way_out: &str) -> Problem {
    Problem::new(Kind::NotEnded, format!("only a job that has ended can be retried; {way_out}"))
}
