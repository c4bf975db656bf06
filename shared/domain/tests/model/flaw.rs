//! Flaws of the protocol that the model must find, by the names under which `cargo xtask prove` removes conditions.

use measurements::CONDITIONS;

/// A flaw in the protocol; the model must find each.
#[derive(Clone, Copy, Eq, PartialEq, Debug)]
pub(crate) enum Flaw {
    /// The protocol as it is.
    None,
    /// Counts are added unconditionally.
    PlainAdd,
    /// A commit checks that its group is open, but not the cursor.
    CursorNotAsked,
    /// A commit does not check that its group is open.
    CommitsAfterClose,
    /// A cursor value consists of round and position alone, so that two attempts write the same one.
    CursorsRepeat,
    /// A work file is named by its chunk, round and position alone.
    FilesShareNames,
    /// Completion reads every work file of a chunk, including those that no cursor names.
    UnvouchedFiles,
    /// A report is named by its generation alone, so that each completion overwrites the others' reports.
    ReportsShareNames,
    /// The final status is written before the groups are closed.
    StatusBeforeClose,
    /// A final status is set on a job that already has one.
    StatusTwice,
    /// Completion acknowledges when its final status is refused.
    CompletionGivesUp,
    /// Only the worker of the last commit rolls its group up; no later delivery does.
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
    SplitCursorNotAsked,
    /// A group is committed regardless of the split position, and its splitter continues from any state it then reads.
    GoesOnFromAnothersState,
    /// A group is committed regardless of the split position.
    PlaceNotAsked,
    /// A splitter continues from any state it reads after its commit.
    AnswerNotChecked,
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

/// The conditions that the model knows, by the names under which they are removed. The others concern the stored job
/// alone.
const KNOWN: [(&str, Flaw); 12] = [
    ("cursor-condition", Flaw::CursorNotAsked),
    ("unique-cursors", Flaw::CursorsRepeat),
    ("open-group", Flaw::CommitsAfterClose),
    ("attempt-in-names", Flaw::FilesShareNames),
    ("attempt-in-reports", Flaw::ReportsShareNames),
    ("closed-before-status", Flaw::StatusBeforeClose),
    ("final-count-first", Flaw::CountAfterLastSend),
    ("split-cursor", Flaw::SplitCursorNotAsked),
    ("place-of-the-split", Flaw::GoesOnFromAnothersState),
    ("final-status", Flaw::StatusTwice),
    ("generation", Flaw::AnyGeneration),
    ("no-roll-up-after-the-end", Flaw::RollUpAfterEnd),
];

impl Flaw {
    /// Returns true if a commit does not check that its group begins at the split position.
    pub(crate) fn asks_for_no_place(self) -> bool {
        matches!(self, Self::GoesOnFromAnothersState | Self::PlaceNotAsked | Self::SplitCursorNotAsked)
    }

    /// Returns true if the state read after a commit may differ from the written one.
    pub(crate) fn takes_any_answer(self) -> bool {
        matches!(self, Self::GoesOnFromAnothersState | Self::AnswerNotChecked | Self::SplitCursorNotAsked)
    }

    /// Returns the protocol without the condition of this name; `None` if the model does not know it.
    pub(crate) fn without(condition: &str) -> Option<Self> {
        KNOWN.iter().find(|(name, _)| *name == condition).map(|(_, flaw)| *flaw)
    }
}

#[test]
fn every_condition_that_the_model_knows_can_be_taken_out() {
    for (known, _) in KNOWN {
        assert!(CONDITIONS.iter().any(|(name, _)| *name == known), "{known}");
    }
}
