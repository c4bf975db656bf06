//! List prices of AWS: data with a date, a region and a source for each price.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{Cost, NanoDollars, Units};

/// The prices of this version.
static CURRENT: LazyLock<Prices> =
    LazyLock::new(|| serde_json::from_str(include_str!("prices.json")).unwrap_or_default());

/// Prices on demand, of one date and region.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Prices {
    /// Date from which they are known to hold, as `2026-11-01`.
    pub date: String,
    /// Name of the region.
    pub region: String,
    /// Price of a million units.
    #[serde(rename = "dollarsPerMillion")]
    pub per_million: UnitPrices,
}

/// Dollars for a million units.
#[derive(Copy, Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UnitPrices {
    /// A second of a Lambda function with 1 GB.
    pub gb_second: f64,
    /// An invocation of a Lambda function.
    pub request: f64,
    /// A write request unit of DynamoDB: 1 KB.
    pub write_unit: f64,
    /// A read request unit of DynamoDB: a consistent read of 4 KB.
    pub read_unit: f64,
    /// A request of 64 KB to a queue. The chunk queues have the price of fair queues, which is that of a FIFO queue.
    pub queue_request: f64,
    /// A request that writes or lists objects.
    pub object_write: f64,
    /// A request that reads an object.
    pub object_read: f64,
    /// A call of an HTTP API.
    pub api_call: f64,
}

impl Prices {
    /// Returns the prices of this version.
    pub fn current() -> &'static Self {
        &CURRENT
    }

    /// Returns the cost of these units.
    pub fn cost(&self, units: &Units) -> Cost {
        let UnitPrices { gb_second, request, write_unit, read_unit, queue_request, object_write, object_read, .. } =
            self.per_million;
        // A millionth of a dollar is a thousand nano-dollars, and a second a thousand milliseconds.
        let times = |number: u64, per_million: f64| number as f64 * per_million * 1_000.0;
        Cost {
            compute: NanoDollars::rounded(times(units.gb_ms, gb_second) / 1_000.0),
            requests: NanoDollars::rounded(times(units.requests, request)),
            database: NanoDollars::rounded(times(units.writes, write_unit) + times(units.reads, read_unit)),
            storage: NanoDollars::rounded(
                times(units.object_writes, object_write) + times(units.object_reads, object_read),
            ),
            queue: NanoDollars::rounded(times(units.queue, queue_request)),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    #[test]
    fn every_price_is_positive_and_has_a_source() {
        let file: Value = serde_json::from_str(include_str!("prices.json")).unwrap();
        let prices = file["dollarsPerMillion"].as_object().unwrap();
        for (name, price) in prices {
            assert!(price.as_f64().is_some_and(|price| price > 0.0), "{name}");
            assert!(
                file["sources"][name].as_str().is_some_and(|url| url.starts_with("https://aws.amazon.com/")),
                "{name}"
            );
        }
        let current = Prices::current();
        assert_eq!((current.date.len(), current.region.as_str()), (10, "us-east-1"));
        assert!(current.per_million.api_call > 0.0, "the file is readable");
    }

    #[test]
    fn a_cost_is_the_sum_of_its_units() {
        let units =
            Units { gb_ms: 2_000, requests: 1, writes: 2, reads: 4, queue: 2, object_writes: 1, object_reads: 5 };
        let cost = Prices::current().cost(&units);
        let nanos = [cost.compute, cost.requests, cost.database, cost.storage, cost.queue].map(|part| part.0);
        assert_eq!(nanos, [26_667, 200, 1_750, 7_000, 1_000]);
        assert_eq!(cost.total(), NanoDollars(36_617));
    }
}
