//! The results of a batch that is written in several phases.

use std::time::{Duration, Instant};

/// Time after which only one further record is begun: a stop of the job must be noticed within seconds.
const BEGIN_WITHIN: Duration = Duration::from_secs(1);

/// The results of a batch, as far as they are known.
#[derive(Debug)]
pub(super) struct BatchResults<T> {
    results: Vec<Option<T>>,
    started: Instant,
}

impl<T: Clone + PartialEq> BatchResults<T> {
    /// Creates a batch without results, which begins now.
    pub(super) fn new(len: usize) -> Self {
        Self { results: vec![None; len], started: Instant::now() }
    }

    /// Returns the indexes without a result.
    pub(super) fn open(&self) -> Vec<usize> {
        (0..self.results.len()).filter(|index| self.results[*index].is_none()).collect()
    }

    /// Returns true if only one further record may be begun.
    pub(super) fn is_late(&self) -> bool {
        self.started.elapsed() > BEGIN_WITHIN
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

    /// Returns all results; `open` for those that are still missing.
    pub(super) fn finish(self, open: &T) -> Vec<T> {
        self.results.into_iter().map(|result| result.unwrap_or_else(|| open.clone())).collect()
    }
}
