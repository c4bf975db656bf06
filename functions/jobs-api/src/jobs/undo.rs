//! `POST /api/jobs/{jobId}/undo`: undoes an import, or previews the undo.
//!
//! A single transaction stores the undo and marks the import. So of concurrent calls only one creates an undo, and no
//! retry or delete of the import can happen in between.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::http::{Answer, Bad, Checked, Failure, Fields, OptionalFields, PathText, Tenant, count_work_call};
use longshore::job_types::import::NAME as IMPORT;
use longshore::job_types::undo::{NAME, undo_options};
use longshore::openapi::{CacheNoStore, OnePath, RetryAfterSeconds};
use longshore::problem::{Kind, Problem};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobTimes, MarkUndone, SourceFile, UndoState, UndoneImport, deadline, has_time};
use longshore_domain::ports::{Created, Definition, Files, JobProgress, JobStore, UndoCreated};
use serde_json::Value;
use utoipa::ToSchema;

use super::accept::{accepted, accepted_before};
use super::document::JobDocument;
use super::find::{find_job, no_such_job, with_groups};
use crate::admission::{admit, over_quota};
use crate::backend::{Api, Backend};
use crate::etag;
use crate::openapi::examples;
use crate::openapi::parameters::{IfMatchHeader, JobIdInPath};
use crate::openapi::refusals::UndoRefusals;

/// Maximum body size: a mode, with room for white space.
const BODY_BYTES: usize = 4 * 1024;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Options of an undo.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct UndoRequest {
    /// `undo` undoes the import; `validate` only previews the outcomes.
    #[schema(default = "undo")]
    mode: Option<UndoMode>,
}

/// Effect of an undo.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default, ToSchema)]
#[schema(rename_all = "camelCase")]
enum UndoMode {
    /// Undoes the import.
    #[default]
    Undo,
    /// Writes nothing.
    Validate,
}

/// Creates the undo: 202 with its job. While an undo is active, 202 with the active one.
#[utoipa::path(
    post,
    path = "/api/jobs/{jobId}/undo",
    operation_id = "undoJob",
    tag = "jobs",
    summary = "Undo an import, or preview the undo.",
    description = include_str!("undo.md").trim_ascii_end(),
    params(JobIdInPath, IfMatchHeader),
    request_body(
        content = Option<UndoRequest>,
        description = "Up to 4 KiB, or nothing.",
        example = json!({ "mode": "validate" }),
    ),
    responses(
        (
            status = 202,
            description = "Accepted. Poll the undo at `Location`.",
            body = JobDocument,
            headers(
                ("Location" = inline(OnePath), description = "The undo."),
                ("Retry-After" = inline(RetryAfterSeconds), description = "Seconds."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::undoing()),
        ),
        UndoRefusals,
    ),
)]
pub(crate) async fn undo<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    tenant: Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
    OptionalFields(fields): OptionalFields<BODY_BYTES>,
) -> Answer {
    let import = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
    let preview = read_mode(fields)? == UndoMode::Validate;
    if let Some(active) = active_undo(&api.ports.store, &import).await?.filter(|_| !preview) {
        return accepted_before(&api.ports, &tenant, active, stopping).await;
    }
    count_work_call(&api.ports.store, &tenant.0, (api.clock)()).await?;
    let definition = undo_definition(&api.ports.store, &import, preview).await?;
    let expires_at = check_time(&api, &import, preview).await?;
    let source = check_file(&api.ports.files, &import).await?;
    // The mark names the import as it was checked, not as it is read again here.
    let JobProgress { groups, job: shown } = with_groups(&api.ports.store, import.clone()).await?;
    etag::check_match(&headers, &JobDocument::new(&shown, &groups))?;
    admit(&api, &tenant, import.chunk_queue()).await?;
    let undo = undo_job(&api, &import, source, preview, expires_at);
    if preview {
        return store_preview(&api, &undo, &definition).await;
    }
    let before = import.undo.undone_by;
    let at = undo.times.created_at;
    let mark = MarkUndone { import: import.job_id, generation: import.generation, before, by: undo.job_id, at };
    match api.ports.store.create_undo(&undo, &definition, &mark).await? {
        UndoCreated::New => {
            api.ports.send_create(&undo).await;
            Ok(accepted(&undo, &[]))
        }
        UndoCreated::OverQuota(exceeded) => Err(over_quota(exceeded, at).into()),
        UndoCreated::Refused => {
            let import = find_job(&api.ports.store, &tenant, &id, (api.clock)()).await?;
            match active_undo(&api.ports.store, &import).await? {
                Some(active) => accepted_before(&api.ports, &tenant, active, stopping).await,
                None => Err(not_ended("the job has just been reopened").into()),
            }
        }
    }
}

async fn store_preview<B: Backend>(api: &Api<B>, preview: &Job, definition: &Definition) -> Answer {
    match api.ports.store.create_job(preview, definition, None).await? {
        Created::OverQuota(exceeded) => Err(over_quota(exceeded, preview.times.created_at).into()),
        Created::New | Created::Replayed(_) | Created::KeyReused => {
            api.ports.send_create(preview).await;
            Ok(accepted(preview, &[]))
        }
    }
}

fn read_mode(mut fields: Fields) -> Result<UndoMode, Problem> {
    let mode = fields.optional("mode", mode).unwrap_or_default();
    fields.finish()?;
    Ok(mode)
}

fn mode(value: &Value) -> Checked<UndoMode> {
    match value.as_str() {
        Some("undo") => Ok(UndoMode::Undo),
        Some("validate") => Ok(UndoMode::Validate),
        _ => Err(Bad::new("invalid_undo_mode", "mode must be undo or validate; the default is undo")),
    }
}

/// Returns the undo of an import that has not ended; `None` if there is none.
pub(super) async fn active_undo(store: &impl JobStore, import: &Job) -> Result<Option<JobId>, Failure> {
    let Some(undo) = import.undo.undone_by else { return Ok(None) };
    let is_active = store.job(undo).await?.is_some_and(|undo| !undo.status.is_final());
    Ok(is_active.then_some(undo))
}

/// Returns the definition of an undo.
///
/// # Errors
/// 409 `not-undoable`, `not-ended`.
async fn undo_definition(store: &impl JobStore, import: &Job, preview: bool) -> Result<Definition, Failure> {
    if import.job_type != IMPORT {
        return Err(not_undoable("only imports can be undone").into());
    }
    let definition = store.definition(import.job_id).await?.ok_or_else(no_such_job)?;
    let options = undo_options(import.job_id, &definition.options, preview);
    let options = options.map_err(|why| not_undoable(&why.to_string()))?;
    if !import.status.is_final() {
        return Err(not_ended("cancel the import, or wait until it ends").into());
    }
    file_of(import)?;
    if !import.undo.undoable {
        return Err(not_undoable("it was created by a version that stored no previous versions").into());
    }
    if import.split.groups == 0 {
        return Err(not_undoable("the import ended before its first row").into());
    }
    Ok(Definition { given_reading: definition.given_again(), ..Definition::new(options) })
}

/// Checks that no worker of the import can still write, unless for a preview, and that an undo has time. Returns the
/// time in seconds at which the first thing that an undo needs expires.
///
/// # Errors
/// 409 `undo-too-early`, with `Retry-After`; `not-undoable`.
async fn check_time<B: Backend>(api: &Api<B>, import: &Job, preview: bool) -> Result<i64, Failure> {
    let now = (api.clock)();
    let upload = match import.file().and_then(SourceFile::upload) {
        Some(upload) => api.ports.store.upload(upload).await?,
        None => None,
    };
    let expires_at = upload.map_or(i64::MAX, |upload| upload.expires_at).min(api.limits.kept_until(import));
    if !has_time(now, expires_at) {
        return Err(not_undoable("the import or its file expires within the hour").into());
    }
    let ended = import.times.finished_at.unwrap_or(import.times.updated_at);
    let begins = ended.plus_seconds(api.limits.stall_s);
    if preview || now >= begins {
        return Ok(expires_at);
    }
    let detail = "a worker of the import may still write a record; retry after the seconds in Retry-After";
    Err(Problem::new(Kind::UndoTooEarly, detail).retry_after(begins.seconds_since(now).max(1)).into())
}

fn file_of(import: &Job) -> Result<&SourceFile, Problem> {
    import.file().ok_or_else(|| not_undoable("its items are a part of another job"))
}

/// Returns the part of the import's file that was split.
///
/// # Errors
/// 409 `file-gone`.
async fn check_file(files: &impl Files, import: &Job) -> Result<SourceFile, Failure> {
    let source = file_of(import)?;
    let info = files.info(&source.key).await?;
    if !info.is_some_and(|info| info.etag == source.etag && info.size_bytes == source.size_bytes) {
        let detail = format!("the file {:?} of the import has changed or been removed", source.name);
        return Err(Problem::new(Kind::FileGone, detail).into());
    }
    Ok(SourceFile { size_bytes: import.split.offset, ..source.clone() })
}

/// Creates the job of an undo, with the priority and the labels of its import.
fn undo_job<B: Backend>(api: &Api<B>, import: &Job, source: SourceFile, preview: bool, kept_until: i64) -> Job {
    let now = (api.clock)();
    let expires_at = api.limits.expires_at(now);
    let timeout_s = api.limits.job_time_limit_s;
    let undoes = UndoneImport { job_id: import.job_id, groups: import.split.groups, preview };
    Job {
        trace: Some(import.trace_id()),
        priority: import.priority,
        metadata: import.metadata.clone(),
        callback: import.callback,
        source: Some(source.into()),
        times: JobTimes {
            timeout_s,
            deadline_at: deadline(now, timeout_s, kept_until.min(expires_at)),
            expires_at,
            ..JobTimes::accepted(now)
        },
        undo: UndoState { undoes: Some(undoes), ..UndoState::default() },
        ..Job::waiting(JobId::generate(), import.tenant.clone(), NAME, now)
    }
}

/// Returns the problem of an undo that was deleted and has not ended yet.
fn stopping() -> Problem {
    let detail = "the undo of this import was deleted and is still stopping; retry in some seconds";
    Problem::new(Kind::UndoActive, detail)
}

fn not_ended(advice: &str) -> Problem {
    Problem::new(Kind::NotEnded, format!("only an import that has ended can be undone; {advice}"))
}

fn not_undoable(why: &str) -> Problem {
    Problem::new(Kind::NotUndoable, format!("the job cannot be undone: {why}"))
}
