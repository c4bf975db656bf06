//! Outcomes of items (success, skip, permanent or transient failure), and their counts.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::text::{cut, shortened};

/// Maximum bytes of a rejection's parts: a file may have one rejection per row.
pub(crate) const CODE_BYTES: usize = 100;
const FIELD_CHARS: usize = 200;
pub(crate) const MESSAGE_BYTES: usize = 2 * 1024;

/// A handler's verdict on one item, with the output of an item that succeeded: `()` if the job type has no output. An
/// enum, so that every outcome has to be handled.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum Outcome<T = ()> {
    /// Done, with the output.
    Ok(T),
    /// Deliberately not done; counted separately and listed in `skipped.csv`.
    Skip {
        /// Reason, for readers of the report.
        reason: String,
    },
    /// Permanent failure: counted as failed and listed in `failed.csv`; never retried automatically.
    Reject(Rejection),
    /// Transient failure: this item alone is retried after the back-off, until the handler's limit.
    Retry {
        /// Wait of this item in place of the back-off, if the service that refused it named one.
        after: Option<Duration>,
        /// Reason, for the report in case every retry fails.
        reason: String,
    },
    /// Backpressure from a service that the handler depends on: nothing was done. The item is retried after the
    /// back-off, and the attempt does not count.
    Busy {
        /// Reason, for the log of the item.
        reason: String,
    },
    /// Fatal failure: no item of this job can succeed. The item is failed, and the job stops.
    Fatal(Rejection),
}

impl<T> Outcome<T> {
    /// Creates a permanent failure.
    pub fn reject(code: impl Into<String>, field: Option<&str>, message: impl Into<String>) -> Self {
        Self::Reject(Rejection::new(code, field, message))
    }

    /// Converts the output of an item that succeeded. An error fails the item.
    pub fn and_then<U>(self, convert: impl FnOnce(T) -> Result<U, Rejection>) -> Outcome<U> {
        match self {
            Self::Ok(output) => convert(output).map_or_else(Outcome::Reject, Outcome::Ok),
            Self::Skip { reason } => Outcome::Skip { reason },
            Self::Reject(rejection) => Outcome::Reject(rejection),
            Self::Retry { after, reason } => Outcome::Retry { after, reason },
            Self::Busy { reason } => Outcome::Busy { reason },
            Self::Fatal(rejection) => Outcome::Fatal(rejection),
        }
    }
}

/// The reason for an item's failure.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Rejection {
    /// Stable error code in snake case, for programs.
    pub code: String,
    /// The invalid column or property, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// A sentence for the person who fixes the row.
    pub message: String,
}

impl Rejection {
    /// Creates a rejection of an item or of one of its fields; each part is cut to its maximum length.
    pub fn new(code: impl Into<String>, field: Option<&str>, message: impl Into<String>) -> Self {
        let (mut code, mut message) = (code.into(), message.into());
        cut(&mut code, CODE_BYTES);
        cut(&mut message, MESSAGE_BYTES);
        Self { code, field: field.map(|field| shortened(field, FIELD_CHARS)), message }
    }
}

/// Numbers of ended items by outcome. They never decrease.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Counts {
    /// Items that succeeded.
    pub succeeded: u64,
    /// Items in `failed.csv`.
    pub failed: u64,
    /// Items in `skipped.csv`.
    pub skipped: u64,
}

impl Counts {
    /// Returns the number of all ended items: the job document's `itemProgress`.
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
