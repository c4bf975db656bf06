//! The plan of a replay: its current effect, derived from the stored state of the dead letter's job, the selection of
//! the items for which it reopens the job, and the reasons for which it has no effect.

use std::collections::BTreeSet;

use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::cursor::Cursor;
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, NoEffect, ReplayDecision, decide_replay};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, Selection};
use longshore_domain::ports::{PortResult, Store};
use longshore_domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Maximum number of chunks for which a job is reopened: they are stored on the job, which is written often.
const CHUNKS: usize = 100;

/// Effect of a replay.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// The message is sent again: its job has not ended and can still use it.
    Message,
    /// The ended job is reopened as its next generation. It runs the items that failed with this dead letter, and all
    /// unprocessed items.
    Generation,
    /// The unreadable message is redriven to its source queue unchanged.
    #[serde(rename = "putBack")]
    RedriveToSource,
    /// No effect until the job ends: the items are counted as failed, and the job is still running.
    Later,
    /// No effect: the dead letter is resolved, its job was deleted or canceled, or its items have ended otherwise.
    Nothing,
}

impl From<ReplayDecision> for Effect {
    fn from(replay: ReplayDecision) -> Self {
        match replay {
            ReplayDecision::SendAgain => Self::Message,
            ReplayDecision::Open => Self::Generation,
            ReplayDecision::RedriveToSource => Self::RedriveToSource,
            ReplayDecision::Wait => Self::Later,
            ReplayDecision::Done | ReplayDecision::NoEffect(_) => Self::Nothing,
        }
    }
}

/// The stored state that a replay depends on, and its effect.
pub(crate) struct ReplayPlan {
    /// Job of the dead letter.
    pub(crate) job: Option<Job>,
    /// Effect of a replay.
    pub(crate) replay: ReplayDecision,
}

/// Reads the job of a dead letter and its chunk's cursor, and derives the effect of a replay.
pub(crate) async fn replay_plan(
    store: &impl Store,
    dead_letter: &DeadLetterRecord,
    now: Timestamp,
) -> PortResult<ReplayPlan> {
    let (job, cursor) = read_job(store, &dead_letter.message).await?;
    job.iter().for_each(telemetry::record_job);
    let replay = decide_replay(&dead_letter.message, job.as_ref(), cursor.as_ref(), now);
    Ok(ReplayPlan { job, replay })
}

async fn read_job(store: &impl Store, dead_letter: &DeadLetterMessage) -> PortResult<(Option<Job>, Option<Cursor>)> {
    let Some(id) = dead_letter.job_id() else { return Ok((None, None)) };
    let state = match dead_letter.chunk_id() {
        Some(chunk) => store.chunk_state(id, chunk.group).await?.map(|state| (state, chunk.chunk)),
        None => None,
    };
    match state {
        Some((state, chunk)) => Ok((Some(state.job), state.group.cursors.get(&chunk).cloned())),
        None => Ok((store.job(id).await?, None)),
    }
}

/// A dead letter, and the effect of its replay.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct PlannedReplay {
    pub(crate) dead_letter: DeadLetterRecord,
    pub(crate) replay: ReplayDecision,
}

/// Selects the failed items that the next generation runs: those in the chunks of the dead letters. For a retry whose
/// splitter was dead-lettered, keeps the selection of that retry: the splitter has not replanned all of it, and it is
/// recorded nowhere else.
pub(crate) fn select(job: &Job, replays: &[PlannedReplay]) -> Selection {
    let open = || {
        replays
            .iter()
            .filter(|planned| planned.replay == ReplayDecision::Open)
            .map(|planned| &planned.dead_letter.message)
    };
    let chunks: BTreeSet<_> = open().filter_map(|dead_letter| dead_letter.chunk_id()).collect();
    let splitter_died = job.generation > 0 && open().any(|dead_letter| dead_letter.chunk_id().is_none());
    match (splitter_died, &job.retry.selection) {
        (true, Selection::Chunks(selected)) => Selection::Chunks(bounded(selected.union(&chunks))),
        (true, selection) => selection.clone(),
        (false, _) => Selection::Chunks(bounded(&chunks)),
    }
}

/// Returns true if a generation with this selection runs the items of this dead letter.
pub(crate) fn serves(selection: &Selection, planned: &PlannedReplay) -> bool {
    let is_selected = |chunk| match selection {
        Selection::All => true,
        Selection::Chunks(selected) => selected.contains(&chunk),
        Selection::Corrected(_) | Selection::Failure(_) => false,
    };
    planned.replay == ReplayDecision::Open && planned.dead_letter.message.chunk_id().is_none_or(is_selected)
}

fn bounded<'a>(chunks: impl IntoIterator<Item = &'a ChunkId>) -> BTreeSet<ChunkId> {
    chunks.into_iter().take(CHUNKS).copied().collect()
}

/// Returns the problem for a dead letter that cannot be replayed.
pub(crate) fn refused(replay: ReplayDecision) -> Problem {
    let nothing = |detail: &str| Problem::new(Kind::NothingToReplay, format!("{detail}; discard the dead letter"));
    match replay {
        ReplayDecision::NoEffect(NoEffect::JobGone) => {
            nothing("the job of the dead letter was deleted, or expires too soon to run again")
        }
        ReplayDecision::NoEffect(NoEffect::Canceled) => nothing("the job was canceled; only its tenant can retry it"),
        ReplayDecision::NoEffect(NoEffect::AlreadyRetried) => {
            nothing("a later attempt has already retried the items of the dead letter")
        }
        ReplayDecision::NoEffect(NoEffect::Undone) => {
            Problem::new(Kind::JobUndone, "the job is an undo, or an import that was undone; neither runs again")
        }
        ReplayDecision::NoEffect(NoEffect::AlreadyDone) => nothing("the work of the dead letter has already ended"),
        ReplayDecision::RedriveToSource
        | ReplayDecision::SendAgain
        | ReplayDecision::Open
        | ReplayDecision::Done
        | ReplayDecision::Wait => {
            let detail = "the job has not ended, and the items of the dead letter are counted as failed; replay all \
                          dead letters of the job after it has ended";
            Problem::new(Kind::NotEnded, detail)
        }
    }
}

pub(crate) fn discarded() -> Problem {
    let detail = "the dead letter has already been discarded; a retry of its job runs the rows that failed with it";
    Problem::new(Kind::LetterSettled, detail)
}

pub(crate) fn too_long() -> Problem {
    let detail = "the message is unreadable and too large to be stored; redrive it in the SQS console, or discard it";
    Problem::new(Kind::NothingToReplay, detail)
}

#[cfg(test)]
mod tests {
    use longshore_domain::dead_letter::Queue;
    use longshore_domain::group::ChunkPlan;
    use longshore_domain::ids::JobId;
    use longshore_domain::job::{FailureFilter, RetryState, SourceFile};
    use longshore_domain::message::{ChunkMessage, CreateMessage};
    use longshore_domain::records::Format;
    use longshore_domain::tenant::TenantId;

    use super::*;

    fn job(generation: u32, selection: Selection) -> Job {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0));
        Job { generation, retry: RetryState { selection, ..job.retry.clone() }, ..job }
    }

    fn chunk(group: u32) -> ChunkId {
        ChunkId { group, chunk: 0 }
    }

    fn dead_letter(message: DeadLetterMessage) -> PlannedReplay {
        let (queue, at) = (Queue::Chunk, Timestamp(0));
        let dead_letter = DeadLetterRecord {
            id: "id".into(),
            queue,
            message,
            sent_at: at,
            seen_at: at,
            receives: 6,
            size_bytes: 9,
            source: None,
            group_id: None,
            resolution: None,
            expires_at: 9,
        };
        PlannedReplay { dead_letter, replay: ReplayDecision::Open }
    }

    fn of_chunk(job: &Job, group: u32) -> PlannedReplay {
        let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false, keys: None };
        dead_letter(DeadLetterMessage::Chunk(ChunkMessage::new(job, ChunkId::new(group, 0), &plan)))
    }

    fn of_split(job: &Job) -> PlannedReplay {
        let message = CreateMessage { generation: job.generation, ..CreateMessage::of_job(job.job_id) };
        dead_letter(DeadLetterMessage::Create(message))
    }

    #[test]
    fn only_failed_items_in_chunks_of_the_dead_letters_run() {
        let job = job(0, Selection::All);
        let replays =
            [of_chunk(&job, 1), of_split(&job), PlannedReplay { replay: ReplayDecision::Wait, ..of_chunk(&job, 2) }];
        let selection = select(&job, &replays);
        assert_eq!(selection, Selection::Chunks([chunk(1)].into()));
        assert_eq!(replays.each_ref().map(|replay| serves(&selection, replay)), [true, true, false]);
    }

    #[test]
    fn chunks_beyond_the_maximum_are_not_selected() {
        let job = job(0, Selection::All);
        let replays: Vec<_> = (0..=CHUNKS as u32).map(|group| of_chunk(&job, group)).collect();
        let selection = select(&job, &replays);
        let served: Vec<_> = replays.iter().map(|replay| serves(&selection, replay)).collect();
        assert_eq!((served[..CHUNKS].iter().all(|s| *s), served[CHUNKS]), (true, false));
    }

    /// The client retried all failed items, and the splitter died before it had replanned them.
    #[test]
    fn a_retry_whose_splitter_died_keeps_its_selection() {
        let all = job(1, Selection::All);
        assert_eq!(select(&all, &[of_split(&all), of_chunk(&all, 1)]), Selection::All);
        let some = job(2, Selection::Chunks([chunk(0)].into()));
        let selection = select(&some, &[of_split(&some), of_chunk(&some, 1)]);
        assert_eq!(selection, Selection::Chunks([chunk(0), chunk(1)].into()));
        assert_eq!(
            select(&some, &[of_chunk(&some, 1)]),
            Selection::Chunks([chunk(1)].into()),
            "its splitter has not died"
        );
    }

    #[test]
    fn a_retry_keeps_its_corrected_file_or_reason_and_dead_letters_of_chunks_wait() {
        let (key, etag, name) = ("k".into(), "e".into(), "f.csv".into());
        let file = SourceFile { key, size_bytes: 1, etag, format: Format::Csv, name, reading: None, original: None };
        let reason = FailureFilter { code: "bad".into(), field: None };
        for selection in [Selection::Corrected(file), Selection::Failure(reason)] {
            let job = job(1, selection.clone());
            let replays = [of_split(&job), of_chunk(&job, 0)];
            assert_eq!(select(&job, &replays), selection);
            assert_eq!(replays.each_ref().map(|replay| serves(&selection, replay)), [true, false]);
        }
    }
}
