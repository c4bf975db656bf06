//! The ways to get the protocol wrong that the model must find, by the names under which `cargo xtask prove` takes them out.

use measurements::CONDITIONS;

/// A way to get the protocol wrong; the model must find each.
#[derive(Clone, Copy, Eq, PartialEq, Debug)]
pub(crate) enum Flaw {
    /// The protocol as it is.
    None,
    /// Counts are added without any condition.
    PlainAdd,
    /// A commit asks whether its group is open, and not where the cursor is.
    CursorNotAsked,
    /// A commit does not ask whether its group is open.
    CommitsAfterClose,
    /// A cursor value is made of round and position alone, so that two attempts write the same one.
    CursorsRepeat,
    /// A work file is named by its chunk, round and position alone.
    FilesShareNames,
    /// Completion reads every work file of a chunk, vouched for or not.
    UnvouchedFiles,
    /// A report is named by its generation alone, so that each completion writes over what the others wrote.
    ReportsShareNames,
    /// The final status is written before the groups are closed.
    StatusBeforeClose,
    /// A final status is given to a job that has one.
    StatusTwice,
    /// Completion acknowledges when its final status is refused.
    CompletionGivesUp,
    /// Nobody but the worker of the last commit rolls its group up: no later delivery does it again.
    WorkerAlone,
    /// A status call takes the totals of a job that ended after its groups were read.
    StaleAnswer,
    /// A roll-up does not ask whether the job has ended.
    RollUpAfterEnd,
    /// The end of the split is recorded after the last send, and who records it does not look whether all is done.
    CountAfterLastSend,
    /// The splitter acknowledges its message before it records the end.
    UnsealedSplit,
    /// A group is committed wherever the split cursor is.
    SplitCursorNotAsked,
    /// A group is committed wherever the split has come to, and its splitter goes on from whatever state it reads then.
    GoesOnFromAnothersState,
    /// A group is committed wherever the split has come to.
    PlaceNotAsked,
    /// A splitter goes on from whatever state it reads after its commit.
    AnswerNotChecked,
    /// The splitter takes a refusal for a lost race, and stops.
    SplitterGivesUp,
    /// "All done" does not ask whether the split has ended.
    DoneBeforeSplitEnd,
    /// A worker acknowledges when the round is opened, before it has sent it.
    RoundUnsent,
    /// Group, end of split and final status are taken from any generation.
    AnyGeneration,
    /// A replay runs everything that has failed, not its chunk alone.
    ReplayRunsAll,
    /// A retry files again what has succeeded too.
    RefilesAll,
}

/// The conditions that the model knows, by the names under which they are taken out. The others are of the stored job
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
    /// A commit does not ask whether its group begins where the split has come to.
    pub(crate) fn asks_for_no_place(self) -> bool {
        matches!(self, Self::GoesOnFromAnothersState | Self::PlaceNotAsked | Self::SplitCursorNotAsked)
    }

    /// What is read after a commit need not be what was written.
    pub(crate) fn takes_any_answer(self) -> bool {
        matches!(self, Self::GoesOnFromAnothersState | Self::AnswerNotChecked | Self::SplitCursorNotAsked)
    }

    /// The protocol without the condition of this name; `None` if the model does not know it.
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
