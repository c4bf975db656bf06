//! History of a path, which the model keeps only to check properties.

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
    /// Items that a replay leaves failed.
    pub(crate) left_failed: u64,
    /// Number of messages that no queue redelivers, dead letters included.
    pub(crate) losses: u8,
    /// Number of times that the sweeper had to send a message.
    pub(crate) sweeps: u8,
}
