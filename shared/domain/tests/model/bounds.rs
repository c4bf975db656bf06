//! How large a configuration is, and how much may go wrong in it.
//!
//! Exhaustive means exhaustive within these bounds: each configuration spends them on a few kinds of fault, so that
//! every interleaving of those is visited in seconds.

use crate::world::Mark;

/// Faults that are still to come.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Bounds {
    /// Deaths after which the message comes again.
    pub(crate) crashes: u8,
    /// Deaths after which it does not, and stops that were not announced.
    pub(crate) losses: u8,
    /// Messages that come again while their first delivery is at work: zombies.
    pub(crate) duplicates: u8,
    /// Writes that took and were called again.
    pub(crate) lost_replies: u8,
    /// The client cancels.
    pub(crate) stops: u8,
    /// Status calls.
    pub(crate) reads: u8,
}

/// What can become of an item.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Nature {
    /// Succeeds.
    Good,
    /// Fails for good.
    Bad,
    /// Is skipped.
    Unwanted,
    /// Transient in so many rounds, then succeeds.
    Busy(u32),
    /// Two attempts at it may differ: it succeeds, fails, or (in round 0) is transient.
    Fickle,
}

impl Nature {
    /// What a handler may say of it in this round.
    pub(crate) fn marks(self, round: u32) -> &'static [Mark] {
        match self {
            Self::Good => &[Mark::Ok],
            Self::Bad => &[Mark::Failed],
            Self::Unwanted => &[Mark::Skipped],
            Self::Busy(rounds) if round < rounds => &[Mark::Transient],
            Self::Busy(_) => &[Mark::Ok],
            Self::Fickle if round == 0 => &[Mark::Ok, Mark::Failed, Mark::Transient],
            Self::Fickle => &[Mark::Ok, Mark::Failed],
        }
    }
}

/// A way to get the protocol wrong; the model must find each.
#[derive(Clone, Copy, Eq, PartialEq, Debug)]
pub(crate) enum Flaw {
    /// The protocol as it is.
    None,
    /// Counts are added without the condition.
    PlainAdd,
    /// A commit does not ask whether its group is open.
    CommitsAfterClose,
    /// A cursor value is made of round and position alone.
    TokensRepeat,
    /// Completion reads every work file of a chunk, vouched for or not.
    UnvouchedFiles,
    /// The report, one file that each completion writes over, also says what became of the job.
    ReportNamesStatus,
    /// Completion acknowledges when its final status is refused.
    CompletionGivesUp,
    /// Nobody but the worker of the last commit rolls its group up.
    RollUpOnce,
    /// A status call takes the totals of a job that ended after its groups were read.
    StaleAnswer,
    /// A roll-up does not ask whether the job has ended.
    RollUpAfterEnd,
    /// The splitter acknowledges its message before it records the end.
    UnsealedSplit,
    /// The splitter takes a refusal for a lost race, and stops.
    SplitterGivesUp,
    /// "All done" does not ask whether the split has ended.
    DoneBeforeSplitEnd,
    /// A worker acknowledges when the round is opened, before it has sent it.
    RoundUnsent,
}
