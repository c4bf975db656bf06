//! The checkpoint of a completion that takes more than one invocation.

use serde::{Deserialize, Serialize};

use super::{Job, Transition};
use crate::time_stamp::Timestamp;

/// The point from which the next invocation continues a generation's completion: a stored part of its report.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Checkpoint {
    /// Name of the attempt that writes the report.
    pub attempt: String,
    /// Unique name of the stored part of the report.
    pub token: String,
    /// Number of checkpoints of this generation so far.
    pub step: u32,
}

/// A request to move the checkpoint of a generation.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct MoveCheckpoint {
    /// The generation that is being completed.
    pub generation: u32,
    /// The checkpoint from which this completion continued; `None` for the first.
    pub from: Option<Checkpoint>,
    /// The checkpoint that it has reached.
    pub to: Checkpoint,
    /// True if rows were written since `from`. Two kinds of moves are no progress: an attempt that replaces another has
    /// lost the rows that one had written, and an attempt that only claims a report with all rows written may fail
    /// after it again and again.
    pub is_progress: bool,
    /// Time of the move.
    pub at: Timestamp,
}

impl Job {
    /// Moves the checkpoint, and resets the count of re-sends if rows were written. Refused if another completion has
    /// moved it, if the job has ended, and for another generation.
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
    use crate::tenant::TenantId;

    #[test]
    fn only_progress_takes_back_the_pushes_that_were_counted() {
        for (is_progress, resends) in [(true, 0), (false, 3)] {
            let mut job = Job {
                resends: 3,
                ..Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(0))
            };
            let to = Checkpoint { attempt: "a".into(), token: "t".into(), step: 1 };
            let request = MoveCheckpoint { generation: 0, from: None, to, is_progress, at: Timestamp(1) };
            assert!(matches!(job.move_checkpoint(&request), Transition::Made(_)));
            assert_eq!(job.resends, resends);
        }
    }
}
