//! Answers of a remote handler: the outcomes of the items that it named, and nothing about the others.

use std::time::Duration;

use serde_json::value::RawValue;

use crate::outcome::{Outcome, Rejection};

/// Outcome of an item, with the output as JSON text if the handler returned one.
pub type ItemOutcome = Outcome<Option<Box<RawValue>>>;

/// An answer of the contract.
#[derive(Clone, Debug)]
pub enum Answer {
    /// Outcomes of at least one item.
    Items(AnsweredItems),
    /// Nothing was done; the batch is sent again later, without an attempt of its items.
    RetryBatch {
        /// The wait that the handler asked for, clamped.
        after: Option<Duration>,
        /// The reason, for the document of the job.
        reason: String,
    },
    /// No item of the job can succeed: the job stops.
    Fatal(Rejection),
}

/// The outcomes of a batch by the position of the item in the request; `None` for an unanswered item.
#[derive(Clone, Debug)]
pub struct AnsweredItems(Vec<Option<ItemOutcome>>);

impl AnsweredItems {
    /// Creates the outcomes of a batch.
    pub(super) fn new(outcomes: Vec<Option<ItemOutcome>>) -> Self {
        Self(outcomes)
    }

    /// Returns the outcome of each item in the order of the request; `None` for an unanswered item.
    pub fn outcomes(&self) -> &[Option<ItemOutcome>] {
        &self.0
    }

    /// Returns the outcomes, by value.
    pub fn into_outcomes(self) -> Vec<Option<ItemOutcome>> {
        self.0
    }

    /// Returns the positions of the items that have no outcome.
    pub fn unanswered(&self) -> impl Iterator<Item = usize> {
        self.0.iter().enumerate().filter(|(_, outcome)| outcome.is_none()).map(|(at, _)| at)
    }

    /// Returns the number of items that have an outcome.
    pub fn answered(&self) -> usize {
        self.0.iter().flatten().count()
    }
}
