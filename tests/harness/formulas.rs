//! The metrics of the template's alarms, and the formulas that make one number of them.

use std::collections::BTreeMap;
use std::ops::Range;

use anyhow::{Context, Result};
use deployment::template::plain;
use serde_json::Value;

use super::samples::{Samples, Series, Statistic};

/// Namespace of the metrics that are published late.
const LATE: &str = "AWS/SQS";

/// The metrics of an alarm, and how they are one number.
#[derive(Clone, Debug)]
pub(super) enum Formula {
    /// A metric.
    Metric(Query),
    /// The sum of two metrics, whose missing values `FILL` makes zero.
    Sum(Query, Query),
    /// A metric in milliseconds, as seconds.
    Seconds(Query),
    /// The percentage of errors, if there are 20 calls.
    Percent {
        /// Errors.
        errors: Query,
        /// Calls.
        calls: Query,
    },
    /// The greatest value of all metrics of a name.
    Greatest {
        /// Namespace.
        namespace: String,
        /// Name.
        name: String,
        /// Names of the dimensions, sorted.
        dimensions: Vec<String>,
    },
}

/// A statistic of a metric.
#[derive(Clone, Debug)]
pub(super) struct Query {
    series: Series,
    statistic: Statistic,
}

impl Query {
    fn value(&self, samples: &Samples, period: &Range<i64>) -> Option<f64> {
        samples.statistic(&self.series, self.statistic, period)
    }

    /// The value as `FILL` makes it: zero without samples, and while those of a late metric are not published.
    fn filled(&self, samples: &Samples, period: &Range<i64>, published_ms: i64) -> f64 {
        let end = if self.series.namespace == LATE { period.end.min(published_ms) } else { period.end };
        self.value(samples, &(period.start..end)).unwrap_or_default()
    }
}

impl Formula {
    /// The number in a period; `None` without data. Samples of late metrics are published if they are older than
    /// `published_ms`. Only `FILL` needs that: CloudWatch evaluates other formulas over the newest periods with values.
    pub(super) fn value(&self, samples: &Samples, period: &Range<i64>, published_ms: i64) -> Option<f64> {
        let of = |query: &Query| query.value(samples, period);
        match self {
            Self::Metric(metric) => of(metric),
            Self::Sum(one, other) => {
                let [one, other] = [one, other].map(|query| query.filled(samples, period, published_ms));
                Some(one + other)
            }
            Self::Seconds(metric) => of(metric).map(|milliseconds| milliseconds / 1_000.0),
            Self::Percent { errors, calls } => {
                let calls = of(calls)?;
                Some(if calls >= 20.0 { 100.0 * of(errors).unwrap_or_default() / calls } else { 0.0 })
            }
            Self::Greatest { namespace, name, dimensions } => {
                samples.maximum_of_all(namespace, name, dimensions, period)
            }
        }
    }
}

/// Parses the metrics of an alarm: their formula, and the period in seconds.
///
/// # Errors
/// If they are not evaluated so far.
pub(super) fn parse(alarm: &Value) -> Result<(Formula, i64)> {
    let Some(queries) = alarm["Metrics"].as_array() else {
        let query = Query { series: series(alarm)?, statistic: statistic(&alarm["Statistic"])? };
        return Ok((Formula::Metric(query), number(&alarm["Period"])? as i64));
    };
    let mut metrics = BTreeMap::new();
    let (mut expression, mut period) = (None, None);
    for query in queries {
        let of_query = &query["MetricStat"];
        let own = if of_query.is_null() { &query["Period"] } else { &of_query["Period"] };
        period = if own.is_null() { period } else { Some(number(own)? as i64) };
        if of_query.is_null() {
            let text = query["Expression"].as_str().or_else(|| query["Expression"]["Fn::Sub"].as_str());
            expression = Some(text.context("a query is neither a metric nor an expression")?);
        } else {
            let id = query["Id"].as_str().context("a metric has no id")?;
            let metric = Query { series: series(&of_query["Metric"])?, statistic: statistic(&of_query["Stat"])? };
            metrics.insert(id, metric);
        }
    }
    let mut metric = |id: &str| metrics.remove(id).with_context(|| format!("it has no metric {id}"));
    let formula = match expression.context("it has no expression")? {
        "FILL(visible, 0) + FILL(hidden, 0)" => Formula::Sum(metric("visible")?, metric("hidden")?),
        "waiting / 1000" => Formula::Seconds(metric("waiting")?),
        "IF(calls >= 20, 100 * errors / calls, 0)" => {
            Formula::Percent { errors: metric("errors")?, calls: metric("calls")? }
        }
        text => greatest(text).with_context(|| format!("the expression {text} is not evaluated: add it here"))?,
    };
    Ok((formula, period.context("it has no period")?))
}

/// Parses `SELECT MAX("Name") FROM SCHEMA("Namespace", "Dimension", …) WHERE "Stack" = …`. The samples are those of
/// one stack.
fn greatest(text: &str) -> Option<Formula> {
    let (name, rest) = text.strip_prefix("SELECT MAX(\"")?.split_once("\") FROM SCHEMA(")?;
    let (schema, _) = rest.split_once(") WHERE \"Stack\" = ")?;
    let mut names = schema.split(", ").map(|name| name.trim_matches('"').to_owned());
    let namespace = names.next()?;
    let mut dimensions: Vec<_> = names.collect();
    dimensions.sort();
    Some(Formula::Greatest { namespace, name: name.to_owned(), dimensions })
}

fn series(metric: &Value) -> Result<Series> {
    let dimensions = metric["Dimensions"].as_array().into_iter().flatten().map(|dimension| {
        let name = dimension["Name"].as_str().context("a dimension has no name")?;
        Ok((name.to_owned(), referred(&dimension["Value"])?))
    });
    Ok(Series {
        namespace: referred(&metric["Namespace"])?,
        name: metric["MetricName"].as_str().context("a metric has no name")?.to_owned(),
        dimensions: dimensions.collect::<Result<_>>()?,
    })
}

/// A text, or the id of the resource that a value refers to.
fn referred(value: &Value) -> Result<String> {
    let id = value.as_str().or_else(|| value["Ref"].as_str()).or_else(|| value["Fn::GetAtt"][0].as_str());
    id.map(str::to_owned).with_context(|| format!("{value} is neither a text nor a reference"))
}

fn statistic(name: &Value) -> Result<Statistic> {
    Statistic::parse(name.as_str().unwrap_or_default())
}

/// A number, which can be a text.
///
/// # Errors
/// If it is not one.
pub(super) fn number(value: &Value) -> Result<f64> {
    let number = plain(value).and_then(|text| text.parse().ok());
    number.with_context(|| format!("{value} is not a number"))
}
