//! List prices of AWS: data with a date, a region and a source for each price.

use std::sync::LazyLock;

use serde::Deserialize;

use super::{Architecture, Cost, NanoDollars, Units};

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
    pub gb_second: GbSecondPrices,
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

/// Dollars for a million seconds of a Lambda function with 1 GB, by its architecture.
#[derive(Copy, Clone, PartialEq, Debug, Default, Deserialize)]
pub struct GbSecondPrices {
    /// On arm64.
    pub arm64: f64,
    /// On x86_64.
    pub x86_64: f64,
}

impl GbSecondPrices {
    /// Returns the price on this architecture.
    pub const fn for_architecture(self, architecture: Architecture) -> f64 {
        match architecture {
            Architecture::Arm64 => self.arm64,
            Architecture::X86_64 => self.x86_64,
        }
    }
}

impl Prices {
    /// Returns the prices of this version.
    pub fn current() -> &'static Self {
        &CURRENT
    }

    /// Returns the cost of these units on the architecture of this binary.
    pub fn cost(&self, units: &Units) -> Cost {
        self.cost_on(Architecture::of_this_binary(), units)
    }

    /// Returns the cost of these units on this architecture.
    pub fn cost_on(&self, architecture: Architecture, units: &Units) -> Cost {
        let UnitPrices { gb_second, request, write_unit, read_unit, queue_request, object_write, object_read, .. } =
            self.per_million;
        let gb_second = gb_second.for_architecture(architecture);
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

    const UNITS: Units =
        Units { gb_ms: 2_000, requests: 1, writes: 2, reads: 4, queue: 2, object_writes: 1, object_reads: 5 };

    #[test]
    fn every_price_is_positive_and_has_a_source() {
        let file: Value = serde_json::from_str(include_str!("prices.json")).unwrap();
        let prices = file["dollarsPerMillion"].as_object().unwrap();
        for (name, price) in prices {
            let amounts: Vec<&Value> = match price.as_object() {
                Some(by_architecture) => by_architecture.values().collect(),
                None => vec![price],
            };
            assert!(amounts.iter().all(|amount| amount.as_f64().is_some_and(|amount| amount > 0.0)), "{name}");
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
        let cost = Prices::current().cost_on(Architecture::Arm64, &UNITS);
        let nanos = [cost.compute, cost.requests, cost.database, cost.storage, cost.queue].map(|part| part.0);
        assert_eq!(nanos, [26_667, 200, 1_750, 7_000, 1_000]);
        assert_eq!(cost.total(), NanoDollars(36_617));
    }

    #[test]
    fn compute_costs_a_quarter_more_on_x86_64_and_all_else_the_same() {
        let GbSecondPrices { arm64, x86_64 } = Prices::current().per_million.gb_second;
        assert!((x86_64 / arm64 - 1.25).abs() < 0.000_1, "{x86_64} and {arm64}");
        let cost = |architecture| Prices::current().cost_on(architecture, &UNITS);
        let (on_arm64, on_x86_64) = (cost(Architecture::Arm64), cost(Architecture::X86_64));
        assert_eq!((on_arm64.compute, on_x86_64.compute), (NanoDollars(26_667), NanoDollars(33_333)));
        assert_eq!(Cost { compute: on_arm64.compute, ..on_x86_64 }, on_arm64);
    }

    #[test]
    fn the_cost_is_that_of_the_architecture_of_the_binary() {
        let own = if std::env::consts::ARCH == "x86_64" { Architecture::X86_64 } else { Architecture::Arm64 };
        assert_eq!(Prices::current().cost(&UNITS), Prices::current().cost_on(own, &UNITS));
    }
}
