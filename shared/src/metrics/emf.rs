//! The lines of the format: one for each set of values of dimensions.

use std::io::{self, Write};
use std::time::{Duration, UNIX_EPOCH};

use longshore_domain::timestamp::Timestamp;
use metrique_writer_core::config::AllowSplitEntries;
use metrique_writer_core::format::Format;
use metrique_writer_core::{Entry, EntryWriter, IoStreamError, MetricFlags, Observation, Value, ValueWriter};
use metrique_writer_format_emf::Emf;

use super::{Metric, Metrics, STACK, Values};

/// Namespace of the metrics.
pub const NAMESPACE: &str = "Longshore";

/// Writes the metrics of a stack as lines. Writes nothing if there are none.
///
/// # Errors
/// If `output` fails.
pub fn write(output: &mut impl Write, metrics: &Metrics, stack: &str, now: Timestamp) -> io::Result<()> {
    if metrics.is_empty() {
        return Ok(());
    }
    let mut format = Emf::builder(NAMESPACE.to_owned(), vec![vec![STACK.to_owned()]]).build();
    format.format(&StackMetrics { metrics, stack, now }, output).map_err(|error| match error {
        IoStreamError::Io(error) => error,
        IoStreamError::Validation(error) => io::Error::other(error),
    })
}

/// The metrics of an invocation of a stack's function.
struct StackMetrics<'a> {
    metrics: &'a Metrics,
    stack: &'a str,
    now: Timestamp,
}

impl Entry for StackMetrics<'_> {
    fn write<'a>(&'a self, writer: &mut impl EntryWriter<'a>) {
        writer.timestamp(UNIX_EPOCH + Duration::from_millis(u64::try_from(self.now.0).unwrap_or_default()));
        writer.config(const { &AllowSplitEntries::new() });
        writer.value(STACK, self.stack);
        for ((metric, dimensions), values) in self.metrics {
            writer.value(metric.name(), &MetricValues { metric: *metric, dimensions, values });
        }
    }
}

/// The values of a metric with these values of its dimensions.
struct MetricValues<'a> {
    metric: Metric,
    dimensions: &'a [String],
    values: &'a Values,
}

impl Value for MetricValues<'_> {
    fn write(&self, writer: impl ValueWriter) {
        let dimensions = self.metric.dimensions().iter().copied().zip(self.dimensions.iter().map(String::as_str));
        let observations = self.values.iter().map(|(value, times)| match times {
            1 => Observation::Unsigned(value),
            _ => Observation::Repeated { total: (value * times) as f64, occurrences: times },
        });
        writer.metric(observations, self.metric.unit(), dimensions, MetricFlags::empty());
    }
}
