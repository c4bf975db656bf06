//! The bisection of batches: the search for the item on which a handler fails, although its ping is good.
//!
//! A batch that fails is sent again in halves until the item stands alone. Then the item spends an attempt, and the rest
//! continues without it. After the first call that failed, n items need at most 2·log₂ n further calls for that.
//!
//! The cause can also be the size of the batch: a handler that is too slow, or an endpoint with a small limit. If both
//! halves succeed, the size of the half becomes the new limit, which is doubled after some batches.
//!
//! Items that are not answered are sent again before any others. All decisions are about the first items that have no
//! outcome yet, so this state is a few numbers. It travels with the chunk. Backpressure does not change it.

use serde::{Deserialize, Serialize};

/// Factor by which batches grow after each batch that was answered.
const GROWTH: u32 = 4;
/// Number of answered batches after which the limit of the size is doubled.
const BATCHES_TO_RAISE: u32 = 8;

/// The size of a chunk's next batch, and the search that determines it.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bisection {
    /// Maximum number of items in a batch of the job type.
    max: u32,
    /// Number of items above which batches failed because of their size.
    limit: u32,
    /// Number of items in the next batch, unless the search needs a smaller one.
    size: u32,
    /// Number of batches that were answered at the limit.
    answered: u32,
    /// Number of faults since the last answer.
    faults: u32,
    /// The search.
    search: Search,
}

/// A search among the first `suspects` items without an outcome: at least one of them made a batch fail, unless the
/// batch was too large.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", tag = "step")]
enum Search {
    /// No batch failed.
    None,
    /// The first half is next.
    FirstHalf { suspects: u32 },
    /// The first half, of `half` items, was answered. The second one is next: if it is answered too, the size was the
    /// cause.
    SecondHalf { suspects: u32, half: u32 },
    /// An item is the cause. Half of the suspects is next.
    Item { suspects: u32 },
}

/// Consequence of a fault for the batch.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum AfterFault {
    /// A smaller batch is sent. No item has spent an attempt.
    Smaller,
    /// The item was sent alone: it spends an attempt, and does not return to the batches of this pass.
    Alone,
}

/// Numbers of items of a batch that was answered.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct BatchCounts {
    /// Items that were sent.
    pub sent: u32,
    /// Items that have an outcome, at least one.
    pub answered: u32,
}

impl Bisection {
    /// Creates the state of a chunk without faults. `max` is the maximum number of items in a batch.
    pub fn new(max: u32) -> Self {
        let max = max.max(1);
        Self { max, limit: max, size: max, answered: 0, faults: 0, search: Search::None }
    }

    /// Returns the maximum number of items in the next batch, at least one. It takes the first items without an
    /// outcome.
    pub fn next_size(&self) -> u32 {
        let searched = match self.search {
            Search::None => self.size,
            Search::FirstHalf { suspects } | Search::Item { suspects } => suspects.div_ceil(2),
            Search::SecondHalf { suspects, .. } => suspects,
        };
        searched.min(self.size).max(1)
    }

    /// Returns the number of faults since the last answer.
    pub fn faults(&self) -> u32 {
        self.faults
    }

    /// Decides what follows a fault of a batch of `sent` items, if a ping after it is good.
    #[must_use]
    pub fn after_fault(mut self, sent: u32) -> (Self, AfterFault) {
        self.faults = self.faults.saturating_add(1);
        self.answered = 0;
        if sent <= 1 {
            self.search = Search::None;
            self.size = GROWTH.min(self.limit);
            return (self, AfterFault::Alone);
        }
        self.search = match self.search {
            Search::None | Search::FirstHalf { .. } => Search::FirstHalf { suspects: sent },
            Search::SecondHalf { .. } | Search::Item { .. } => Search::Item { suspects: sent },
        };
        (self, AfterFault::Smaller)
    }

    /// Decides what follows an answer.
    #[must_use]
    pub fn after_answer(mut self, batch: BatchCounts) -> Self {
        self.faults = 0;
        self.search = self.search.without(batch);
        if let Search::SecondHalf { suspects: 0, half } = self.search {
            self.search = Search::None;
            self.limit = half.max(1);
            self.size = self.limit;
            self.answered = 0;
        } else if batch.answered < batch.sent {
            // The unanswered items are sent again alone, and not many more than were answered.
            let unanswered = batch.sent - batch.answered;
            self.size = unanswered.min(batch.answered.saturating_mul(2)).max(1);
        } else {
            self.grow(batch.sent);
        }
        self
    }

    /// Grows the size, and at last its limit.
    fn grow(&mut self, sent: u32) {
        if sent >= self.limit && self.limit < self.max {
            self.answered += 1;
        }
        if self.answered >= BATCHES_TO_RAISE {
            self.limit = self.limit.saturating_mul(2).min(self.max);
            self.answered = 0;
        }
        self.size = self.size.saturating_mul(GROWTH).min(self.limit);
    }
}

impl Search {
    /// Returns the search without the items that were answered.
    fn without(self, batch: BatchCounts) -> Self {
        let is_whole = batch.answered == batch.sent;
        match self {
            Self::None => Self::None,
            Self::FirstHalf { suspects } => match suspects.saturating_sub(batch.answered) {
                0 => Self::None,
                suspects if is_whole => Self::SecondHalf { suspects, half: batch.sent },
                suspects => Self::FirstHalf { suspects },
            },
            Self::SecondHalf { suspects, half } => {
                Self::SecondHalf { suspects: suspects.saturating_sub(batch.answered), half }
            }
            Self::Item { suspects } => match suspects.saturating_sub(batch.answered) {
                0 => Self::None,
                suspects => Self::Item { suspects },
            },
        }
    }
}

#[cfg(test)]
#[path = "bisection_tests.rs"]
mod tests;
