//! What a replay of a letter would do now, by what is stored of its job.

use longshore_domain::cursor::Cursor;
use longshore_domain::dead_letter::{DeadLetterMessage, DeadLetterRecord, Replay, replay};
use longshore_domain::job::Job;
use longshore_domain::ports::{DeadLetterRecords, PortResult, Queues, Store};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

use crate::DeadLetters;
use longshore::queues::RedriveToSource;

/// What a replay does.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub enum Effect {
    /// The message is sent again: its job has not ended, and can still take it.
    Message,
    /// The job, which has ended, opens again as its next generation; of what failed only the items that were given up with
    /// the letter run, beside what was never processed.
    Generation,
    /// The unreadable message goes back to the queue that it came from, as it is.
    #[serde(rename = "putBack")]
    RedriveToSource,
    /// Nothing before the job's end: its items are counted as failed, and the job still runs.
    Later,
    /// Nothing: it was replayed or discarded, its job is gone or was canceled, or its items have ended otherwise.
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

/// What is stored about a letter.
pub(crate) struct ReplayPlan {
    /// Its job.
    pub(crate) job: Option<Job>,
    /// What a replay would do.
    pub(crate) replay: Replay,
}

impl<S: Store + DeadLetterRecords, Q: Queues + RedriveToSource> DeadLetters<S, Q> {
    /// The job of a letter, its chunk's cursor, and what follows from them.
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
