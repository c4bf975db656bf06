//! `POST /api/jobs/{jobId}/start`: starts an import from a validation job, over the same file or the same items.
//!
//! A single transaction stores the new job and links it to the validation job. So repeated and concurrent calls create
//! only one job, and no delete can happen between the two writes.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::handler::{AnyJobType, Registry};
use longshore::http::{Answer, Failure, PathText, Tenant, count_work_call};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::problem::{Kind, Problem};
use longshore_domain::cost::{CostEstimate, PlannedRun};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobTimes, PartSource, Source, SourceFile, Status, Validation, deadline};
use longshore_domain::ports::{Definition, Files, JobProgress, JobStore, Started};
use longshore_domain::timestamp::Timestamp;

use super::accept::{accepted, accepted_before};
use super::document::JobDocument;
use super::estimate::source_size;
use super::find::{find_job, with_groups};
use super::source::{discard_items, started_source};
use crate::admission::{admit, over_quota};
use crate::backend::{Api, Backend, Limits};
use crate::etag;
use crate::openapi::examples;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::StartRefusals;

/// Returns 202 with the started job, created by this call or an earlier one.
#[utoipa::path(
    post,
    path = "/api/jobs/{jobId}/start",
    operation_id = "startJob",
    tag = "jobs",
    summary = "Start an import from a validated job.",
    description = include_str!("start.md").trim_ascii_end(),
    params(JobIdInPath, IfMatchHeader),
    responses(
        (
            status = 202,
            description = "Started. Poll the new job at `Location`.",
            body = JobDocument,
            headers(
                ("Location" = inline(OnePath), description = "The new job."),
                ("Retry-After" = inline(RetryAfterSeconds), description = "Seconds."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::started()),
        ),
        StartRefusals,
    ),
)]
pub(crate) async fn start<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Answer {
    let checked = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    if let Some(started) = checked.validation.started_as {
        return accepted_before(&api.ports, &tenant, started, deleted).await;
    }
    count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    let definition = started_definition(&api.ports.store, &api.registry, &checked).await?;
    check_file(&api.ports.files, checked.file().map(SourceFile::as_uploaded).as_ref()).await?;
    let JobProgress { groups, job: checked } = with_groups(&api.ports.store, checked).await?;
    etag::check_match(&headers, &JobDocument::new(&checked, &groups))?;
    admit(&api, &tenant, checked.chunk_queue()).await?;
    let mut job = started_job(&checked, &api.limits, (api.clock)());
    let job_type = api.registry.find(&checked.job_type);
    job.undo.undoable = job_type.is_some_and(|job_type| job_type.is_undoable(&definition.options));
    set_source(&api, &mut job, &checked).await?;
    job.cost_estimate = estimate(&job, &checked, job_type, &definition);
    // If the store fails, the job may still have been stored, so its items stay.
    let started = api.ports.store.start_job(&job, &definition).await?;
    if was_refused(started, job.job_id) {
        discard_items(&api.ports.files, &job).await;
    }
    match started {
        Started::New => {
            api.ports.send_create(&job).await;
            Ok(accepted(&job, &[]))
        }
        Started::Before(started) => accepted_before(&api.ports, &tenant, started, deleted).await,
        Started::OverQuota(exceeded) => Err(over_quota(exceeded, job.times.created_at).into()),
        Started::Refused => Err(not_validated("it has just been reopened or deleted").into()),
    }
}

/// Sets the source of the started job, which is that of the validation.
///
/// # Errors
/// 409 `file-gone`.
async fn set_source<B: Backend>(api: &Api<B>, job: &mut Job, checked: &Job) -> Result<(), Failure> {
    let source: Option<Source> = if let Some(validated) = checked.file() {
        let source = started_source(&api.ports.files, validated, job).await?;
        Some(source.ok_or_else(|| file_gone(validated))?.into())
    } else if let Some(part) = checked.part() {
        check_part(&api.ports.store, part).await?;
        Some(Source::Job(part.clone()))
    } else {
        None
    };
    job.set_source(source);
    Ok(())
}

/// Returns the estimated cost of the started job, for the items that the validation has counted.
fn estimate(
    job: &Job,
    checked: &Job,
    job_type: Option<&dyn AnyJobType>,
    definition: &Definition,
) -> Option<CostEstimate> {
    let job_type = job_type?;
    let source = source_size(job.source.as_ref()?, Some(checked.split.item_count))?;
    let limits = job_type.limits().chunk();
    let writes_records = job_type.writes_records(&definition.options);
    Some(PlannedRun { source, limits, writes_records }.estimate())
}

/// Returns true if this job was certainly not stored. A call that the SDK repeated can find its own job; after a delete
/// of the validated job, it does not find it.
fn was_refused(started: Started, own: JobId) -> bool {
    match started {
        Started::OverQuota(_) => true,
        Started::Before(before) => before != own,
        Started::New | Started::Refused => false,
    }
}

/// Returns the definition of the import that a completed validation job starts.
///
/// # Errors
/// 409 `nothing-to-start`, `not-ended`, `not-validated`.
async fn started_definition(store: &impl JobStore, registry: &Registry, checked: &Job) -> Result<Definition, Failure> {
    let definition = store.definition(checked.job_id).await?;
    let job_type = registry.find(&checked.job_type).filter(|_| checked.validation.checks_only);
    let started = job_type.zip(definition).and_then(|(job_type, definition)| {
        let options = job_type.started(&definition.options)?;
        let given_reading = definition.given_again();
        Some(Definition {
            given_reading,
            sheet: definition.sheet,
            results: definition.results,
            ..Definition::new(options)
        })
    });
    let definition = started.ok_or_else(nothing_to_start)?;
    match (checked.status, &checked.error) {
        (Status::Completed, _) => Ok(definition),
        (Status::Failed | Status::Canceled, Some(error)) => Err(not_validated(&error.message).into()),
        (Status::Failed | Status::Canceled, None) => Err(not_validated("this job was stopped").into()),
        (Status::Waiting | Status::Running, _) => Err(not_ended().into()),
    }
}

/// Checks that the file is still the validated one.
///
/// # Errors
/// 409 `file-gone`.
async fn check_file(files: &impl Files, source: Option<&SourceFile>) -> Result<(), Failure> {
    let Some(source) = source else { return Ok(()) };
    let info = files.info(&source.key).await?;
    let same = info.is_some_and(|info| info.etag == source.etag && info.size_bytes == source.size_bytes);
    if same { Ok(()) } else { Err(file_gone(source).into()) }
}

/// Checks that the validated items can be copied once more from the job that they came from.
///
/// # Errors
/// 409 `file-gone`.
async fn check_part(store: &impl JobStore, part: &PartSource) -> Result<(), Failure> {
    let job = store.job(part.job_id).await?.filter(|job| !job.is_deleted());
    if job.is_some_and(|job| job.generation == part.generation) {
        return Ok(());
    }
    let detail = format!(
        "the job {} whose items were validated has been deleted or retried since; create another job for its items",
        part.job_id
    );
    Err(Problem::new(Kind::FileGone, detail).into())
}

/// Creates the import job with all settings of the validation job, and without a source.
fn started_job(checked: &Job, limits: &Limits, now: Timestamp) -> Job {
    let expires_at = limits.expires_at(now);
    Job {
        trace: Some(checked.trace_id()),
        priority: checked.priority,
        metadata: checked.metadata.clone(),
        callback: checked.callback,
        tolerance: checked.tolerance,
        times: JobTimes {
            timeout_s: checked.times.timeout_s,
            deadline_at: deadline(now, checked.times.timeout_s, expires_at),
            expires_at,
            ..JobTimes::accepted(now)
        },
        validation: Validation { started_from: Some(checked.job_id), ..Validation::default() },
        ..Job::waiting(JobId::generate(), checked.tenant.clone(), &checked.job_type, now)
    }
}

fn deleted() -> Problem {
    let detail = "the job that was started from this job was deleted; create another job for the file";
    Problem::new(Kind::JobDeleted, detail)
}

fn nothing_to_start() -> Problem {
    let detail = "this is not a validation job, so no import can be started from it; retry the job to process failed \
                  items again";
    Problem::new(Kind::NothingToStart, detail)
}

fn not_ended() -> Problem {
    let detail = "the job is still validating its file; wait until it ends";
    Problem::new(Kind::NotEnded, detail)
}

fn not_validated(why: &str) -> Problem {
    let detail = format!("only a job that has validated its whole file can be started: {why}");
    Problem::new(Kind::NotValidated, detail)
}

fn file_gone(source: &SourceFile) -> Problem {
    let again = if source.is_of_request() { "send the items" } else { "upload it" };
    let detail = format!(
        "the file {:?} has changed or been removed since it was validated; {again} again for a new job",
        source.name
    );
    Problem::new(Kind::FileGone, detail)
}
