//! What became of an item, and how outcomes are counted.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::text::{cut, shortened};

/// Bounds of a rejection: a file may have one for each row.
const CODE_BYTES: usize = 100;
const FIELD_CHARS: usize = 200;
const MESSAGE_BYTES: usize = 2 * 1024;

/// What a handler says of one item. An enum, so that no outcome can be forgotten.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Outcome {
    /// Done.
    Ok,
    /// Deliberately not done; counted apart and listed in `skipped.csv`.
    Skip {
        /// Why, for the person who reads the report.
        reason: String,
    },
    /// Wrong for good: counted as failed and listed in `failed.csv`; never tried again by itself.
    Reject(Rejection),
    /// Could not be done now: goes round again after the back-off, alone, until the handler's limit.
    Retry {
        /// The least time to wait, if whoever refused named one.
        after: Option<Duration>,
        /// Why, for the report in case it never succeeds.
        reason: String,
    },
    /// What the handler works with takes no more at present, and nothing was done: goes round again after the back-off, and
    /// none of its tries is spent.
    Busy {
        /// Why, for the log of the item.
        reason: String,
    },
    /// No item of this job can succeed: the item is failed, and the job stops.
    Fatal(Rejection),
}

impl Outcome {
    /// An item that is wrong for good.
    pub fn reject(code: impl Into<String>, field: Option<&str>, message: impl Into<String>) -> Self {
        Self::Reject(Rejection::new(code, field, message))
    }
}

/// Why an item failed.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rejection {
    /// Stable, in snake case, for programs.
    pub code: String,
    /// The column or property at fault, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// A sentence for the person who mends the row.
    pub message: String,
}

impl Rejection {
    /// A rejection of an item or of its one field; each part is cut to its bound.
    pub fn new(code: impl Into<String>, field: Option<&str>, message: impl Into<String>) -> Self {
        let (mut code, mut message) = (code.into(), message.into());
        cut(&mut code, CODE_BYTES);
        cut(&mut message, MESSAGE_BYTES);
        Self { code, field: field.map(|field| shortened(field, FIELD_CHARS)), message }
    }
}

/// How many items ended in which way. Only ever grows.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Items done.
    pub succeeded: u64,
    /// Items in `failed.csv`.
    pub failed: u64,
    /// Items in `skipped.csv`.
    pub skipped: u64,
}

impl Counts {
    /// All items that have ended: the job document's `itemProgress`.
    pub fn done(self) -> u64 {
        self.succeeded + self.failed + self.skipped
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.succeeded += other.succeeded;
        self.failed += other.failed;
        self.skipped += other.skipped;
    }
}
