//! The current effect of a replay of a dead letter, derived from the stored state of its job, and the reasons for which
//! a replay has no effect.

use longshore::problem::{Kind, Problem};
use longshore_domain::cursor::Cursor;
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, NoEffect, ReplayDecision, decide_replay};
use longshore_domain::job::Job;
use longshore_domain::ports::{PortResult, Store};
use longshore_domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

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
