//! The record of a path: the faults that it may still have, and its history.
//!
//! The check is exhaustive within the bounds. Each configuration spends them on a few kinds of faults, so that every
//! interleaving of those is visited in seconds.

use std::collections::BTreeMap;

use longshore_domain::outcome::Counts;

/// An answer of the status call, reduced to the values that must never decrease.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) generation: u32,
    pub(crate) counts: Counts,
    pub(crate) item_count: u64,
    pub(crate) percent: u8,
    /// True if the status was final.
    pub(crate) ended: bool,
}

/// The history of a path, used only by properties.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Record {
    /// The last two answers.
    pub(crate) answers: (Answer, Answer),
    /// Names of the final reports of each generation.
    pub(crate) reports: Vec<String>,
    /// Number of final statuses set in this generation.
    pub(crate) finishes: u8,
    /// Fingerprint of everything a client can read, at the final status.
    pub(crate) sealed: Option<u64>,
    /// Fingerprint of all earlier generations, when this one was opened.
    pub(crate) history: Option<u64>,
    /// Counts of each group when it was closed.
    pub(crate) closed: BTreeMap<u32, Counts>,
    /// Number of items that a handler reported as ok, in any attempt.
    pub(crate) effects: u64,
    /// Token of the attempt that counted each item as succeeded; empty if the job type has no output.
    pub(crate) outputs: BTreeMap<u8, String>,
    /// Items that a replay leaves failed.
    pub(crate) left_failed: u64,
    /// Number of messages that no queue redelivers, dead letters included.
    pub(crate) losses: u8,
    /// Number of times that the sweeper had to send a message.
    pub(crate) sweeps: u8,
    /// True if a worker passed items to a handler although every function saw a pause.
    pub(crate) started_while_paused: bool,
    /// True if the sweeper gave up work because its pushes had no effect.
    pub(crate) gave_up: bool,
}

/// Faults, and requests of clients and operators, that may still occur.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Bounds {
    /// Crashes after which the message is redelivered.
    pub(crate) crashes: u8,
    /// Crashes after which the message is lost, and client requests that were stored but whose message was not sent.
    pub(crate) losses: u8,
    /// Crashes after which the message is in the dead-letter queue.
    pub(crate) dead_letters: u8,
    /// Messages that become visible while they are being processed: the processing function is a zombie from then on.
    pub(crate) duplicates: u8,
    /// Writes that succeeded and were repeated after a lost reply.
    pub(crate) lost_replies: u8,
    /// Functions that are almost out of time.
    pub(crate) deadlines: u8,
    /// Cancels by the client.
    pub(crate) stops: u8,
    /// Retries of the remaining items by the client.
    pub(crate) retries: u8,
    /// Retries by the client of the items that failed for one reason.
    pub(crate) selections: u8,
    /// Replays of a dead letter by an operator.
    pub(crate) replays: u8,
    /// Status calls.
    pub(crate) reads: u8,
    /// Pauses by an operator. The sweeper counts its pushes only if there may be any.
    pub(crate) pauses: u8,
}
