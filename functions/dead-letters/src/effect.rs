//! The effect that a replay of a dead letter would have now, derived from the stored state of its job, and the
//! reasons why there is none.

use longshore::problem::{Kind, Problem};
use longshore_domain::cursor::Cursor;
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Nothing, Replay, replay};
use longshore_domain::job::Job;
use longshore_domain::ports::{DeadLetterRecords, PortResult, Queues, RedriveToSource, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::DeadLetters;

/// Effect of a replay.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// The message is sent again: its job has not ended and can still use it.
    Message,
    /// The ended job opens again as its next generation. Of the failed items, only those given up with this dead letter
    /// run; unprocessed items run too.
    Generation,
    /// The unreadable message is redriven to its source queue unchanged.
    #[serde(rename = "putBack")]
    RedriveToSource,
    /// None until the job ends: the items are counted as failed, and the job is still running.
    Later,
    /// None: the dead letter is resolved, its job is deleted or was canceled, or its items have ended otherwise.
    Nothing,
}

impl From<Replay> for Effect {
    fn from(replay: Replay) -> Self {
        match replay {
            Replay::SendAgain => Self::Message,
            Replay::Open => Self::Generation,
            Replay::RedriveToSource => Self::RedriveToSource,
            Replay::Wait => Self::Later,
            Replay::Done | Replay::Nothing(_) => Self::Nothing,
        }
    }
}

/// The stored state that a replay depends on, and its effect.
pub(crate) struct ReplayPlan {
    /// Job of the dead letter.
    pub(crate) job: Option<Job>,
    /// Effect of a replay.
    pub(crate) replay: Replay,
}

impl<S: Store + DeadLetterRecords, Q: Queues + RedriveToSource> DeadLetters<S, Q> {
    /// Reads the job of a dead letter and its chunk's cursor, and derives the effect of a replay.
    pub(crate) async fn replay_plan(&self, dead_letter: &DeadLetterRecord) -> PortResult<ReplayPlan> {
        let (job, cursor) = self.read(&dead_letter.message).await?;
        let replay = replay(&dead_letter.message, job.as_ref(), cursor.as_ref(), (self.clock)());
        Ok(ReplayPlan { job, replay })
    }

    async fn read(&self, dead_letter: &DeadLetterMessage) -> PortResult<(Option<Job>, Option<Cursor>)> {
        let Some(id) = dead_letter.job_id() else { return Ok((None, None)) };
        let state = match dead_letter.place() {
            Some(place) => self.ports.store.chunk_state(id, place.group).await?.map(|state| (state, place.chunk)),
            None => None,
        };
        match state {
            Some((state, chunk)) => Ok((Some(state.job), state.group.cursors.get(&chunk).cloned())),
            None => Ok((self.ports.store.job(id).await?, None)),
        }
    }
}

/// Returns the reason why nothing could be replayed.
pub(crate) fn refused(replay: Replay) -> Problem {
    let nothing = |detail: &str| Problem::new(Kind::NothingToReplay, format!("{detail}; discard the dead letter"));
    match replay {
        Replay::Nothing(Nothing::JobGone) => {
            nothing("the job of the dead letter was deleted, or expires too soon to run again")
        }
        Replay::Nothing(Nothing::Canceled) => nothing("the job was canceled, and stays so until its owner retries it"),
        Replay::Nothing(Nothing::RunAgain) => nothing("a later attempt has run again what the dead letter was about"),
        Replay::Nothing(Nothing::WasDone) => nothing("what the dead letter was about has ended all the same"),
        Replay::RedriveToSource | Replay::SendAgain | Replay::Open | Replay::Done | Replay::Wait => {
            let detail = "the job has not ended, and what the dead letter was about is counted as failed; replay it after the \
                          job's end, with all other dead letters of the job";
            Problem::new(Kind::NotEnded, detail)
        }
    }
}

pub(crate) fn discarded() -> Problem {
    let detail =
        "the dead letter was discarded before; a retry of its job runs the rows that were counted as failed with it";
    Problem::new(Kind::LetterSettled, detail)
}

pub(crate) fn too_long() -> Problem {
    let detail = "the dead letter is unreadable and too long to be kept with its record; move it by the console of the queue, or discard it";
    Problem::new(Kind::NothingToReplay, detail)
}

pub(crate) fn no_room(active: u64) -> Problem {
    let detail = format!(
        "{active} jobs of the job's tenant have not ended, or were deleted and are not removed yet, and more may not be \
         active at once; wait for some minutes"
    );
    Problem::new(Kind::TooManyJobs, detail).retry_after(10)
}
