//! The age of the oldest message of queues, which only CloudWatch tells.

use std::collections::BTreeMap;

use crate::{AwsMetric, CallError, JsonClient, MetricQuery};

/// Seconds in which the last value of a metric is looked for. SQS sends one each minute while a queue is active.
const METRIC_SECONDS: i64 = 600;

impl JsonClient {
    /// Returns the age of the oldest message in seconds, by the name of the queue. A queue without messages has none.
    /// At most 500 queues. `now` is in seconds.
    ///
    /// # Errors
    /// If the call fails.
    pub async fn queue_ages(&self, queues: &[&str], now: i64) -> Result<BTreeMap<String, u64>, CallError> {
        let query = MetricQuery {
            metric: AwsMetric::QUEUE_AGE,
            within: None,
            statistic: "Maximum",
            since: now - METRIC_SECONDS,
            until: now,
        };
        Ok(newest(self.metric_values(&query, queues).await?))
    }
}

fn newest(values: BTreeMap<String, Vec<f64>>) -> BTreeMap<String, u64> {
    values.into_iter().filter_map(|(queue, values)| Some((queue, *values.first()? as u64))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_value_of_each_queue_is_read() {
        let values = [("chunks", vec![90.0, 30.0]), ("empty", vec![]), ("complete", vec![7.0])];
        let values = values.map(|(queue, values)| (queue.to_owned(), values)).into();
        assert_eq!(newest(values), [("chunks".to_owned(), 90), ("complete".to_owned(), 7)].into());
    }
}
