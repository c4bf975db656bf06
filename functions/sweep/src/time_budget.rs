//! Time budget of a part of a sweep.

use longshore_domain::timestamp::Timestamp;

/// The clock, and the time at which a part of the sweep must end.
#[derive(Copy, Clone, Debug)]
pub(crate) struct TimeBudget {
    pub(crate) clock: fn() -> Timestamp,
    pub(crate) until: Timestamp,
}

impl TimeBudget {
    /// Returns true if the time is over.
    pub(crate) fn is_over(&self) -> bool {
        (self.clock)() >= self.until
    }
}
