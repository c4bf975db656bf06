//! The calls that resolve dead letters: `POST /api/dead-letters/{letterId}/replay`, `POST /api/dead-letters/replay` for
//! all dead letters of a job, and `DELETE /api/dead-letters/{letterId}`, which discards a dead letter.
//!
//! A discard is one conditional write, which records the resolution; the sweeper deletes the message from its queue.
//! The job's result does not change.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use longshore::http::{Answer, Bad, Failure, JsonFields, Operator, PathText, QueryText, no_store};
use longshore::openapi::CacheNoStore;
use longshore::ports::Ports;
use longshore::problem::{Kind, Problem};
use longshore_domain::dead_letter::{DeadLetterRecord, Resolution, ResolutionKind};
use longshore_domain::ids::JobId;
use longshore_domain::operator_log::{ActionScope, OperatorAction};
use longshore_domain::ports::{DeadLetterRecords, RedriveToSource};
use longshore_domain::timestamp::Timestamp;
use utoipa::ToSchema;

use super::document::{ReplayDocument, ReplayLinks};
use super::find::find_dead_letter;
use super::list::dead_letters_of_job;
use super::openapi::{DeadLetterIdInPath, DiscardRefusals, ReplayJobRefusals, ReplayRefusals, replay_example};
use super::replay_job::{DEAD_LETTERS, document, no_dead_letter, record_replayed, replay_all, replay_dead_letters};
use super::replay_plan::Effect;
use super::replay_plan::{discarded, too_long};
use crate::function::{Backend, Operations};
use crate::log::audited::{ActionSummary, AuditedAction};
use crate::log::reason::{ReasonQuery, reason, reason_in};

/// Maximum body size: one job id and a reason, with room for white space.
const BODY_BYTES: usize = 4 * 1024;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Dead letters to replay.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplayRequest {
    /// Job whose newest 500 open dead letters are replayed, including those of up to 100 chunks.
    job_id: JobId,
    /// Reason, for the operators' log.
    #[schema(min_length = 1, max_length = 500)]
    reason: Option<String>,
}

/// Replays a dead letter: 202 with the effect of this call or an earlier one.
#[utoipa::path(
    post,
    path = "/api/dead-letters/{letterId}/replay",
    operation_id = "replayDeadLetter",
    tag = "dead letters",
    summary = "Replay a dead letter.",
    description = include_str!("replay.md").trim_ascii_end(),
    params(DeadLetterIdInPath, ReasonQuery),
    responses(
        (
            status = 202,
            description = "Replayed. The dead letters leave the list immediately, and their queue within about a minute.",
            body = ReplayDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(replay_example()),
        ),
        ReplayRefusals,
    ),
)]
pub(crate) async fn replay<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    operator: Operator,
    PathText(id): PathText,
    query: QueryText,
) -> Answer {
    let reason = reason_in(&query)?;
    let dead_letter = find_dead_letter(&function.ports.store, &id, (function.clock)()).await?;
    if let Some(resolution) = &dead_letter.resolution {
        return match resolution.kind {
            ResolutionKind::Replayed => Ok(accepted(&replayed_before(&dead_letter))),
            ResolutionKind::Discarded => Err(discarded().into()),
        };
    }
    let action = AuditedAction {
        action: OperatorAction::ReplayDeadLetter,
        scope: ActionScope {
            letter_id: Some(id),
            job_ids: dead_letter.message.job_id().into_iter().collect(),
            ..ActionScope::default()
        },
        reason,
    };
    let replay = replay_with_copies(&function, &operator, &dead_letter);
    Ok(accepted(&action.run(&*function, &operator, replay).await?))
}

/// Replays a dead letter, and the others of the same chunk.
async fn replay_with_copies<B: Backend>(
    function: &Operations<B>,
    operator: &Operator,
    dead_letter: &DeadLetterRecord,
) -> Result<ReplayDocument, Failure> {
    let Operations { ports, retention_days, clock, .. } = function;
    let Some(job) = dead_letter.message.job_id() else {
        return redrive_to_source(ports, operator, dead_letter, clock()).await;
    };
    let mut dead_letters = dead_letters_of_job(&ports.store, job, DEAD_LETTERS, clock()).await?;
    if dead_letters.iter().all(|other| other.id != dead_letter.id) {
        dead_letters.push(dead_letter.clone());
    }
    let chunk = dead_letter.message.chunk_id();
    dead_letters.retain(|other| other.id == dead_letter.id || (chunk.is_some() && other.message.chunk_id() == chunk));
    replay_dead_letters(ports, operator, dead_letters, *retention_days, *clock).await
}

/// Replays all open dead letters of a job. Returns 202 with the effect.
#[utoipa::path(
    post,
    path = "/api/dead-letters/replay",
    operation_id = "replayDeadLettersOfJob",
    tag = "dead letters",
    summary = "Replay all dead letters of a job.",
    description = include_str!("replay_job.md").trim_ascii_end(),
    request_body(
        content = ReplayRequest,
        description = "Up to 4 KiB.",
        example = json!({ "jobId": "019f2c3e-7b1a-7c44-9d0e-2f6a1b3c4d5e" }),
    ),
    responses(
        (
            status = 202,
            description = "Replayed. The dead letters leave the list immediately, and their queue within about a minute.",
            body = ReplayDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(replay_example()),
        ),
        ReplayJobRefusals,
    ),
)]
pub(crate) async fn replay_job<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    operator: Operator,
    JsonFields(mut fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let bad_id = || Bad::new("invalid_job_id", "jobId must be the id of a job");
    let job = fields.required("jobId", |value| value.as_str().and_then(JobId::parse).ok_or_else(bad_id));
    let reason = fields.optional("reason", reason);
    fields.finish()?;
    let Some(job) = job else { return Err(no_dead_letter().into()) };
    let action = AuditedAction {
        action: OperatorAction::ReplayDeadLettersOfJob,
        scope: ActionScope { job_ids: vec![job], ..ActionScope::default() },
        reason,
    };
    let replay = replay_all(&function.ports, &operator, job, function.retention_days, function.clock);
    Ok(accepted(&action.run(&*function, &operator, replay).await?))
}

fn accepted(document: &ReplayDocument) -> Response {
    (StatusCode::ACCEPTED, no_store(document)).into_response()
}

impl ActionSummary for ReplayDocument {
    const STATUS: u16 = 202;

    fn detail(&self) -> String {
        let effect = match self.effect {
            Effect::Message => "the message was sent again",
            Effect::Generation => "the job was reopened",
            Effect::RedriveToSource => "the message was redriven to its source queue",
            Effect::Later | Effect::Nothing => "nothing was done",
        };
        format!("{effect}; {} dead letters replayed, {} left", self.replayed.len(), self.left.len())
    }

    fn started(&self) -> Vec<JobId> {
        self.job_id.filter(|_| self.effect == Effect::Generation).into_iter().collect()
    }
}

/// A dead letter was discarded.
struct Discarded;

impl ActionSummary for Discarded {
    const STATUS: u16 = 204;

    fn detail(&self) -> String {
        "the dead letter was discarded".to_owned()
    }
}

/// Redrives an unreadable message to its source queue unchanged.
async fn redrive_to_source<S: DeadLetterRecords, Q: RedriveToSource, F: Sync>(
    ports: &Ports<S, Q, F>,
    by: &Operator,
    dead_letter: &DeadLetterRecord,
    now: Timestamp,
) -> Result<ReplayDocument, Failure> {
    let body = ports.store.body(dead_letter).await?.ok_or_else(too_long)?;
    ports.queues.redrive_to_source(dead_letter, &body).await?;
    let replayed = vec![dead_letter.id.clone()];
    record_replayed(&ports.store, by, &replayed, now).await?;
    Ok(document(None, Effect::RedriveToSource, replayed, Vec::new()))
}

fn replayed_before(dead_letter: &DeadLetterRecord) -> ReplayDocument {
    let job = dead_letter.message.job_id();
    ReplayDocument {
        job_id: job,
        links: ReplayLinks { job: job.map(|job| format!("/api/jobs/{job}")) },
        ..document(None, Effect::Nothing, vec![dead_letter.id.clone()], Vec::new())
    }
}

/// Discards a dead letter: 204, also if an earlier call discarded it.
#[utoipa::path(
    delete,
    path = "/api/dead-letters/{letterId}",
    operation_id = "discardDeadLetter",
    tag = "dead letters",
    summary = "Discard a dead letter.",
    description = include_str!("discard.md").trim_ascii_end(),
    params(DeadLetterIdInPath, ReasonQuery),
    responses((status = 204, description = "The dead letter is discarded."), DiscardRefusals),
)]
pub(crate) async fn discard<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    operator: Operator,
    PathText(id): PathText,
    query: QueryText,
) -> Answer {
    let reason = reason_in(&query)?;
    let (store, now) = (&function.ports.store, (function.clock)());
    let dead_letter = find_dead_letter(store, &id, now).await?;
    let action = AuditedAction {
        action: OperatorAction::DiscardDeadLetter,
        scope: ActionScope {
            letter_id: Some(id.clone()),
            job_ids: dead_letter.message.job_id().into_iter().collect(),
            ..ActionScope::default()
        },
        reason,
    };
    action.run(&*function, &operator, discard_once(store, &id, &operator, now)).await?;
    tracing::info!(operator = operator.id, dead_letter.id = id, "a dead letter was discarded");
    Ok(StatusCode::NO_CONTENT.into_response())
}

async fn discard_once(
    store: &impl DeadLetterRecords,
    id: &str,
    operator: &Operator,
    now: Timestamp,
) -> Result<Discarded, Failure> {
    let resolution = Resolution { kind: ResolutionKind::Discarded, by: operator.id.clone(), at: now };
    let dead_letter = store.resolve(id, &resolution).await?;
    match dead_letter.and_then(|dead_letter| dead_letter.resolution).map(|resolution| resolution.kind) {
        None => Err(Problem::not_found("dead letter").into()),
        Some(ResolutionKind::Replayed) => Err(already_replayed().into()),
        Some(ResolutionKind::Discarded) => Ok(Discarded),
    }
}

fn already_replayed() -> Problem {
    Problem::new(Kind::LetterSettled, "the dead letter has already been replayed")
}
