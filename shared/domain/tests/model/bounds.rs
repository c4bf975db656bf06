//! How large a configuration is, and how much may go wrong in it.
//!
//! Exhaustive means exhaustive within these bounds: each configuration spends them on a few kinds of fault, so that
//! every interleaving of those is visited in seconds.

use crate::world::Mark;

/// Faults, and wishes of clients and operators, that are still to come.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Bounds {
    /// Deaths after which the message comes again.
    pub(crate) crashes: u8,
    /// Deaths after which it does not, and wishes of a client that were stored and not announced.
    pub(crate) losses: u8,
    /// Deaths after which the message is in the dead-letter queue.
    pub(crate) dead_letters: u8,
    /// Messages that become visible while their delivery is at work: it is a zombie from then on.
    pub(crate) duplicates: u8,
    /// Writes that took and were called again.
    pub(crate) lost_replies: u8,
    /// Functions whose time is nearly over.
    pub(crate) deadlines: u8,
    /// The client cancels.
    pub(crate) stops: u8,
    /// The client has what is left run again.
    pub(crate) retries: u8,
    /// An operator replays a dead letter.
    pub(crate) replays: u8,
    /// Status calls.
    pub(crate) reads: u8,
}

/// What can become of an item.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Nature {
    /// Succeeds.
    Good,
    /// Fails for good, in every generation.
    Bad,
    /// Fails, and succeeds in the next generation.
    Correction,
    /// Is skipped.
    Unwanted,
    /// Transient in so many rounds, then succeeds.
    Busy(u32),
    /// Two attempts at it may differ: it succeeds, fails, or (in round 0) is transient.
    Fickle,
}

impl Nature {
    /// What a handler may say of it in this round. A retry begins with round 1, for it works what was filed.
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
