//! The write rate of a process: the number of statements in flight.
//!
//! The number is limited, and adapted to the table's capacity: it grows after each call without throttling, and halves
//! after one with throttled statements. An on-demand table begins with 4,000 write units a second and a partition takes
//! 1,000 (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/on-demand-capacity-mode.html>). Statements
//! above that are refused one by one, and each still costs a call. Additive increase and multiplicative decrease
//! bring any number of independent workers near to the limit, and to equal shares of it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::aws_limits::dynamodb::BATCH_STATEMENTS;

/// Statements in one `BatchExecuteStatement`.
pub(super) const STATEMENTS: usize = BATCH_STATEMENTS;
/// Maximum number of statements in flight: eight full calls. Enough to hide a call's 10 ms; more would only queue up
/// in one Lambda's CPU share.
const MAX_STATEMENTS: usize = 8 * STATEMENTS;
/// Statements added after each call without throttling.
const GAIN: usize = 2;

/// The write rate of one process.
#[derive(Debug)]
pub(super) struct WriteRate(Mutex<Window>);

#[derive(Debug)]
struct Window {
    statements: usize,
    /// Calls that were in flight at the last halving: their results do not concern the new rate.
    stale_calls: usize,
}

impl Default for WriteRate {
    fn default() -> Self {
        Self(Mutex::new(Window { statements: MAX_STATEMENTS, stale_calls: 0 }))
    }
}

impl Window {
    /// Returns true if the returned call was sent before the last reduction, and counts it.
    fn is_stale(&mut self) -> bool {
        let is_stale = self.stale_calls > 0;
        self.stale_calls = self.stale_calls.saturating_sub(1);
        is_stale
    }
}

impl WriteRate {
    /// Returns the maximum number of statements in flight, at least 1.
    pub(super) fn statements(&self) -> usize {
        self.window().statements
    }

    /// Records an accepted call.
    pub(super) fn accepted(&self) {
        let mut window = self.window();
        if !window.is_stale() {
            window.statements = (window.statements + GAIN).min(MAX_STATEMENTS);
        }
    }

    /// Records a throttled call, and the number of other calls that were in flight.
    pub(super) fn throttled(&self, in_flight: usize) {
        let mut window = self.window();
        if !window.is_stale() {
            window.statements = (window.statements / 2).max(1);
            window.stale_calls = in_flight;
        }
    }

    fn window(&self) -> MutexGuard<'_, Window> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_STATEMENTS, WriteRate};

    #[test]
    fn concurrent_throttled_calls_halve_the_rate_once_and_it_grows_again() {
        let write_rate = WriteRate::default();
        for in_flight in (0..8).rev() {
            write_rate.throttled(in_flight);
        }
        assert_eq!(write_rate.statements(), MAX_STATEMENTS / 2);
        write_rate.accepted();
        assert_eq!(write_rate.statements(), MAX_STATEMENTS / 2 + 2);
        for _ in 0..100 {
            write_rate.throttled(0);
        }
        assert_eq!(write_rate.statements(), 1);
        for _ in 0..MAX_STATEMENTS {
            write_rate.accepted();
        }
        assert_eq!(write_rate.statements(), MAX_STATEMENTS);
    }
}
