//! The metrics that this process has recorded and not yet written.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::{Metric, Values};

/// Values by metric and values of its dimensions.
pub type Metrics = BTreeMap<(Metric, Vec<String>), Values>;

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
