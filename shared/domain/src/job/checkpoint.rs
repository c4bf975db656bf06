//! Moves of the checkpoint of a completion that takes more than one invocation.

use super::{Checkpoint, Job, Transition};
use crate::timestamp::Timestamp;

/// A request to move the checkpoint of a completion that takes more than one invocation.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct MoveCheckpoint {
    /// The generation that is being completed.
    pub generation: u32,
    /// The checkpoint from which this completion continued; `None` for the first.
    pub from: Option<Checkpoint>,
    /// The checkpoint that it has reached.
    pub to: Checkpoint,
    /// True if rows were written since `from`. Two kinds of moves are no progress: an attempt that replaces another has
    /// lost the rows that one had written, and an attempt that only claims a report with all rows written may
    /// repeatedly fail after it.
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
    fn only_progress_resets_the_count_of_resends() {
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
