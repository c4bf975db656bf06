//! The values of a metric.

use std::collections::BTreeMap;

/// Maximum number of values of a metric in a line
/// ([limits](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)).
/// Times up to three years have no more values with one digit.
const MAX_VALUES: usize = 100;

/// The values of a metric, each with the number of times that it was recorded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Values(BTreeMap<u64, u64>);

impl Values {
    /// Adds to the only value.
    pub(super) fn add(&mut self, number: u64) {
        let sum = self.0.pop_first().map_or(0, |(sum, _)| sum).saturating_add(number);
        self.0.insert(sum, 1);
    }

    /// Records a value, rounded down to two significant digits. If there are too many values for a line, all are rounded
    /// down to one.
    pub(super) fn record(&mut self, value: u64) {
        *self.0.entry(rounded(value, 2)).or_default() += 1;
        if self.0.len() > MAX_VALUES {
            for (value, times) in std::mem::take(&mut self.0) {
                *self.0.entry(rounded(value, 1)).or_default() += times;
            }
        }
    }

    /// Returns the values, with the number of times of each.
    pub(super) fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(value, times)| (*value, *times))
    }
}

/// Rounds a value down to this number of significant digits.
fn rounded(value: u64, digits: u32) -> u64 {
    let step = 10_u64.pow((value.checked_ilog10().unwrap_or_default() + 1).saturating_sub(digits));
    value / step * step
}
