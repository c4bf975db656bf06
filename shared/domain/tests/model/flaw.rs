//! Flaws of the protocol that the model must find, by the names under which `cargo xtask prove` removes conditions.

use measurements::CONDITIONS;

/// A flaw in the protocol; the model must find each.
#[derive(Clone, Copy, Eq, PartialEq, Debug)]
pub(crate) enum Flaw {
    /// None: the unmodified protocol.
    None,
    /// Counts are added unconditionally.
    UnconditionalAdd,
    /// A commit checks that its group is open, but not the cursor.
    CursorUnchecked,
    /// A commit does not check that its group is open.
    CommitsAfterClose,
    /// A cursor value consists of round and position alone, so that two attempts can write the same value.
    CursorsRepeat,
    /// A work file is named by its chunk, round and position alone.
    FilesShareNames,
    /// Completion reads every work file of a chunk, including those that no cursor names.
    UnvouchedFiles,
    /// A report is named by its generation alone, so that each completion overwrites earlier reports.
    ReportsShareNames,
    /// The final status is written before the groups are closed.
    StatusBeforeClose,
    /// A final status is set on a job that already has one.
    StatusTwice,
    /// Completion acknowledges when its final status is refused.
    CompletionGivesUp,
    /// Only the worker of the last commit rolls up its group; no later delivery does.
    WorkerAlone,
    /// A status call uses the totals of a job that ended after its groups were read.
    StaleAnswer,
    /// A roll-up does not check that the job is still live.
    RollUpAfterEnd,
    /// The end of the split is recorded after the last send, without a check for "all done".
    CountAfterLastSend,
    /// The splitter acknowledges its message before it records the end.
    UnsealedSplit,
    /// A group is committed regardless of the split cursor.
    SplitCursorUnchecked,
    /// A group is committed regardless of the split position, and its splitter continues from any state it then reads.
    ContinuesFromForeignState,
    /// A group is committed regardless of the split position.
    PositionUnchecked,
    /// A splitter continues from any state it reads after its commit.
    AnswerUnchecked,
    /// The splitter treats a refusal as a lost race, and stops.
    SplitterGivesUp,
    /// "All done" does not check that the split has ended.
    DoneBeforeSplitEnd,
    /// A worker acknowledges when it opens the round, before it has sent the round's message.
    RoundUnsent,
    /// Group, end of split and final status are accepted from any generation.
    AnyGeneration,
    /// A replay runs everything that has failed, not only its chunk.
    ReplayRunsAll,
    /// A retry also replans items that have succeeded.
    ReplansAll,
}

/// The conditions that the model has, by the names under which they are removed. The others concern only the stored
/// job.
const MODELLED: [(&str, Flaw); 12] = [
    ("cursor-condition", Flaw::CursorUnchecked),
    ("unique-cursors", Flaw::CursorsRepeat),
    ("open-group", Flaw::CommitsAfterClose),
    ("attempt-in-names", Flaw::FilesShareNames),
    ("attempt-in-reports", Flaw::ReportsShareNames),
    ("closed-before-status", Flaw::StatusBeforeClose),
    ("final-count-first", Flaw::CountAfterLastSend),
    ("split-cursor", Flaw::SplitCursorUnchecked),
    ("place-of-the-split", Flaw::ContinuesFromForeignState),
    ("final-status", Flaw::StatusTwice),
    ("generation", Flaw::AnyGeneration),
    ("no-roll-up-after-the-end", Flaw::RollUpAfterEnd),
];

impl Flaw {
    /// Returns true if a commit does not check that its group begins at the split position.
    pub(crate) fn ignores_the_position(self) -> bool {
        matches!(self, Self::ContinuesFromForeignState | Self::PositionUnchecked | Self::SplitCursorUnchecked)
    }

    /// Returns true if the state read after a commit may differ from the written one.
    pub(crate) fn accepts_any_answer(self) -> bool {
        matches!(self, Self::ContinuesFromForeignState | Self::AnswerUnchecked | Self::SplitCursorUnchecked)
    }

    /// Returns the protocol without the condition of this name; `None` if the model does not have it.
    pub(crate) fn without(condition: &str) -> Option<Self> {
        MODELLED.iter().find(|(name, _)| *name == condition).map(|(_, flaw)| *flaw)
    }
}

#[test]
fn every_modelled_condition_can_be_removed() {
    for (modelled, _) in MODELLED {
        assert!(CONDITIONS.iter().any(|(name, _)| *name == modelled), "{modelled}");
    }
}
