//! Tolerance: the maximum number or share of failed items, and the maximum cost, before a job stops.

use serde::{Deserialize, Serialize};

use super::JobError;
use crate::cost::NanoDollars;
use crate::outcome::Counts;

/// Limits of failed items and of cost that a job tolerates before it stops.
#[derive(Copy, Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Tolerance {
    /// Maximum number of failed items; one more stops the job.
    pub max_failed: Option<u64>,
    /// Maximum share of failed items among ended ones, 0 to 100. It applies once [`Tolerance::MIN_SAMPLE`] items have
    /// ended.
    pub max_failed_percent: Option<f64>,
    /// Maximum cost of each generation; see [`SpendingLimit`](crate::cost::SpendingLimit).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_cost: Option<NanoDollars>,
}

impl Tolerance {
    /// Number of items that must have ended before a share of them is meaningful.
    pub const MIN_SAMPLE: u64 = 100;

    /// Returns true if failed items are limited.
    pub fn limits_failures(self) -> bool {
        self.max_failed.is_some() || self.max_failed_percent.is_some()
    }

    /// Returns the error of a running job if these counts exceed the tolerance.
    pub fn exceeded_so_far(self, counts: Counts) -> Option<JobError> {
        self.exceeded(counts, Self::MIN_SAMPLE)
    }

    /// Returns the error of a job without remaining items if these counts exceed the tolerance.
    pub fn exceeded_at_end(self, counts: Counts) -> Option<JobError> {
        self.exceeded(counts, 1)
    }

    fn exceeded(self, counts: Counts, min_sample: u64) -> Option<JobError> {
        let (failed, done) = (counts.failed, counts.done());
        let error = |limit: String| {
            JobError::new("too_many_failures", format!("{failed} of {done} items failed; the job tolerates {limit}"))
        };
        if let Some(max) = self.max_failed.filter(|max| failed > *max) {
            return Some(error(max.to_string()));
        }
        let sampled = done >= min_sample;
        let percent = self.max_failed_percent.filter(|max| sampled && failed as f64 * 100.0 > max * done as f64)?;
        Some(error(format!("{percent} %")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_of_failures_counts_only_from_the_minimum_sample_on() {
        let tolerance = Tolerance { max_failed_percent: Some(10.0), ..Tolerance::default() };
        let counts = |succeeded, failed| Counts { succeeded, failed, skipped: 0 };
        assert_eq!(tolerance.exceeded_so_far(counts(0, 50)), None);
        assert!(tolerance.exceeded_at_end(counts(0, 50)).is_some());
        assert!(tolerance.exceeded_so_far(counts(80, 20)).is_some());
        assert_eq!(tolerance.exceeded_so_far(counts(90, 10)), None);
    }

    #[test]
    fn one_failure_more_than_tolerated_stops_the_job() {
        let tolerance = Tolerance { max_failed: Some(2), ..Tolerance::default() };
        let counts = |failed| Counts { succeeded: 9, failed, skipped: 0 };
        assert_eq!(tolerance.exceeded_so_far(counts(2)), None);
        assert_eq!(tolerance.exceeded_so_far(counts(3)).map(|e| e.code), Some("too_many_failures".into()));
    }
}
