//! `POST /api/dead-letters/{letterId}/replay`, and `POST /api/dead-letters/replay` for all dead letters of a job.
//!
//! Dead letters of one job are replayed together or one after the other: while a generation that was opened for some of
//! them runs, the others must wait. The replay acts first and then records the resolution. A crash in between leaves
//! open dead letters, and the next replay finds on the job what was done for them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::http::{Answer, Bad, Failure, JsonFields, Operator, PathText};
use longshore::openapi::CacheNoStore;
use longshore::problem::Problem;
use longshore::telemetry;
use longshore_domain::dead_letter::{DeadLetterRecord, Replay, Resolution, Settlement};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Reopen, deadline};
use longshore_domain::message::{CompleteMessage, CreateMessage};
use longshore_domain::ports::{DeadLetterRecords, PortResult, Queues, RedriveToSource, Reopened, Store};
use utoipa::ToSchema;

use crate::document::{ReplayDocument, ReplayLinks};
use crate::effect::{discarded, no_room, refused, too_long};
use crate::list::AT_ONCE;
use crate::openapi::{DeadLetterIdInPath, ReplayJobRefusals, ReplayRefusals, replay_example};
use crate::replay_selection::ReplaySelection;
use crate::{DeadLetters, Effect};

/// Maximum body size: one job id, with room for white space.
const BODY_BYTES: usize = 4 * 1024;

/// Maximum dead letters per call: the chunk of each one is read.
const DEAD_LETTERS: usize = 500;

// For the schema only: the body is parsed field by field, so that every bad field is reported.
/// Dead letters to replay.
#[allow(dead_code, reason = "only described")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplayRequest {
    /// Job whose newest 500 open dead letters are replayed; up to 100 of those about chunks.
    job_id: JobId,
}

/// Returns 202 with the effect, of this call or an earlier one.
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
    let dead_letter = function.dead_letter(&id).await?;
    if let Some(resolution) = &dead_letter.resolution {
        return match resolution.how {
            Settlement::Replayed => Ok(accepted(&replayed_before(&dead_letter))),
            Settlement::Discarded => Err(discarded().into()),
        };
    }
    let document = match dead_letter.message.job_id() {
        None => function.redrive_to_source(&operator, &dead_letter).await?,
        Some(job) => {
            let mut dead_letters = function.dead_letters_of_job(job, DEAD_LETTERS).await?;
            if dead_letters.iter().all(|other| other.id != dead_letter.id) {
                dead_letters.push(dead_letter.clone());
            }
            let same_chunk = dead_letter.message.place().is_some();
            dead_letters.retain(|other| {
                other.id == dead_letter.id || (same_chunk && other.message.place() == dead_letter.message.place())
            });
            function.replay_dead_letters(&operator, dead_letters).await?
        }
    };
    Ok(accepted(&document))
}

/// Same for all open dead letters of a job.
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
    let bad_id = || Bad::new("invalid_job_id", "jobId is the id of a job");
    let job = fields.required("jobId", |value| value.as_str().and_then(JobId::parse).ok_or_else(bad_id));
    fields.finish()?;
    let Some(job) = job else { return Err(no_dead_letter().into()) };
    Ok(accepted(&function.replay_all(&operator, job).await?))
}

fn no_dead_letter() -> Problem {
    Problem::not_found("open dead letter of this job")
}

fn accepted(document: &ReplayDocument) -> axum::response::Response {
    (StatusCode::ACCEPTED, [(header::CACHE_CONTROL, "no-store")], Json(document)).into_response()
}

impl<S: Store + DeadLetterRecords, Q: Queues + RedriveToSource> DeadLetters<S, Q> {
    /// Replays all open dead letters of a job that can be replayed.
    ///
    /// # Errors
    /// 404 if there are none, 409 if none can be replayed now, 429 if the tenant has too many active jobs.
    pub async fn replay_all(&self, by: &Operator, job: JobId) -> Result<ReplayDocument, Failure> {
        let dead_letters = self.dead_letters_of_job(job, DEAD_LETTERS).await?;
        if dead_letters.is_empty() {
            return Err(no_dead_letter().into());
        }
        self.replay_dead_letters(by, dead_letters).await
    }

    /// Replays the open dead letters of one job that can be replayed.
    ///
    /// # Errors
    /// 409 if none can be replayed now, 429 if the tenant has too many active jobs.
    async fn replay_dead_letters(
        &self,
        by: &Operator,
        dead_letters: Vec<DeadLetterRecord>,
    ) -> Result<ReplayDocument, Failure> {
        let (mut job, replays) = self.standings(dead_letters).await?;
        let replay_selection = job.as_ref().map(|job| ReplaySelection::new(job, &replays)).unwrap_or_default();
        let opens = |replay: &(DeadLetterRecord, Replay)| replay_selection.serves(replay);
        let effect = match job {
            Some(ended) if replays.iter().any(opens) => {
                job = Some(self.open(&ended, &replay_selection).await?);
                Effect::Generation
            }
            _ => self.send_again(job.as_ref(), &replays).await?,
        };
        // If a generation was opened, no message was sent.
        let sends = effect != Effect::Generation;
        let (done, left): (Vec<_>, Vec<_>) = replays
            .into_iter()
            .partition(|replay| opens(replay) || replay.1 == Replay::Done || (sends && replay.1 == Replay::SendAgain));
        let ids = |dead_letters: &[(DeadLetterRecord, Replay)]| {
            dead_letters.iter().map(|(dead_letter, _)| dead_letter.id.clone()).collect()
        };
        let (replayed, open): (Vec<_>, _) = (ids(&done), ids(&left));
        if let (true, Some((_, replay))) = (done.is_empty(), left.first()) {
            return Err(refused(*replay).into());
        }
        self.record_replayed(by, &replayed).await?;
        Ok(document(job.as_ref(), effect, (replayed, open)))
    }

    /// Reads the job of these dead letters, and the effect of a replay of each.
    async fn standings(
        &self,
        dead_letters: Vec<DeadLetterRecord>,
    ) -> PortResult<(Option<Job>, Vec<(DeadLetterRecord, Replay)>)> {
        let read = |dead_letter: DeadLetterRecord| async move {
            let replay_plan = self.replay_plan(&dead_letter).await?;
            PortResult::Ok((replay_plan.job, (dead_letter, replay_plan.replay)))
        };
        let read: Vec<_> = stream::iter(dead_letters)
            .map(|dead_letter| Box::pin(read(dead_letter)))
            .buffered(AT_ONCE)
            .try_collect()
            .await?;
        let (mut jobs, replays): (Vec<_>, _) = read.into_iter().unzip();
        Ok((jobs.pop().flatten(), replays))
    }

    /// Opens the job's next generation for the selected items. If its message is lost, the sweeper sends it.
    async fn open(&self, job: &Job, replay_selection: &ReplaySelection) -> Result<Job, Failure> {
        let at = (self.clock)();
        let deadline_at = deadline(at, job.times.timeout_s, job.times.expires_at);
        let ReplaySelection { corrected, selected_chunks } = replay_selection.clone();
        let reopen = Reopen { generation: job.generation, at, deadline_at, corrected, selected_chunks };
        match self.ports.store.reopen(job, &reopen).await? {
            Reopened::Made(job) => {
                if let Err(error) = self.ports.queues.send_create(&CreateMessage::new(&job)).await {
                    let error = telemetry::chain(&error);
                    tracing::warn!(job.id = %job.job_id, error, "a create message was not sent; the sweeper will send it");
                }
                Ok(*job)
            }
            Reopened::Refused => Err(refused(Replay::Wait).into()),
            Reopened::OverLimit(active) => Err(no_room(active).into()),
            // Operators' replays do not count against the daily bytes: their store has no such limit.
            Reopened::OverDailyBytes(_) => Err(refused(Replay::Wait).into()),
        }
    }

    /// Requests the completion that a dead letter is about again.
    async fn send_again(&self, job: Option<&Job>, replays: &[(DeadLetterRecord, Replay)]) -> Result<Effect, Failure> {
        let mut effect = Effect::Nothing;
        for (_, replay) in replays {
            let Some(job) = job.filter(|_| *replay == Replay::SendAgain) else { continue };
            effect = Effect::Message;
            // Numbered and counted like the sweeper's re-sends: the queue would drop a message with a used number as a
            // duplicate.
            let message = CompleteMessage { resend: job.resends + 1, ..CompleteMessage::new(job) };
            self.ports.queues.send_complete(&message).await?;
            self.ports.store.count_resend(job, (self.clock)()).await?;
        }
        Ok(effect)
    }

    /// Redrives an unreadable message to its source queue unchanged.
    async fn redrive_to_source(
        &self,
        by: &Operator,
        dead_letter: &DeadLetterRecord,
    ) -> Result<ReplayDocument, Failure> {
        let body = self.ports.store.body(dead_letter).await?.ok_or_else(too_long)?;
        self.ports.queues.redrive_to_source(dead_letter, &body).await?;
        let replayed = vec![dead_letter.id.clone()];
        self.record_replayed(by, &replayed).await?;
        Ok(document(None, Effect::RedriveToSource, (replayed, Vec::new())))
    }

    async fn record_replayed(&self, Operator(who): &Operator, dead_letters: &[String]) -> Result<(), Failure> {
        let resolution = Resolution { how: Settlement::Replayed, by: who.clone(), at: (self.clock)() };
        for id in dead_letters {
            self.ports.store.resolve(id, &resolution).await?;
            tracing::info!(operator = who, dead_letter.id = id, "a dead letter is replayed");
        }
        Ok(())
    }
}

fn document(job: Option<&Job>, effect: Effect, (replayed, left): (Vec<String>, Vec<String>)) -> ReplayDocument {
    ReplayDocument {
        replayed,
        left,
        effect,
        job_id: job.map(|job| job.job_id),
        tenant: job.map(|job| job.tenant.clone().into()),
        generation: job.map(|job| job.generation),
        links: ReplayLinks { job: job.map(|job| format!("/api/jobs/{}", job.job_id)) },
    }
}

fn replayed_before(dead_letter: &DeadLetterRecord) -> ReplayDocument {
    let job = dead_letter.message.job_id();
    ReplayDocument {
        job_id: job,
        links: ReplayLinks { job: job.map(|job| format!("/api/jobs/{job}")) },
        ..document(None, Effect::Nothing, (vec![dead_letter.id.clone()], Vec::new()))
    }
}
