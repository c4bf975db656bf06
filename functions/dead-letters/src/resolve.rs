//! The calls that resolve dead letters: `POST /api/dead-letters/{letterId}/replay`, `POST /api/dead-letters/replay` for
//! all dead letters of a job, and `DELETE /api/dead-letters/{letterId}`, which discards a dead letter.
//!
//! A discard is one conditional write, which records the resolution; the sweeper deletes the message from its queue.
//! The job's result does not change.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use longshore::http::{Answer, Bad, Failure, JsonFields, Operator, PathText};
use longshore::openapi::CacheNoStore;
use longshore::ports::Ports;
use longshore::problem::{Kind, Problem};
use longshore_domain::dead_letter::{DeadLetterRecord, Resolution, ResolutionKind};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{DeadLetterRecords, Queues, RedriveToSource, Store};
use longshore_domain::timestamp::Timestamp;
use utoipa::ToSchema;

use crate::document::{ReplayDocument, ReplayLinks};
use crate::function::find_dead_letter;
use crate::list::dead_letters_of_job;
use crate::openapi::{DeadLetterIdInPath, DiscardRefusals, ReplayJobRefusals, ReplayRefusals, replay_example};
use crate::replay_job::{DEAD_LETTERS, document, no_dead_letter, record_replayed, replay_all, replay_dead_letters};
use crate::replay_plan::{discarded, too_long};
use crate::{DeadLetters, Effect};

/// Maximum body size: one job id, with room for white space.
const BODY_BYTES: usize = 4 * 1024;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Dead letters to replay.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplayRequest {
    /// Job whose newest 500 open dead letters are replayed, including those of up to 100 chunks.
    job_id: JobId,
}

/// Replays a dead letter: 202 with the effect of this call or an earlier one.
#[utoipa::path(
    post,
    path = "/api/dead-letters/{letterId}/replay",
    operation_id = "replayDeadLetter",
    tag = "dead letters",
    summary = "Replay a dead letter.",
    description = include_str!("replay.md").trim_ascii_end(),
    params(DeadLetterIdInPath),
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
pub(crate) async fn replay<S, Q>(
    State(function): State<Arc<DeadLetters<S, Q>>>,
    operator: Operator,
    PathText(id): PathText,
) -> Answer
where
    S: Store + DeadLetterRecords,
    Q: Queues + RedriveToSource,
{
    let (ports, clock) = (&function.ports, function.clock);
    let dead_letter = find_dead_letter(&ports.store, &id, clock()).await?;
    if let Some(resolution) = &dead_letter.resolution {
        return match resolution.kind {
            ResolutionKind::Replayed => Ok(accepted(&replayed_before(&dead_letter))),
            ResolutionKind::Discarded => Err(discarded().into()),
        };
    }
    let document = match dead_letter.message.job_id() {
        None => redrive_to_source(ports, &operator, &dead_letter, clock()).await?,
        Some(job) => {
            let mut dead_letters = dead_letters_of_job(&ports.store, job, DEAD_LETTERS, clock()).await?;
            if dead_letters.iter().all(|other| other.id != dead_letter.id) {
                dead_letters.push(dead_letter.clone());
            }
            let chunk = dead_letter.message.chunk_id();
            dead_letters
                .retain(|other| other.id == dead_letter.id || (chunk.is_some() && other.message.chunk_id() == chunk));
            replay_dead_letters(ports, &operator, dead_letters, clock).await?
        }
    };
    Ok(accepted(&document))
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
pub(crate) async fn replay_job<S, Q>(
    State(function): State<Arc<DeadLetters<S, Q>>>,
    operator: Operator,
    JsonFields(mut fields): JsonFields<BODY_BYTES>,
) -> Answer
where
    S: Store + DeadLetterRecords,
    Q: Queues + RedriveToSource,
{
    let bad_id = || Bad::new("invalid_job_id", "jobId must be the id of a job");
    let job = fields.required("jobId", |value| value.as_str().and_then(JobId::parse).ok_or_else(bad_id));
    fields.finish()?;
    let Some(job) = job else { return Err(no_dead_letter().into()) };
    Ok(accepted(&replay_all(&function.ports, &operator, job, function.clock).await?))
}

fn accepted(document: &ReplayDocument) -> Response {
    (StatusCode::ACCEPTED, [(header::CACHE_CONTROL, "no-store")], Json(document)).into_response()
}

/// Redrives an unreadable message to its source queue unchanged.
async fn redrive_to_source<S: DeadLetterRecords, Q: RedriveToSource>(
    ports: &Ports<S, Q, ()>,
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
    params(DeadLetterIdInPath),
    responses((status = 204, description = "The dead letter is discarded."), DiscardRefusals),
)]
pub(crate) async fn discard<S, Q>(
    State(function): State<Arc<DeadLetters<S, Q>>>,
    Operator(operator): Operator,
    PathText(id): PathText,
) -> Answer
where
    S: Store + DeadLetterRecords,
    Q: Queues + RedriveToSource,
{
    let (store, now) = (&function.ports.store, (function.clock)());
    find_dead_letter(store, &id, now).await?;
    let resolution = Resolution { kind: ResolutionKind::Discarded, by: operator.clone(), at: now };
    let dead_letter = store.resolve(&id, &resolution).await?;
    match dead_letter.and_then(|dead_letter| dead_letter.resolution).map(|resolution| resolution.kind) {
        None => Err(Problem::not_found("dead letter").into()),
        Some(ResolutionKind::Replayed) => Err(already_replayed().into()),
        Some(ResolutionKind::Discarded) => {
            tracing::info!(operator, dead_letter.id = id, "a dead letter was discarded");
            Ok(StatusCode::NO_CONTENT.into_response())
        }
    }
}

fn already_replayed() -> Problem {
    Problem::new(Kind::LetterSettled, "the dead letter has already been replayed")
}
