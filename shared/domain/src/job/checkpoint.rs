//! The checkpoint of a completion that takes more than one invocation.

use serde::{Deserialize, Serialize};

use super::{Job, Transition};
use crate::time_stamp::Timestamp;

/// The place from which the next completion of a generation goes on: a stored part of its report.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// Name of the attempt that writes the report.
    pub attempt: String,
    /// Name of what is stored of the report: no two checkpoints share it.
    pub token: String,
    /// Checkpoints of this generation so far.
    pub step: u32,
}

/// The wish to move the checkpoint of a generation.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct MoveCheckpoint {
    /// The generation that is being completed.
    pub generation: u32,
    /// The checkpoint from which this completion went on; none for the first.
    pub from: Option<Checkpoint>,
    /// The one that it has reached.
    pub to: Checkpoint,
    /// When.
    pub at: Timestamp,
}

impl Job {
    /// Moves the checkpoint: the completion is alive, and no push before was in vain. Refused if another completion has moved
    /// it, if the job has ended, and for another generation.
    pub fn move_checkpoint(&mut self, wish: &MoveCheckpoint) -> Transition {
        if self.status.is_final() || self.generation != wish.generation || self.checkpoint != wish.from {
            return Transition::Refused;
        }
        self.checkpoint = Some(wish.to.clone());
        self.resends = 0;
        self.touch(wish.at)
    }
}
