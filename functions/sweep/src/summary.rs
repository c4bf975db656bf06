//! Result of a sweep.

use std::error::Error;

use longshore::telemetry;

/// Result of a sweep.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct SweepSummary {
    /// Unfinished jobs that were visited.
    pub jobs: u32,
    /// Pushes made.
    pub pushes: u32,
    /// Dead letters read.
    pub dead_letters: u32,
    /// Jobs, pushes or dead letters that failed; the next sweep retries them.
    pub failures: u32,
}

impl SweepSummary {
    /// Counts a failure, and logs it.
    pub(crate) fn record_failure(&mut self, what: &str, error: &(dyn Error + 'static)) {
        self.failures += 1;
        tracing::error!(error = telemetry::chain(error), "{what}");
    }
}
