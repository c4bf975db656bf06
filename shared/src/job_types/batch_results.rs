//! The results of a batch that is written in several phases.

use std::time::{Duration, Instant};

use longshore_domain::ports::PortError;
use longshore_domain::writer::Written;

use crate::telemetry;

/// Number of times that a record is read and written in one batch before its row is processed again later.
pub(super) const ROUNDS: usize = 3;

/// Time of a batch after which no phase begins: a stop of the job must be noticed within seconds. The writes of a phase
/// begin within another second.
const BEGIN_WITHIN: Duration = Duration::from_millis(1_500);

/// A function that returns the time. A parameter, so that a test can be late.
pub(super) type Clock = fn() -> Instant;

/// The results of a batch, as far as they are known.
#[derive(Debug)]
pub(super) struct BatchResults<T> {
    results: Vec<Option<T>>,
    clock: Clock,
    started: Instant,
}

impl<T: Clone + PartialEq + From<Written>> BatchResults<T> {
    /// Creates a batch without results, which begins now.
    pub(super) fn new(len: usize, clock: Clock) -> Self {
        Self { results: vec![None; len], clock, started: clock() }
    }

    /// Returns the indexes without a result.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.results.len()).filter(|index| self.results[*index].is_none()).collect()
    }

    /// Returns the indexes without a result; if it is too late to begin another phase, ends them and returns none.
    /// The first record of a batch always has a result: it then waits for the next round, without an attempt. The
    /// others are processed again at once, in a smaller batch.
    pub(super) fn open_in_time(&mut self) -> Vec<usize> {
        let open = self.open();
        if (self.clock)().saturating_duration_since(self.started) <= BEGIN_WITHIN {
            return open;
        }
        for index in open {
            let is_first = index == 0;
            let late = if is_first { Written::Throttled(String::from(LATE)) } else { Written::Untried };
            self.set(index, late.into());
        }
        Vec::new()
    }

    /// Sets a result.
    pub(super) fn set(&mut self, index: usize, result: T) {
        self.results[index] = Some(result);
    }

    /// Sets the results at these indexes; one with the result `stays_open` is tried again.
    pub(super) fn take(&mut self, indexes: &[usize], results: Vec<T>, stays_open: &T) {
        for (index, result) in indexes.iter().zip(results) {
            self.results[*index] = Some(result).filter(|result| result != stays_open);
        }
    }

    /// Sets the same result at these indexes.
    pub(super) fn end(&mut self, indexes: &[usize], result: &T) {
        indexes.iter().for_each(|index| self.results[*index] = Some(result.clone()));
    }

    /// Returns all results; [`Written::Changed`] for those that are still missing.
    pub(super) fn finish(self) -> Vec<T> {
        self.results.into_iter().map(|result| result.unwrap_or_else(|| Written::Changed.into())).collect()
    }
}

/// Reason of a record for which nothing could be begun in time.
const LATE: &str = "no time to write the record, because the calls before took too long";

/// Returns the result of a record that was not written because a call before its write failed. If the error is
/// temporary, the record keeps its attempts.
pub(super) fn unwritten(error: &PortError) -> Written {
    if error.is_temporary() {
        return Written::Throttled(String::from(
            "no capacity to read the record, or to read or store its previous version",
        ));
    }
    tracing::warn!(error = telemetry::chain(error), "cannot read or store versions of records");
    Written::Unknown(String::from("the record or its previous version could not be read or stored"))
}
