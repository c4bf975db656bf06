//! Bounds of a configuration: its size, and the number of faults in it.
//!
//! Exhaustive means exhaustive within these bounds. Each configuration spends them on a few kinds of fault, so that
//! every interleaving of those is visited in seconds.

use crate::world::Mark;

/// Faults, and requests of clients and operators, that may still occur.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Bounds {
    /// Deaths after which the message is redelivered.
    pub(crate) crashes: u8,
    /// Deaths after which the message is lost, and client requests that were stored but whose message was not sent.
    pub(crate) losses: u8,
    /// Deaths after which the message is in the dead-letter queue.
    pub(crate) dead_letters: u8,
    /// Messages that become visible while their delivery is being worked: that function is a zombie from then on.
    pub(crate) duplicates: u8,
    /// Writes that succeeded and were repeated after a lost reply.
    pub(crate) lost_replies: u8,
    /// Functions whose time is nearly over.
    pub(crate) deadlines: u8,
    /// Cancels by the client.
    pub(crate) stops: u8,
    /// Retries of the remaining items by the client.
    pub(crate) retries: u8,
    /// Replays of a dead letter by an operator.
    pub(crate) replays: u8,
    /// Status calls.
    pub(crate) reads: u8,
}

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
    /// Returns the possible outcomes in this round. A retry begins with round 1, because it works deferred items.
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
