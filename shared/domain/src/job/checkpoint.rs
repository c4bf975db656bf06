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
    /// Whether rows were written since `from`. An attempt that takes another's place has lost what that one had written, and
    /// one that only claims a report whose rows are all written may fail behind it for ever.
    pub is_progress: bool,
    /// When.
    pub at: Timestamp,
}

impl Job {
    /// Moves the checkpoint: the completion is alive, and no push before was in vain, if it has got on. Refused if another completion has moved
    /// it, if the job has ended, and for another generation.
    pub fn move_checkpoint(&mut self, request: &MoveCheckpoint) -> Transition {
        if self.status.is_final() || self.generation != request.generation || self.completion.checkpoint != request.from
        {
            return Transition::Refused;
        }
        self.completion.checkpoint = Some(request.to.clone());
        if request.is_progress {
            self.resends = 0;
        }
        self.touch(request.at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::JobId;

    #[test]
    fn only_progress_takes_back_the_pushes_that_were_counted() {
        for (is_progress, resends) in [(true, 0), (false, 3)] {
            let mut job = Job { resends: 3, ..Job::waiting(JobId::generate(), "t", "import", Timestamp(0)) };
            let to = Checkpoint { attempt: "a".into(), token: "t".into(), step: 1 };
            let request = MoveCheckpoint { generation: 0, from: None, to, is_progress, at: Timestamp(1) };
            assert!(matches!(job.move_checkpoint(&request), Transition::Made(_)));
            assert_eq!(job.resends, resends);
        }
    }
}
