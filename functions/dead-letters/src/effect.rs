//! The effect that a replay of a dead letter would have now, derived from the stored state of its job.

use longshore_domain::cursor::Cursor;
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Replay, replay};
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
