//! What the model remembers of the way to a state, only to judge it.

use std::collections::BTreeMap;

use longshore_domain::outcome::Counts;

/// An answer of the status call, as far as it must never fall.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) generation: u32,
    pub(crate) counts: Counts,
    pub(crate) item_count: u64,
    pub(crate) percent: u8,
    /// The status was final.
    pub(crate) ended: bool,
}

/// What the model remembers only to judge.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Record {
    /// The last two answers.
    pub(crate) answers: (Answer, Answer),
    /// Names of the reports that the generations ended with.
    pub(crate) reports: Vec<String>,
    /// Final statuses given in this generation.
    pub(crate) finishes: u8,
    /// Fingerprint of everything that a client can read, at the final status.
    pub(crate) sealed: Option<u64>,
    /// Fingerprint of all generations before, when this one was opened.
    pub(crate) history: Option<u64>,
    /// Each group's counts when it was closed.
    pub(crate) closed: BTreeMap<u32, Counts>,
    /// Items that a handler said ok of, in any attempt.
    pub(crate) effects: u64,
    /// Items that a replay leaves failed.
    pub(crate) left_failed: u64,
    /// Messages that no queue brings again, dead letters among them.
    pub(crate) losses: u8,
    /// Times that the sweeper had to send something.
    pub(crate) sweeps: u8,
}
