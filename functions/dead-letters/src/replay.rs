//! `POST /api/dead-letters/{letterId}/replay`, and `POST /api/dead-letters/replay` for all letters of a job.
//!
//! Letters of one job are replayed together or one after the other: while the generation that was opened for some of
//! them runs, the others have to wait. The replay acts first and then notes the result. A crash in between leaves open
//! letters, and the next replay sees on the job what was done for them.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::IntoResponse;
use futures::{StreamExt, TryStreamExt, stream};
use longshore::http::{Answer, Bad, Failure, JsonFields, Operator, PathText};
use longshore::openapi::CacheNoStore;
use longshore::problem::Problem;
use longshore::queues::PutBack;
use longshore::telemetry;
use longshore_domain::dead_letter::{DeadLetter, Replay, Settled, Settlement};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Reopen, deadline};
use longshore_domain::message::{CompleteMessage, CreateMessage};
use longshore_domain::ports::{DeadLetterNotes, PortResult, Queues, Reopened, Store};
use utoipa::ToSchema;

use crate::document::{ReplayDocument, ReplayLinks};
use crate::list::AT_ONCE;
use crate::openapi::{LetterIdInPath, ReplayJobRefusals, ReplayRefusals, replay_example};
use crate::refused::{discarded, no_room, refused, too_long};
use crate::wish::Wish;
use crate::{DeadLetters, Effect};

/// The largest body: it names a job, and the rest is room for spaces.
const BODY_BYTES: usize = 4 * 1024;

/// Letters that one call looks at: each one's chunk is read.
const LETTERS: usize = 500;

// Only described: it is read by hand, to name every bad field.
/// Which letters are replayed.
#[allow(dead_code, reason = "only described")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ReplayRequest {
    /// The newest 500 open letters of this job; of those about chunks up to a hundred.
    job_id: JobId,
}

/// 202 with what was done: by this call, or before.
#[utoipa::path(
    post,
    path = "/api/dead-letters/{letterId}/replay",
    operation_id = "replayDeadLetter",
    tag = "dead letters",
    summary = "Replay a dead letter.",
    description = "For operators. While the job runs, a letter about a chunk or a split waits for its end: 409; a completion is \
        asked for again. A job that has ended opens again \
        as its next generation: of what failed, only the items that were given up with the letter run (code \
        `dead_lettered`), beside what was never processed; counts and report are repaired. Other letters about the \
        same chunk are replayed with it. A job that was canceled is not opened. An unreadable letter goes back \
        to its queue as it is. A letter that was replayed before is answered with the effect `nothing`. A body is ignored.",
    params(LetterIdInPath),
    responses(
        (
            status = 202,
            description = "Replayed; the letters leave the list at once, and their queue within a minute or so.",
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
    S: Store + DeadLetterNotes,
    Q: Queues + PutBack,
{
    let letter = function.letter(&id).await?;
    if let Some(settled) = &letter.settled {
        return match settled.how {
            Settlement::Replayed => Ok(accepted(&replayed_before(&letter))),
            Settlement::Discarded => Err(discarded().into()),
        };
    }
    let document = match letter.letter.job_id() {
        None => function.put_back(&operator, &letter).await?,
        Some(job) => {
            let mut letters = function.letters_of(job, LETTERS).await?;
            if letters.iter().all(|other| other.id != letter.id) {
                letters.push(letter.clone());
            }
            let same_chunk = letter.letter.place().is_some();
            letters
                .retain(|other| other.id == letter.id || (same_chunk && other.letter.place() == letter.letter.place()));
            function.replay_letters(&operator, letters).await?
        }
    };
    Ok(accepted(&document))
}

/// The same for all open letters of a job.
#[utoipa::path(
    post,
    path = "/api/dead-letters/replay",
    operation_id = "replayDeadLettersOfJob",
    tag = "dead letters",
    summary = "Replay all dead letters of a job.",
    description = "For operators. One generation is opened for all chunks of the job's letters, up to a hundred: while it runs no \
        other can be, so that letters of one job are better replayed together. What is left is told in `left`.",
    request_body(
        content = ReplayRequest,
        description = "Up to 4 KiB.",
        example = json!({ "jobId": "019f2c3e-7b1a-7c44-9d0e-2f6a1b3c4d5e" }),
    ),
    responses(
        (
            status = 202,
            description = "Replayed; the letters leave the list at once, and their queue within a minute or so.",
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
    S: Store + DeadLetterNotes,
    Q: Queues + PutBack,
{
    let bad_id = || Bad::new("invalid_job_id", "jobId is the id of a job");
    let job = fields.required("jobId", |value| value.as_str().and_then(JobId::parse).ok_or_else(bad_id));
    fields.finish()?;
    let Some(job) = job else { return Err(no_letter().into()) };
    Ok(accepted(&function.replay_all(&operator, job).await?))
}

fn no_letter() -> Problem {
    Problem::not_found("open dead letter of this job")
}

fn accepted(document: &ReplayDocument) -> axum::response::Response {
    (StatusCode::ACCEPTED, [(header::CACHE_CONTROL, "no-store")], Json(document)).into_response()
}

impl<S: Store + DeadLetterNotes, Q: Queues + PutBack> DeadLetters<S, Q> {
    /// Replays all open letters of a job, those that can be.
    ///
    /// # Errors
    /// 404 if there is none, 409 if none can be now, 429 if the tenant has no room for the job.
    pub async fn replay_all(&self, by: &Operator, job: JobId) -> Result<ReplayDocument, Failure> {
        let letters = self.letters_of(job, LETTERS).await?;
        if letters.is_empty() {
            return Err(no_letter().into());
        }
        self.replay_letters(by, letters).await
    }

    /// Replays open letters of one job, those that can be.
    ///
    /// # Errors
    /// 409 if none can be now, 429 if the tenant has no room for the job.
    async fn replay_letters(&self, by: &Operator, letters: Vec<DeadLetter>) -> Result<ReplayDocument, Failure> {
        let (mut job, replays) = self.standings(letters).await?;
        let wish = job.as_ref().map(|job| Wish::of(job, &replays)).unwrap_or_default();
        let opens = |replay: &(DeadLetter, Replay)| wish.serves(replay);
        let effect = match job {
            Some(ended) if replays.iter().any(opens) => {
                job = Some(self.open(&ended, &wish).await?);
                Effect::Generation
            }
            _ => self.send_again(job.as_ref(), &replays).await?,
        };
        // Where a generation was opened nothing was sent.
        let sends = effect != Effect::Generation;
        let (done, left): (Vec<_>, Vec<_>) = replays
            .into_iter()
            .partition(|replay| opens(replay) || replay.1 == Replay::Done || (sends && replay.1 == Replay::SendAgain));
        let ids = |letters: &[(DeadLetter, Replay)]| letters.iter().map(|(letter, _)| letter.id.clone()).collect();
        let (replayed, open): (Vec<_>, _) = (ids(&done), ids(&left));
        if let (true, Some((_, replay))) = (done.is_empty(), left.first()) {
            return Err(refused(*replay).into());
        }
        self.note_replayed(by, &replayed).await?;
        Ok(document(job.as_ref(), effect, (replayed, open)))
    }

    /// The job of these letters, and what a replay of each would do.
    async fn standings(&self, letters: Vec<DeadLetter>) -> PortResult<(Option<Job>, Vec<(DeadLetter, Replay)>)> {
        let read = |letter: DeadLetter| async move {
            let standing = self.standing(&letter).await?;
            PortResult::Ok((standing.job, (letter, standing.replay)))
        };
        let read: Vec<_> =
            stream::iter(letters).map(|letter| Box::pin(read(letter))).buffered(AT_ONCE).try_collect().await?;
        let (mut jobs, replays): (Vec<_>, _) = read.into_iter().unzip();
        Ok((jobs.pop().flatten(), replays))
    }

    /// The job's next generation, as it is wished for. If its message is lost, the sweeper sends it.
    async fn open(&self, job: &Job, wish: &Wish) -> Result<Job, Failure> {
        let at = (self.clock)();
        let deadline_at = deadline(at, job.timeout_s, job.expires_at);
        let Wish { corrected, only } = wish.clone();
        let reopen = Reopen { generation: job.generation, at, deadline_at, corrected, only };
        match self.ports.store.reopen(job, &reopen).await? {
            Reopened::Made(job) => {
                if let Err(error) = self.ports.queues.send_create(&CreateMessage::of(&job)).await {
                    let error = telemetry::chain(&error);
                    tracing::warn!(job.id = %job.job_id, error, "a create message was not sent; the sweeper will send it");
                }
                Ok(*job)
            }
            Reopened::Refused => Err(refused(Replay::Wait).into()),
            Reopened::OverLimit(active) => Err(no_room(active).into()),
            // Operators' replays do not count: their store has no limit of bytes.
            Reopened::OverDailyBytes(_) => Err(refused(Replay::Wait).into()),
        }
    }

    /// Asks again for the completion that a letter is about.
    async fn send_again(&self, job: Option<&Job>, replays: &[(DeadLetter, Replay)]) -> Result<Effect, Failure> {
        let mut effect = Effect::Nothing;
        for (_, replay) in replays {
            let Some(job) = job.filter(|_| *replay == Replay::SendAgain) else { continue };
            effect = Effect::Message;
            // Numbered and counted like the sweeper's re-sends: the queue would take a message with a used number for a
            // duplicate.
            let message = CompleteMessage { resend: job.resends + 1, ..CompleteMessage::of(job) };
            self.ports.queues.send_complete(&message).await?;
            self.ports.store.count_resend(job, (self.clock)()).await?;
        }
        Ok(effect)
    }

    /// An unreadable letter goes back as it is.
    async fn put_back(&self, by: &Operator, letter: &DeadLetter) -> Result<ReplayDocument, Failure> {
        let body = self.ports.store.body(letter).await?.ok_or_else(too_long)?;
        self.ports.queues.put_back(letter, &body).await?;
        let replayed = vec![letter.id.clone()];
        self.note_replayed(by, &replayed).await?;
        Ok(document(None, Effect::PutBack, (replayed, Vec::new())))
    }

    async fn note_replayed(&self, Operator(who): &Operator, letters: &[String]) -> Result<(), Failure> {
        let settled = Settled { how: Settlement::Replayed, by: who.clone(), at: (self.clock)() };
        for id in letters {
            self.ports.store.settle(id, &settled).await?;
            tracing::info!(operator = who, letter.id = id, "a dead letter is replayed");
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
        tenant: job.map(|job| job.tenant.clone()),
        generation: job.map(|job| job.generation),
        links: ReplayLinks { job: job.map(|job| format!("/api/jobs/{}", job.job_id)) },
    }
}

fn replayed_before(letter: &DeadLetter) -> ReplayDocument {
    let job = letter.letter.job_id();
    ReplayDocument {
        job_id: job,
        links: ReplayLinks { job: job.map(|job| format!("/api/jobs/{job}")) },
        ..document(None, Effect::Nothing, (vec![letter.id.clone()], Vec::new()))
    }
}
