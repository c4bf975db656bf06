//! The replay of open dead letters of one job.
//!
//! Dead letters of one job are replayed together, because a job that was reopened for some of them must end before it
//! can be reopened for the others. The replay acts first and then records the resolution. After a crash in between, the
//! dead letters are still open, and the next replay derives from the job what was already done for them.

use futures::{StreamExt, TryStreamExt, stream};
use longshore::http::{Failure, Operator};
use longshore::ports::Ports;
use longshore::problem::Problem;
use longshore_domain::dead_letter::{DeadLetterRecord, ReplayDecision, Resolution, ResolutionKind};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Reopen, Selection, deadline};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{DeadLetterRecords, PortResult, Queues, QuotaExceeded, Reopened, Store};
use longshore_domain::timestamp::Timestamp;

use super::document::{ReplayDocument, ReplayLinks};
use super::list::{CONCURRENT_READS, dead_letters_of_job};
use super::replay_plan::{Effect, PlannedReplay, ReplayPlan, refused, replay_plan, select, serves};

/// Maximum number of dead letters per call: the chunk of each one is read.
pub(crate) const DEAD_LETTERS: usize = 500;

/// Seconds after which no further dead letter is looked at, so that the call has an answer, and a result in the log.
const PLAN_S: i64 = 10;

/// Replays all open dead letters of a job that can be replayed.
///
/// # Errors
/// 404 if the job has no open dead letter, 409 if none can be replayed now, 429 if the tenant has too many active jobs.
pub async fn replay_all<S: Store + DeadLetterRecords, Q: Queues, F: Sync>(
    ports: &Ports<S, Q, F>,
    by: &Operator,
    job: JobId,
    retention_days: i64,
    clock: fn() -> Timestamp,
) -> Result<ReplayDocument, Failure> {
    let dead_letters = dead_letters_of_job(&ports.store, job, DEAD_LETTERS, clock()).await?;
    if dead_letters.is_empty() {
        return Err(no_dead_letter().into());
    }
    replay_dead_letters(ports, by, dead_letters, retention_days, clock).await
}

/// Replays the open dead letters of one job that can be replayed.
///
/// # Errors
/// 409 if none can be replayed now, 429 if the tenant has too many active jobs.
pub(crate) async fn replay_dead_letters<S: Store + DeadLetterRecords, Q: Queues, F: Sync>(
    ports: &Ports<S, Q, F>,
    by: &Operator,
    dead_letters: Vec<DeadLetterRecord>,
    retention_days: i64,
    clock: fn() -> Timestamp,
) -> Result<ReplayDocument, Failure> {
    let (mut job, replays) = plan_replays(&ports.store, dead_letters, clock).await?;
    let selection = job.as_ref().map(|job| select(job, &replays)).unwrap_or_default();
    let opens = |planned: &PlannedReplay| serves(&selection, planned);
    let effect = match job {
        Some(ended) if replays.iter().any(opens) => {
            let kept_until = ended.kept_until(retention_days);
            job = Some(open(ports, &ended, selection.clone(), kept_until, clock()).await?);
            Effect::Generation
        }
        _ => send_again(ports, job.as_ref(), &replays, clock()).await?,
    };
    // If a generation was opened, no message was sent.
    let sends = effect != Effect::Generation;
    let (done, remaining): (Vec<_>, Vec<_>) = replays.into_iter().partition(|planned| {
        opens(planned)
            || planned.replay == ReplayDecision::Done
            || (sends && planned.replay == ReplayDecision::SendAgain)
    });
    let ids = |replays: &[PlannedReplay]| replays.iter().map(|planned| planned.dead_letter.id.clone()).collect();
    let (replayed, left): (Vec<_>, _) = (ids(&done), ids(&remaining));
    if let (true, Some(planned)) = (done.is_empty(), remaining.first()) {
        return Err(refused(planned.replay).into());
    }
    record_replayed(&ports.store, by, &replayed, clock()).await?;
    Ok(document(job.as_ref(), effect, replayed, left))
}

/// Reads the job of these dead letters, and the effect of a replay of each. Those for which there is no time are left to
/// a later call.
async fn plan_replays(
    store: &impl Store,
    dead_letters: Vec<DeadLetterRecord>,
    clock: fn() -> Timestamp,
) -> PortResult<(Option<Job>, Vec<PlannedReplay>)> {
    let until = clock().plus_seconds(PLAN_S);
    let plan = |dead_letter: DeadLetterRecord| async move {
        let now = clock();
        if now >= until {
            return PortResult::Ok((None, PlannedReplay { dead_letter, replay: ReplayDecision::Wait }));
        }
        let ReplayPlan { job, replay } = replay_plan(store, &dead_letter, now).await?;
        PortResult::Ok((job, PlannedReplay { dead_letter, replay }))
    };
    let plans: Vec<_> = stream::iter(dead_letters)
        .map(|dead_letter| Box::pin(plan(dead_letter)))
        .buffered(CONCURRENT_READS)
        .try_collect()
        .await?;
    let (jobs, replays): (Vec<_>, _) = plans.into_iter().unzip();
    Ok((jobs.into_iter().flatten().next_back(), replays))
}

/// Opens the job's next generation for the selected items. If its message is lost, the sweeper sends it.
async fn open<S: Store, Q: Queues, F: Sync>(
    ports: &Ports<S, Q, F>,
    job: &Job,
    selection: Selection,
    kept_until: i64,
    at: Timestamp,
) -> Result<Job, Failure> {
    let deadline_at = deadline(at, job.times.timeout_s, kept_until);
    let reopen = Reopen { generation: job.generation, at, deadline_at, selection, registration: None };
    match ports.store.reopen(job, &reopen).await? {
        Reopened::Made(job) => {
            ports.send_create(&job).await;
            Ok(*job)
        }
        Reopened::Refused => Err(refused(ReplayDecision::Wait).into()),
        Reopened::OverQuota(QuotaExceeded::ActiveJobs(active)) => Err(Problem::too_many_jobs(active).into()),
        // Unreachable: a replay does not count against the daily bytes, because this store has no such limit.
        Reopened::OverQuota(QuotaExceeded::DailyBytes(_)) => Err(refused(ReplayDecision::Wait).into()),
    }
}

/// Requests the completion of the dead letters again.
async fn send_again<S: Store, Q: Queues, F: Sync>(
    ports: &Ports<S, Q, F>,
    job: Option<&Job>,
    replays: &[PlannedReplay],
    now: Timestamp,
) -> Result<Effect, Failure> {
    let mut effect = Effect::Nothing;
    for planned in replays {
        let Some(job) = job.filter(|_| planned.replay == ReplayDecision::SendAgain) else { continue };
        effect = Effect::Message;
        // Numbered and counted like the sweeper's re-sends, because the queue drops a message with a used number as a
        // duplicate.
        let message = CompleteMessage { resend: job.resends + 1, ..CompleteMessage::new(job) };
        ports.queues.send_complete(&message).await?;
        ports.store.count_resend(job, now).await?;
    }
    Ok(effect)
}

/// Records the resolution of replayed dead letters.
pub(crate) async fn record_replayed(
    store: &impl DeadLetterRecords,
    Operator { id: operator, .. }: &Operator,
    dead_letters: &[String],
    at: Timestamp,
) -> Result<(), Failure> {
    let resolution = Resolution { kind: ResolutionKind::Replayed, by: operator.clone(), at };
    for id in dead_letters {
        store.resolve(id, &resolution).await?;
        tracing::info!(operator, dead_letter.id = id, "a dead letter was replayed");
    }
    Ok(())
}

/// Returns the document of a replay.
pub(crate) fn document(job: Option<&Job>, effect: Effect, replayed: Vec<String>, left: Vec<String>) -> ReplayDocument {
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

pub(crate) fn no_dead_letter() -> Problem {
    Problem::not_found("open dead letter of this job")
}
