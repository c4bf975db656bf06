//! Metrics of the functions, in the embedded metric format of CloudWatch (EMF): JSON lines on standard output, of which
//! CloudWatch makes metrics, without a call and without a permission
//! ([specification](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)).
//!
//! Values are collected during an invocation, and written at its end. They are estimates: a value is lost if the process
//! is killed, and counted twice if an item is processed twice. The counts of a job are exact, and are not made of them.
//!
//! | file | content |
//! | --- | --- |
//! | `metric` | the metrics, with their units and dimensions |
//! | `job` | the metrics of a job that has ended |
//! | `emf` | the lines |

mod emf;
mod job;
mod metric;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

pub use emf::{NAMESPACE, write};
pub use job::job_ended;
pub use metric::{Metric, STACK};

/// The values of a metric, each with the number of times that it was recorded.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Values(BTreeMap<u64, u64>);

/// Values by metric and values of its dimensions.
pub type Metrics = BTreeMap<(Metric, Vec<String>), Values>;

/// Maximum number of values of a metric in a line
/// ([limits](https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/CloudWatch_Embedded_Metric_Format_Specification.html)).
/// Times up to three years have no more values with one digit.
const MAX_VALUES: usize = 100;

static METRICS: Mutex<Metrics> = Mutex::new(Metrics::new());

/// Adds to a count. Records 0, too: a ratio of two counts then has a value whenever one of them has.
pub fn count(metric: Metric, dimensions: &[&str], number: u64) {
    debug_assert!(!metric.is_time(), "{metric:?} is a time");
    change(metric, dimensions, |values| values.add(number));
}

/// Records a time.
pub fn time(metric: Metric, dimensions: &[&str], milliseconds: i64) {
    debug_assert!(metric.is_time(), "{metric:?} is a count");
    change(metric, dimensions, |values| values.record(u64::try_from(milliseconds).unwrap_or_default()));
}

/// Returns the metrics of this process since the last call of this function, and resets them.
pub fn take() -> Metrics {
    std::mem::take(&mut *METRICS.lock().unwrap_or_else(PoisonError::into_inner))
}

fn change(metric: Metric, dimensions: &[&str], change: impl FnOnce(&mut Values)) {
    debug_assert_eq!(dimensions.len(), metric.dimensions().len(), "the dimensions of {}", metric.name());
    let key = (metric, dimensions.iter().map(|value| (*value).to_owned()).collect());
    change(METRICS.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
}

impl Values {
    /// Adds to the only value.
    fn add(&mut self, number: u64) {
        let sum = self.0.pop_first().map_or(0, |(sum, _)| sum).saturating_add(number);
        self.0.insert(sum, 1);
    }

    /// Records a value, rounded down to two significant digits. If there are too many values for a line, all are rounded
    /// down to one.
    fn record(&mut self, value: u64) {
        *self.0.entry(rounded(value, 2)).or_default() += 1;
        if self.0.len() > MAX_VALUES {
            for (value, times) in std::mem::take(&mut self.0) {
                *self.0.entry(rounded(value, 1)).or_default() += times;
            }
        }
    }

    /// Returns the values, with the number of times of each.
    fn iter(&self) -> impl Iterator<Item = (u64, u64)> {
        self.0.iter().map(|(value, times)| (*value, *times))
    }
}

/// Rounds a value down to this number of significant digits.
fn rounded(value: u64, digits: u32) -> u64 {
    let step = 10_u64.pow((value.checked_ilog10().unwrap_or_default() + 1).saturating_sub(digits));
    value / step * step
}
