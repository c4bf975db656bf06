//! Samples of metrics, as CloudWatch makes them of the logs of the functions.
//!
//! | metric | made of |
//! | --- | --- |
//! | those of the namespace `Longshore` | lines in the embedded metric format |
//! | `Invocations` and `Errors` of a function | its invocations; one that has not ended by itself is an error |
//! | `Duration` of a function | the last lines of its invocations, so one that has not ended by itself has none |
//! | those of log filters | records at level ERROR |
//!
//! A dimension that refers to a resource has the id of the resource in the template as its value.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Context, Result, ensure};
use longshore::metrics::{NAMESPACE, STACK};
use serde_json::Value;

/// Value of the dimension of the stack, and the namespace of the metrics of its log filters.
pub const OF_STACK: &str = "AWS::StackName";

/// Message of the last line of an invocation.
const ENDED: &str = "invocation ended";
/// Its field with the time of the invocation in milliseconds.
const DURATION: &str = "invocation.duration_ms";

/// A metric with the values of its dimensions.
#[derive(Clone, Eq, Ord, PartialEq, PartialOrd, Debug)]
pub struct Series {
    /// Namespace.
    pub namespace: String,
    /// Name.
    pub name: String,
    /// Values of the dimensions.
    pub dimensions: BTreeMap<String, String>,
}

impl Series {
    /// A metric with at most one dimension.
    pub fn new(namespace: &str, name: &str, dimension: Option<(&str, &str)>) -> Self {
        let dimensions = dimension.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect();
        Self { namespace: namespace.to_owned(), name: name.to_owned(), dimensions }
    }
}

/// A value that occurred a number of times.
#[derive(Copy, Clone, PartialEq, Debug)]
struct Sample {
    at_ms: i64,
    value: f64,
    times: f64,
}

/// Samples by metric.
#[derive(Clone, Debug, Default)]
pub struct Samples(BTreeMap<Series, Vec<Sample>>);

/// A statistic of the samples of a period.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum Statistic {
    /// The sum.
    Sum,
    /// The greatest value.
    Maximum,
}

impl Statistic {
    /// Parses its name in CloudWatch.
    ///
    /// # Errors
    /// If the alarms had no such statistic so far.
    pub fn parse(name: &str) -> Result<Self> {
        match name {
            "Sum" => Ok(Self::Sum),
            "Maximum" => Ok(Self::Maximum),
            _ => anyhow::bail!("the statistic {name} is not evaluated: add it here"),
        }
    }
}

impl Samples {
    /// Adds a sample.
    pub fn add(&mut self, series: Series, at_ms: i64, value: f64) {
        self.add_times(series, at_ms, value, 1.0);
    }

    fn add_times(&mut self, series: Series, at_ms: i64, value: f64, times: f64) {
        self.0.entry(series).or_default().push(Sample { at_ms, value, times });
    }

    /// The statistic of a metric in a period; `None` without samples.
    pub fn statistic(&self, series: &Series, statistic: Statistic, period: &Range<i64>) -> Option<f64> {
        let samples = self.0.get(series)?.iter().filter(|sample| period.contains(&sample.at_ms));
        match statistic {
            Statistic::Sum => samples.map(|sample| sample.value * sample.times).reduce(|sum, value| sum + value),
            Statistic::Maximum => samples.map(|sample| sample.value).reduce(f64::max),
        }
    }

    /// The greatest value of all metrics of this name with exactly these dimensions, whatever their values.
    pub fn maximum_of_all(
        &self,
        namespace: &str,
        name: &str,
        dimensions: &[String],
        period: &Range<i64>,
    ) -> Option<f64> {
        let is_meant = |series: &&Series| {
            let names = series.dimensions.keys().collect::<Vec<_>>();
            series.namespace == namespace && series.name == name && names == dimensions.iter().collect::<Vec<_>>()
        };
        let found = self.0.keys().filter(is_meant);
        found.filter_map(|series| self.statistic(series, Statistic::Maximum, period)).reduce(f64::max)
    }
}

/// A line of the log of a function.
#[derive(Clone, PartialEq, Debug)]
pub struct LogEvent {
    /// Its stream: that of one invocation.
    pub stream: String,
    /// Time in milliseconds since 1970.
    pub at_ms: i64,
    /// The line.
    pub message: String,
}

impl Samples {
    /// Adds what CloudWatch makes of the log of a function, by its id in the template. `filtered` is the metric of the
    /// log filter for records at level ERROR, if the function has one.
    ///
    /// # Errors
    /// If a line in the embedded metric format is not valid.
    pub fn add_log(&mut self, function: &str, filtered: Option<&str>, events: &[LogEvent]) -> Result<()> {
        let mut invocations: BTreeMap<&str, (i64, bool)> = BTreeMap::new();
        for event in events {
            let invocation = invocations.entry(&event.stream).or_insert((event.at_ms, false));
            let Ok(line) = serde_json::from_str::<Value>(&event.message) else { continue };
            invocation.1 |= line["message"] == ENDED;
            if let Some(duration) = line[DURATION].as_f64().filter(|_| line["message"] == ENDED) {
                self.add(of_function("Duration", function), event.at_ms, duration);
            }
            if line.get("_aws").is_some() {
                self.add_metrics(&line).with_context(|| format!("the log of {function} has {line}"))?;
            }
            if let Some(name) = filtered.filter(|_| line["level"] == "ERROR") {
                self.add(Series::new(OF_STACK, name, None), event.at_ms, 1.0);
            }
        }
        for (at_ms, has_ended) in invocations.into_values() {
            self.add(of_function("Invocations", function), at_ms, 1.0);
            self.add(of_function("Errors", function), at_ms, if has_ended { 0.0 } else { 1.0 });
        }
        Ok(())
    }

    /// Adds the metrics of a line in the embedded metric format.
    fn add_metrics(&mut self, line: &Value) -> Result<()> {
        let at_ms = line["_aws"]["Timestamp"].as_i64().context("it has no time")?;
        for directive in line["_aws"]["CloudWatchMetrics"].as_array().context("it has no directives")? {
            ensure!(directive["Namespace"] == NAMESPACE, "it has another namespace");
            let sets = directive["Dimensions"].as_array().context("it has no dimensions")?;
            for names in sets {
                let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
                let value = |name: &str| if name == STACK { Some(OF_STACK) } else { line[name].as_str() };
                let dimensions: BTreeMap<_, _> =
                    names.filter_map(|name| Some((name.to_owned(), value(name)?.to_owned()))).collect();
                for metric in directive["Metrics"].as_array().into_iter().flatten() {
                    let name = metric["Name"].as_str().context("a metric has no name")?.to_owned();
                    let series = Series { namespace: NAMESPACE.to_owned(), dimensions: dimensions.clone(), name };
                    for (value, times) in distribution(&line[&series.name])? {
                        self.add_times(series.clone(), at_ms, value, times);
                    }
                }
            }
        }
        Ok(())
    }
}

/// A metric of Lambda, of a function by its id in the template.
fn of_function(name: &str, function: &str) -> Series {
    Series::new("AWS/Lambda", name, Some(("FunctionName", function)))
}

/// The values of a metric of a line, each with the number of times that it occurred.
fn distribution(value: &Value) -> Result<Vec<(f64, f64)>> {
    if let Some(value) = value.as_f64() {
        return Ok(vec![(value, 1.0)]);
    }
    let numbers = |name: &str| value[name].as_array().into_iter().flatten().filter_map(Value::as_f64);
    let values: Vec<_> = numbers("Values").zip(numbers("Counts")).collect();
    ensure!(!values.is_empty(), "a metric has no values");
    Ok(values)
}

#[cfg(test)]
mod tests {
    use longshore::metrics::{Metric, Metrics, write};
    use longshore_domain::timestamp::Timestamp;

    use super::*;

    const AT_MS: i64 = 1_700_000_000_000;

    fn event(stream: &str, message: &str) -> LogEvent {
        LogEvent { stream: stream.to_owned(), at_ms: AT_MS, message: message.to_owned() }
    }

    fn sum(samples: &Samples, series: &Series) -> Option<f64> {
        samples.statistic(series, Statistic::Sum, &(AT_MS..AT_MS + 1))
    }

    #[test]
    fn an_invocation_that_has_not_ended_by_itself_is_an_error() {
        let mut samples = Samples::default();
        let ended = r#"{"level":"INFO","message":"invocation ended"}"#;
        let events = [event("a", "START"), event("a", ended), event("b", "START"), event("b", "REPORT")];
        samples.add_log("Sweep", None, &events).unwrap();
        let of = |name| sum(&samples, &of_function(name, "Sweep"));
        assert_eq!((of("Invocations"), of("Errors")), (Some(2.0), Some(1.0)));
        assert_eq!((of("Throttles"), of("Duration")), (None, None));
    }

    /// The line is the one that the functions write: its test in `shared/src/telemetry.rs` holds the name of the field.
    #[test]
    fn the_time_of_an_invocation_is_that_of_its_last_line() {
        let mut samples = Samples::default();
        let ended = r#"{"message":"invocation ended","invocation.duration_ms":12.5}"#;
        let other = r#"{"message":"a message is done","invocation.duration_ms":3}"#;
        let events = [event("a", other), event("a", ended), event("b", ended), event("c", "START")];
        samples.add_log("Sweep", None, &events).unwrap();
        let duration = of_function("Duration", "Sweep");
        assert_eq!(sum(&samples, &duration), Some(25.0));
        let longest = samples.statistic(&duration, Statistic::Maximum, &(AT_MS..AT_MS + 1));
        assert_eq!(longest, Some(12.5));
    }

    #[test]
    fn a_record_at_level_error_is_a_sample_of_its_filter() {
        let mut samples = Samples::default();
        let events = [event("a", r#"{"level":"ERROR"}"#), event("a", r#"{"level":"WARN"}"#), event("a", "no JSON")];
        samples.add_log("Sweep", Some("SweepFailures"), &events).unwrap();
        assert_eq!(sum(&samples, &Series::new(OF_STACK, "SweepFailures", None)), Some(1.0));
    }

    /// The lines are those that the functions write.
    #[test]
    fn the_lines_of_the_functions_are_samples_of_the_stack() {
        longshore::metrics::count(Metric::SweeperActions, &["send_chunks"], 3);
        longshore::metrics::time(Metric::OldestWaitingJob, &[], 61_000);
        let (mut output, taken): (Vec<u8>, Metrics) = (Vec::new(), longshore::metrics::take());
        write(&mut output, &taken, "shop", Timestamp(AT_MS)).unwrap();
        let text = String::from_utf8(output).unwrap();
        let events: Vec<_> = text.lines().map(|line| event("a", line)).collect();
        let mut samples = Samples::default();
        samples.add_log("Sweep", None, &events).unwrap();
        let mut series = Series::new(NAMESPACE, "SweeperActions", Some((STACK, OF_STACK)));
        series.dimensions.insert("Action".to_owned(), "send_chunks".to_owned());
        assert_eq!(sum(&samples, &series), Some(3.0));
        let waiting = Series::new(NAMESPACE, "OldestWaitingJob", Some((STACK, OF_STACK)));
        assert_eq!(sum(&samples, &waiting), Some(61_000.0));
        let names = ["Action".to_owned(), STACK.to_owned()];
        let period = AT_MS..AT_MS + 1;
        assert_eq!(samples.maximum_of_all(NAMESPACE, "SweeperActions", &names, &period), Some(3.0));
        assert_eq!(samples.maximum_of_all(NAMESPACE, "SweeperActions", &names[1..], &period), None);
    }
}
