//! What CloudWatch shows an operator: the alarms of the template over the samples of metrics.

use anyhow::{Context, Result};
use deployment::template::Parameters;
use longshore::metrics::{Metric, NAMESPACE, STACK};
use longshore_tests::harness::alarm_rules::AlarmRule;
use longshore_tests::harness::samples::{OF_STACK, Samples, Series, Statistic};

use super::TEMPLATE;
use super::control::Control;

/// Factor by which time passes faster for sweeper and alarms: a minute is a second.
pub(super) const TIME_SCALE: i64 = 60;

/// Calls from which on a share of errors is one: as in `ApiErrorsAlarm`.
const CALLS: f64 = 20.0;

/// Alarms and samples.
#[derive(Debug)]
pub(super) struct CloudWatch {
    rules: Vec<AlarmRule>,
    control: Control,
    pub(super) samples: Samples,
}

impl CloudWatch {
    /// The alarms of a stack with these parameters, without the removed one.
    pub(super) fn new(parameters: &Parameters, control: &Control) -> Result<Self> {
        let mut rules = AlarmRule::all(TEMPLATE, parameters)?;
        rules.retain(|rule| !control.removes(&rule.id));
        Ok(Self { rules, control: control.clone(), samples: Samples::default() })
    }

    /// The alarms that the stack has.
    pub(super) fn deployed(&self) -> impl Iterator<Item = &AlarmRule> {
        self.rules.iter().filter(|rule| rule.is_deployed)
    }

    /// The alarms that are raised at this time.
    pub(super) fn raised(&self, at_ms: i64) -> Vec<&AlarmRule> {
        self.rules.iter().filter(|rule| rule.is_raised(&self.samples, at_ms, TIME_SCALE)).collect()
    }

    /// The alarm of this id.
    pub(super) fn rule(&self, id: &str) -> Result<&AlarmRule> {
        self.rules.iter().find(|rule| rule.id == id).with_context(|| format!("the template has no alarm {id}"))
    }

    /// The sum of a metric in the minutes before this time; zero without samples, and for a removed metric.
    pub(super) fn sum(&self, series: &Series, minutes: i64, at_ms: i64) -> f64 {
        if self.control.removes(&series.name) {
            return 0.0;
        }
        let period = at_ms - minutes * 60_000 / TIME_SCALE..at_ms;
        self.samples.statistic(series, Statistic::Sum, &period).unwrap_or_default()
    }

    /// Returns true if a circuit breaker was open in the minutes before this time.
    pub(super) fn has_open_breaker(&self, minutes: i64, at_ms: i64) -> bool {
        let dimensions = ["JobType".to_owned(), STACK.to_owned()];
        let period = at_ms - minutes * 60_000 / TIME_SCALE..at_ms;
        let name = Metric::BreakerOpen.name();
        self.samples.maximum_of_all(NAMESPACE, name, &dimensions, &period).is_some_and(|value| value > 0.0)
    }

    /// The numbers of failed and of all calls of the API in each of these last five minutes, the newest first.
    pub(super) fn calls(&self, periods: i64, at_ms: i64) -> Vec<[f64; 2]> {
        let of = |name, end_ms| self.sum(&of_api(name), 5, end_ms);
        let ends = (0..periods).map(|number| at_ms - number * 5 * 60_000 / TIME_SCALE);
        ends.map(|end_ms| [of("5xx", end_ms), of("Count", end_ms)]).collect()
    }

    /// The share of calls that got a 5xx in the minutes before this time, in per cent; `None` if there are too few
    /// calls.
    pub(super) fn error_share(&self, minutes: i64, at_ms: i64) -> Option<f64> {
        let of = |name| self.sum(&of_api(name), minutes, at_ms);
        let calls = of("Count");
        (calls >= CALLS).then(|| 100.0 * of("5xx") / calls)
    }
}

/// A metric of the functions with one dimension beside the stack.
pub(super) fn of_functions(metric: Metric, value: &str) -> Series {
    let dimension = metric.dimensions().first().map(|name| (*name, value));
    let mut series = Series::new(NAMESPACE, metric.name(), dimension);
    series.dimensions.insert(STACK.to_owned(), OF_STACK.to_owned());
    series
}

/// A metric of Lambda for a function, by its id in the template.
pub(super) fn of_lambda(name: &str, function: &str) -> Series {
    Series::new("AWS/Lambda", name, Some(("FunctionName", function)))
}

/// A metric of the API.
pub(super) fn of_api(name: &str) -> Series {
    Series::new("AWS/ApiGateway", name, Some(("ApiId", "Api")))
}

/// A metric of a queue, by its id in the template.
pub(super) fn of_queue(name: &str, queue: &str) -> Series {
    Series::new("AWS/SQS", name, Some(("QueueName", queue)))
}

#[test]
fn few_calls_have_no_share_of_errors() {
    let cloudwatch = CloudWatch::new(&Parameters::new(), &Control::default());
    let mut cloudwatch = cloudwatch.unwrap_or_else(|error| panic!("{error:?}"));
    for call in 0..19 {
        cloudwatch.samples.add(of_api("Count"), call, 1.0);
    }
    assert_eq!(cloudwatch.error_share(5, 1_000), None);
    cloudwatch.samples.add(of_api("Count"), 19, 1.0);
    cloudwatch.samples.add(of_api("5xx"), 19, 1.0);
    assert_eq!(cloudwatch.error_share(5, 1_000), Some(5.0));
    assert_eq!(cloudwatch.error_share(5, 9_000), None, "it is long ago");
}
