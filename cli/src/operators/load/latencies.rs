//! Latencies as HDR histograms: three significant digits, from a microsecond to a day.

use std::fmt::Write;
use std::time::Duration;

use anyhow::Result;
use hdrhistogram::Histogram;
use serde_json::{Value, json};

/// Longest latency: a day, in microseconds. A longer one counts as this.
const MAX_US: u64 = 86_400_000_000;

/// Significant decimal digits.
const DIGITS: u8 = 3;

/// Quantiles of the report, with their names.
pub(super) const QUANTILES: [(&str, f64); 4] = [("p50", 0.5), ("p90", 0.9), ("p99", 0.99), ("p99.9", 0.999)];

/// Steps of the percentile file between each two halvings of the distance to 100 %.
const STEPS: u32 = 5;

/// Latencies of one kind.
pub(super) struct Latencies(Histogram<u64>);

impl Latencies {
    /// Creates an empty histogram.
    pub(super) fn new() -> Result<Self> {
        Ok(Self(Histogram::new_with_bounds(1, MAX_US, DIGITS)?))
    }

    /// Adds a latency.
    pub(super) fn record(&mut self, latency: Duration) {
        self.0.saturating_record(u64::try_from(latency.as_micros()).unwrap_or(MAX_US));
    }

    /// Returns the number of latencies.
    pub(super) fn count(&self) -> u64 {
        self.0.len()
    }

    /// Returns the quantiles, then the maximum, in milliseconds; `None` without latencies.
    pub(super) fn summary(&self) -> Option<[f64; QUANTILES.len() + 1]> {
        if self.0.is_empty() {
            return None;
        }
        let mut summary = [millis(self.0.max()); QUANTILES.len() + 1];
        for (value, (_, quantile)) in summary.iter_mut().zip(QUANTILES) {
            *value = millis(self.0.value_at_quantile(quantile));
        }
        Some(summary)
    }

    /// Returns the document: milliseconds by name.
    pub(super) fn document(&self) -> Value {
        let mut document = json!({ "count": self.count() });
        if let Some(summary) = self.summary() {
            let names = QUANTILES.map(|(name, _)| name).into_iter().chain(["max"]);
            for (name, value) in names.zip(summary) {
                document[name.replace('.', "")] = value.into();
            }
            document["mean"] = (self.0.mean() / 1_000.0).into();
        }
        document
    }

    /// Returns the distribution in milliseconds, in the format of HdrHistogram's plotter
    /// (<https://hdrhistogram.github.io/HdrHistogram/plotFiles.html>).
    pub(super) fn percentile_file(&self) -> Result<String> {
        let mut text = String::from("       Value     Percentile TotalCount 1/(1-Percentile)\n\n");
        let mut total = 0;
        for step in self.0.iter_quantiles(STEPS) {
            total += step.count_since_last_iteration();
            let (value, quantile) = (millis(step.value_iterated_to()), step.quantile_iterated_to());
            write!(text, "{value:12.3} {quantile:14.12} {total:10}")?;
            match quantile < 1.0 {
                true => writeln!(text, " {:14.2}", 1.0 / (1.0 - quantile))?,
                false => writeln!(text)?,
            }
        }
        let (mean, deviation) = (self.0.mean() / 1_000.0, self.0.stdev() / 1_000.0);
        let (max, count) = (self.summary().map_or(0.0, |summary| summary[QUANTILES.len()]), self.count());
        writeln!(text, "#[Mean    = {mean:12.3}, StdDeviation   = {deviation:12.3}]")?;
        writeln!(text, "#[Max     = {max:12.3}, Total count    = {count:12}]")?;
        Ok(text)
    }
}

fn millis(micros: u64) -> f64 {
    micros as f64 / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn latencies(millis: impl IntoIterator<Item = u64>) -> Latencies {
        let mut latencies = Latencies::new().unwrap();
        millis.into_iter().for_each(|ms| latencies.record(Duration::from_millis(ms)));
        latencies
    }

    #[test]
    fn quantiles_have_three_digits() {
        let summary = latencies(1..=1_000).summary().unwrap();
        for (found, expected) in summary.into_iter().zip([500.0, 900.0, 990.0, 999.0, 1_000.0]) {
            assert!((found - expected).abs() <= expected / 1_000.0, "{found} {expected}");
        }
    }

    #[test]
    fn nothing_and_the_longest_are_no_failure() {
        assert_eq!(latencies([]).summary(), None);
        assert_eq!(latencies([]).document(), json!({ "count": 0 }));
        let mut longest = latencies([]);
        longest.record(Duration::MAX);
        assert!(longest.summary().unwrap()[4] >= 86_400_000.0);
    }

    #[test]
    fn the_percentile_file_counts_every_latency() -> Result<()> {
        let text = latencies(1..=100).percentile_file()?;
        let last = text.lines().rfind(|line| !line.starts_with('#')).unwrap();
        let columns: Vec<_> = last.split_whitespace().collect();
        assert_eq!(columns[1..], ["1.000000000000", "100"], "{text}");
        assert!(text.contains("Total count    =          100"), "{text}");
        assert!(latencies([]).percentile_file()?.contains("Total count    =            0"));
        Ok(())
    }
}
