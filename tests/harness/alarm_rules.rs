//! The alarms of the template, evaluated over [`Samples`] as CloudWatch evaluates them
//! (<https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/AlarmThatSendsEmail.html>).
//!
//! An emulator has neither the metrics nor the evaluation. Periods are divided by a factor, so that minutes pass as
//! seconds; thresholds are those of the template.

use anyhow::{Context, Result, bail};
use deployment::template::{Parameters, Template};
use serde_json::Value;

use super::formulas::{self, Formula, number};
use super::samples::Samples;

/// Milliseconds after which SQS has published a sample, at the latest.
const SQS_DELAY_MS: i64 = 120_000;

/// An alarm.
#[derive(Clone, Debug)]
pub struct AlarmRule {
    /// Id in the template.
    pub id: String,
    /// Anchor of its section in the runbook, to which its description links.
    pub anchor: String,
    /// False if a condition of the template leaves it out of the stack.
    pub is_deployed: bool,
    formula: Formula,
    period_ms: i64,
    periods: i64,
    breaching_periods: usize,
    threshold: f64,
    is_below: bool,
    breaches_without_data: bool,
}

impl AlarmRule {
    /// The alarms of a template with these values of its parameters.
    ///
    /// # Errors
    /// If an alarm cannot be evaluated. The error names it.
    pub fn all(template: &str, parameters: &Parameters) -> Result<Vec<Self>> {
        let template = Template::parse(template)?;
        let alarms = template.section("Resources").filter(|(_, resource)| resource["Type"] == "AWS::CloudWatch::Alarm");
        let rules = alarms.map(|(id, resource)| {
            let condition = resource["Condition"].as_str();
            let is_deployed = condition.and_then(|name| template.condition(name, parameters)) != Some(false);
            let alarm = template.resolve(&resource["Properties"], parameters);
            Self::parse(id, &alarm, is_deployed).with_context(|| format!("the alarm {id}"))
        });
        rules.collect()
    }

    fn parse(id: &str, alarm: &Value, is_deployed: bool) -> Result<Self> {
        let description = alarm["AlarmDescription"]["Fn::Sub"].as_str().unwrap_or_default();
        let (formula, period_s) = formulas::parse(alarm)?;
        Ok(Self {
            id: id.to_owned(),
            anchor: description.rsplit_once("${RunbookUrl}#").context("it has no link to the runbook")?.1.to_owned(),
            is_deployed,
            formula,
            period_ms: period_s * 1_000,
            periods: number(&alarm["EvaluationPeriods"])? as i64,
            breaching_periods: number(&alarm["DatapointsToAlarm"])? as usize,
            threshold: number(&alarm["Threshold"])?,
            is_below: match alarm["ComparisonOperator"].as_str() {
                Some("GreaterThanThreshold") => false,
                Some("LessThanThreshold") => true,
                other => bail!("the comparison {other:?} is not evaluated: add it here"),
            },
            breaches_without_data: match alarm["TreatMissingData"].as_str() {
                Some("notBreaching") => false,
                Some("breaching") => true,
                other => bail!("the treatment {other:?} of missing data is not evaluated: add it here"),
            },
        })
    }

    /// Returns true if the alarm is raised at this time, in milliseconds since 1970. Periods are divided by
    /// `time_scale`.
    pub fn is_raised(&self, samples: &Samples, at_ms: i64, time_scale: i64) -> bool {
        let period_ms = (self.period_ms / time_scale).max(1);
        let (end, published_ms) = (at_ms.div_euclid(period_ms) * period_ms, at_ms - SQS_DELAY_MS / time_scale);
        let is_breaching = |number: &i64| {
            let end = end - number * period_ms;
            match self.formula.value(samples, &(end - period_ms..end), published_ms) {
                None => self.breaches_without_data,
                Some(value) if self.is_below => value < self.threshold,
                Some(value) => value > self.threshold,
            }
        };
        (0..self.periods).filter(is_breaching).count() >= self.breaching_periods
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::super::samples::Series;
    use super::*;

    const TEMPLATE: &str = include_str!("../../template.yaml");
    const RUNBOOK: &str = include_str!("../../docs/runbook.md");

    fn rules() -> BTreeMap<String, AlarmRule> {
        let rules = AlarmRule::all(TEMPLATE, &Parameters::new()).unwrap();
        rules.into_iter().map(|rule| (rule.id.clone(), rule)).collect()
    }

    #[test]
    fn every_alarm_of_the_template_is_evaluated_and_links_to_its_section() {
        let rules = rules();
        assert!(rules.len() > 30, "{}", rules.len());
        for (id, rule) in &rules {
            assert_eq!(rule.anchor, id.to_lowercase());
            assert!(RUNBOOK.contains(&format!("\n### {id}\n")), "{id}");
        }
        let raised: Vec<_> = rules.values().filter(|rule| rule.is_raised(&Samples::default(), 0, 1)).collect();
        assert_eq!(raised.iter().map(|rule| rule.id.as_str()).collect::<Vec<_>>(), ["SweepSilentAlarm"]);
    }

    fn errors(function: &str) -> Series {
        Series::new("AWS/Lambda", "Errors", Some(("FunctionName", function)))
    }

    #[test]
    fn two_of_three_periods_must_have_a_crash() {
        let rule = &rules()["ProcessItemErrorsAlarm"];
        for (times_s, raised) in [(&[10, 20][..], false), (&[10, 310], true), (&[10, 610], true), (&[310], false)] {
            let mut samples = Samples::default();
            for at_s in times_s {
                samples.add(errors("ProcessItem"), at_s * 1_000, 1.0);
                samples.add(errors("Sweep"), 620_000, 1.0);
            }
            assert_eq!(rule.is_raised(&samples, 900_000, 1), raised, "{times_s:?}");
            assert!(!rule.is_raised(&samples, 1_800_000, 1), "it is over");
        }
    }

    #[test]
    fn periods_are_divided_by_the_scale() {
        let (rule, mut samples) = (&rules()["ProcessItemErrorsAlarm"], Samples::default());
        samples.add(errors("ProcessItem"), 1_000, 1.0);
        samples.add(errors("ProcessItem"), 6_000, 1.0);
        assert!(!rule.is_raised(&samples, 15_000, 1));
        assert!(rule.is_raised(&samples, 15_000, 60));
    }

    #[test]
    fn formulas_are_those_of_the_template() {
        let (rules, mut samples) = (rules(), Samples::default());
        let queue = Some(("QueueName", "ChunkDeadLetters"));
        samples.add(Series::new("AWS/SQS", "ApproximateNumberOfMessagesNotVisible", queue), 1_000, 1.0);
        assert!(rules["ChunkDeadLettersAlarm"].is_raised(&samples, 180_000, 1));
        for (errors, raised) in [(1.0, false), (2.0, true)] {
            let mut samples = Samples::default();
            for period in 0..3 {
                let series = |name| Series::new("AWS/ApiGateway", name, Some(("ApiId", "Api")));
                samples.add(series("Count"), period * 300_000, 20.0);
                samples.add(series("5xx"), period * 300_000, errors);
            }
            assert_eq!(rules["ApiErrorsAlarm"].is_raised(&samples, 900_000, 1), raised, "{errors}");
        }
        for (milliseconds, raised) in [(3_600_000.0, false), (3_600_001.0, true)] {
            let mut samples = Samples::default();
            for at_ms in [0, 300_000] {
                let series = Series::new("Longshore", "OldestWaitingJob", Some(("Stack", "AWS::StackName")));
                samples.add(series, at_ms, milliseconds);
            }
            assert_eq!(rules["OldestWaitingJobAlarm"].is_raised(&samples, 600_000, 1), raised, "{milliseconds}");
        }
    }

    /// AWS advises "M out of N" for an alarm with `FILL` over a metric that is published late.
    #[test]
    fn a_dead_letter_raises_its_alarm_although_sqs_publishes_the_newest_minutes_late() {
        let (rules, minutes) = (rules(), 10);
        for name in ["CreateJob", "CompleteJob", "Chunk", "Webhook"] {
            let (rule, mut samples) = (&rules[&format!("{name}DeadLettersAlarm")], Samples::default());
            let queue = format!("{name}DeadLetters");
            let series =
                Series::new("AWS/SQS", "ApproximateNumberOfMessagesVisible", Some(("QueueName", queue.as_str())));
            (0..minutes).for_each(|minute| samples.add(series.clone(), minute * 60_000, 1.0));
            let one_period = AlarmRule { periods: 1, ..rule.clone() };
            for at_ms in [minutes * 60_000, minutes * 60_000 + 59_999] {
                assert!(rule.is_raised(&samples, at_ms, 1), "{name} {at_ms}");
                assert!(!one_period.is_raised(&samples, at_ms, 1), "{name}: one period of one is never enough");
            }
            assert!(!rule.is_raised(&samples, (minutes + 5) * 60_000, 1), "{name}: it is over");
        }
    }

    #[test]
    fn an_open_breaker_of_any_job_type_raises_its_alarm() {
        let (rule, mut samples) = (&rules()["CircuitBreakerAlarm"], Samples::default());
        let mut series = Series::new("Longshore", "BreakerOpen", Some(("JobType", "mail")));
        series.dimensions.insert("Stack".to_owned(), "AWS::StackName".to_owned());
        samples.add(series.clone(), 0, 1.0);
        assert!(!rule.is_raised(&samples, 600_000, 1));
        samples.add(series, 300_000, 1.0);
        assert!(rule.is_raised(&samples, 600_000, 1));
    }
}
