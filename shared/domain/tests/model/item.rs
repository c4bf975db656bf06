//! Items: the behavior of each, its outcomes, and its place in work files and reports.

use longshore_domain::ids::ChunkId;

/// The behavior of an item.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Nature {
    /// Succeeds.
    Good,
    /// Fails permanently, in every generation.
    Bad,
    /// Fails, and succeeds in the next generation.
    Correction,
    /// Is skipped.
    Unwanted,
    /// Transient in this number of rounds, then succeeds.
    Busy(u32),
    /// Two attempts may differ: the item succeeds, fails, or (in round 0) is transient.
    Fickle,
}

impl Nature {
    /// Returns the code of its failures.
    pub(crate) const fn code(self) -> &'static str {
        if let Self::Correction = self { "correctable" } else { "other" }
    }

    /// Returns the possible outcomes in this round. A retry begins with round 1, because it processes deferred items.
    pub(crate) fn marks(self, round: u32) -> &'static [Mark] {
        match self {
            Self::Bad => &[Mark::Failed],
            Self::Correction if round == 0 => &[Mark::Failed],
            Self::Good | Self::Correction => &[Mark::Ok],
            Self::Unwanted => &[Mark::Skipped],
            Self::Busy(rounds) if round < rounds => &[Mark::Transient],
            Self::Busy(_) => &[Mark::Ok],
            Self::Fickle if round == 0 => &[Mark::Ok, Mark::Failed, Mark::Transient],
            Self::Fickle => &[Mark::Ok, Mark::Failed],
        }
    }
}

/// The outcome of an item in one round.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub(crate) enum Mark {
    Ok,
    Failed,
    Skipped,
    Transient,
}

/// A work file: every item of a run that did not succeed, and the outputs of those that did.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct File {
    pub(crate) chunk: ChunkId,
    pub(crate) round: u32,
    pub(crate) prev: Option<String>,
    pub(crate) entries: Vec<(u8, Mark)>,
    /// Items with an output; empty if the job type has no output.
    pub(crate) outputs: Vec<Output>,
}

/// The output of an item: the item, and the token of the attempt that produced it.
pub(crate) type Output = (u8, String);

/// The place of an item in the report. An item in several places is the error that the model looks for.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub(crate) enum ItemEnd {
    Succeeded,
    Failed,
    Skipped,
    Unprocessed,
}

/// The places of every item, by its index.
pub(crate) type Report = Vec<Vec<ItemEnd>>;
