//! Every metric of an alarm, a dashboard or a query exists: with this name, and with exactly these dimensions.

use std::collections::BTreeSet;

use deployment::template::Template;
use longshore::metrics::{Metric, NAMESPACE, STACK};
use longshore_signed_json::AwsMetric;
use serde_json::Value;

use super::aws_metrics::SERVICES;
use super::dashboards::{expression, lines, metric, widgets};
use super::{TEMPLATE, template};

/// Namespace of the metrics of log filters: a reference to the name of the stack.
const OF_FILTERS: &str = "AWS::StackName";
/// Units of CloudWatch that AWS's metrics here have.
const UNITS: [&str; 4] = ["Count", "Milliseconds", "Seconds", "Bytes"];

/// A metric, where it is used.
#[derive(Clone, Debug)]
struct Used {
    place: String,
    namespace: String,
    name: String,
    dimensions: BTreeSet<String>,
}

impl Used {
    fn new<'a>(place: &str, [namespace, name]: [&str; 2], dimensions: impl Iterator<Item = &'a str>) -> Self {
        Self {
            place: place.to_owned(),
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            dimensions: dimensions.map(str::to_owned).collect(),
        }
    }

    fn exists(&self, template: &Template) -> bool {
        let has = |dimensions: &[&str]| self.dimensions.iter().map(String::as_str).eq(sorted(dimensions));
        match self.namespace.as_str() {
            NAMESPACE => Metric::ALL
                .iter()
                .any(|metric| metric.name() == self.name && has(&[metric.dimensions(), &[STACK]].concat())),
            OF_FILTERS => has(&[]) && names_of_filters(template).contains(&self.name.as_str()),
            namespace => SERVICES.iter().filter(|service| service.namespace == namespace).any(|service| {
                service.metrics.iter().any(|(name, _, sets)| *name == self.name && sets.iter().any(|set| has(set)))
            }),
        }
    }
}

fn sorted<'a>(dimensions: &[&'a str]) -> impl Iterator<Item = &'a str> {
    dimensions.iter().copied().collect::<BTreeSet<_>>().into_iter()
}

/// Returns the names of the metrics that log filters write into the namespace of the stack.
fn names_of_filters(template: &Template) -> Vec<&str> {
    let filters = template.of_type("AWS::Logs::MetricFilter").map(|(_, filter)| &filter["MetricTransformations"][0]);
    let own = filters.filter(|transformation| transformation["MetricNamespace"]["Ref"] == OF_FILTERS);
    own.filter_map(|transformation| transformation["MetricName"].as_str()).collect()
}

/// Returns the metrics of an alarm, which is one metric, or a list of metrics and expressions.
fn of_alarm(id: &str, alarm: &Value) -> Vec<Used> {
    let queries = alarm["Metrics"].as_array().into_iter().flatten();
    let metrics = queries.clone().filter_map(|query| query["MetricStat"].get("Metric"));
    let single = alarm.get("MetricName").map(|_| alarm);
    let mut used: Vec<_> = metrics.chain(single).map(|metric| described(id, metric)).collect();
    let expressions = queries.filter_map(|query| {
        let expression = &query["Expression"];
        expression.as_str().or_else(|| expression["Fn::Sub"].as_str())
    });
    used.extend(expressions.flat_map(|text| queried(id, text)));
    used
}

fn described(id: &str, metric: &Value) -> Used {
    let namespace = &metric["Namespace"];
    let namespace = namespace.as_str().or_else(|| namespace["Ref"].as_str()).unwrap_or_default();
    let dimensions = metric["Dimensions"].as_array().into_iter().flatten();
    let names = dimensions.filter_map(|dimension| dimension["Name"].as_str());
    Used::new(id, [namespace, metric["MetricName"].as_str().unwrap_or_default()], names)
}

/// Returns the metrics that an expression finds: `SEARCH('{Namespace,Dimension} MetricName="Name" …` or
/// `SELECT MAX("Name") FROM SCHEMA("Namespace", "Dimension") …`. Other expressions are math.
fn queried(place: &str, expression: &str) -> Vec<Used> {
    let parts = |list: &str| list.split(',').map(|name| name.trim().trim_matches('"').to_owned()).collect::<Vec<_>>();
    let found =
        |schema: &[String], name: &str| Used::new(place, [&schema[0], name], schema[1..].iter().map(String::as_str));
    let searches = expression.split("SEARCH('{").skip(1).map(|search| {
        let (schema, terms) = search.split_once('}').unwrap();
        let (_, name) = terms.split_once("MetricName=\"").unwrap();
        found(&parts(schema), name.split('"').next().unwrap_or_default())
    });
    let query = expression.strip_prefix("SELECT ").and_then(|query| query.split_once(" FROM SCHEMA("));
    let queries = query.map(|(function, schema)| {
        let name = function.split(['(', ')']).nth(1).unwrap_or_default();
        found(&parts(schema.split(')').next().unwrap_or_default()), name.trim_matches('"'))
    });
    searches.chain(queries).collect()
}

fn used(template: &Template) -> Vec<Used> {
    let mut used: Vec<_> =
        template.of_type("AWS::CloudWatch::Alarm").flat_map(|(id, alarm)| of_alarm(id, alarm)).collect();
    for (id, widgets) in widgets(template) {
        for line in widgets.iter().flat_map(lines) {
            if let Some(strings) = metric(line) {
                used.push(Used::new(&id, [strings[0], strings[1]], strings[2..].iter().step_by(2).copied()));
            }
            used.extend(expression(line).into_iter().flat_map(|text| queried(&id, text)));
        }
    }
    used
}

/// Returns the metrics of AWS that functions and the command line read.
fn queried_by_code() -> Vec<Used> {
    let used = |metric: AwsMetric| Used::new("code", [metric.namespace(), metric.name()], metric.dimensions());
    AwsMetric::ALL.into_iter().map(used).collect()
}

/// Lists the metrics that do not exist.
fn unknown(template: &str) -> Vec<String> {
    let template = Template::parse(template).unwrap();
    let unknown = used(&template).into_iter().filter(|used| !used.exists(&template));
    unknown.map(|used| format!("{}: {} {} {:?}", used.place, used.namespace, used.name, used.dimensions)).collect()
}

#[test]
fn every_metric_of_an_alarm_or_a_dashboard_exists_with_exactly_these_dimensions() {
    assert_eq!(unknown(TEMPLATE), [""; 0]);
    let used = used(&template());
    let places: BTreeSet<_> = used.iter().map(|used| used.place.as_str()).collect();
    let alarms = template().of_type("AWS::CloudWatch::Alarm").count();
    assert_eq!(places.len(), alarms + 2, "each alarm and both dashboards: {places:?}");
}

#[test]
fn every_metric_that_code_reads_exists_with_exactly_these_dimensions() {
    let template = template();
    for metric in queried_by_code() {
        assert!(metric.exists(&template), "{metric:?}");
    }
}

#[test]
fn a_metric_that_does_not_exist_is_found() {
    let rows = [
        ("Value: !Ref Api }]", "Value: !Ref Api }, { Name: Stage, Value: $default }]", "AWS/ApiGateway 5xx"),
        ("MetricName: 5xx", "MetricName: 5XXError", "AWS/ApiGateway 5XXError"),
        ("\"5xx\", \"ApiId\"", "\"5XXError\", \"ApiId\"", "ServiceLevelDashboard: AWS/ApiGateway 5XXError"),
        ("{ Name: QueueName, Value: !GetAtt ChunkQueue.QueueName }", "", "ChunkQueueAgeAlarm: AWS/SQS"),
        ("{ Name: Stack, Value: !Ref AWS::StackName }", "", "OldestWaitingJobAlarm: Longshore OldestWaitingJob"),
        ("SCHEMA(\"Longshore\", \"JobType\", \"Stack\")", "SCHEMA(\"Longshore\", \"Stack\")", "Longshore BreakerOpen"),
        ("MetricName: SweepFailures\n", "MetricName: SweepFaults\n", "AWS::StackName SweepFaults"),
        ("{Longshore,JobType,Stack}", "{Longshore,Stack}", "Longshore ItemsSucceeded"),
        ("\"TimeToFirstProgress\"", "\"TimeToProgress\"", "Longshore TimeToProgress"),
        ("\"GlobalSecondaryIndexName\", \"due\"", "\"IndexName\", \"due\"", "AWS/DynamoDB ConsumedWriteCapacityUnits"),
    ];
    for (old, new, expected) in rows {
        assert!(TEMPLATE.contains(old), "{old}");
        let unknown = unknown(&TEMPLATE.replace(old, new));
        assert!(unknown.iter().any(|metric| metric.contains(expected)), "{expected}: {unknown:?}");
    }
}

#[test]
fn every_listed_metric_of_aws_is_used_and_has_a_source() {
    let used = [used(&template()), queried_by_code()].concat();
    for service in SERVICES {
        assert!(!service.sources.is_empty(), "{}", service.namespace);
        for source in service.sources {
            assert!(source.starts_with("https://docs.aws.amazon.com/"), "{source}");
        }
        for (name, unit, sets) in service.metrics {
            assert!(UNITS.contains(unit), "{name}: {unit}");
            for set in *sets {
                let is_used = used.iter().any(|used| {
                    used.namespace == service.namespace
                        && used.name == *name
                        && used.dimensions.iter().map(String::as_str).eq(sorted(set))
                });
                assert!(is_used, "{} {name} with {set:?} is not used", service.namespace);
            }
        }
    }
}

/// The rows are those of the guide: name, dimensions without the stack, and unit.
#[test]
fn the_guide_lists_every_metric_with_its_dimensions_and_unit() {
    let guide = include_str!("../../../../docs/guides/operating.md");
    let (_, rest) = guide.split_once("\n## Metrics\n").unwrap();
    let (section, _) = rest.split_once("\n## ").unwrap();
    let rows = section.lines().filter_map(|line| line.strip_prefix("| `")?.rsplit_once(" | "));
    let listed: Vec<_> = rows.map(|(row, _)| row.replace("|  |", "| |")).collect();
    let expected = Metric::ALL.iter().map(|metric| {
        let dimensions: Vec<_> = metric.dimensions().iter().map(|name| format!("`{name}`")).collect();
        let row = format!("{}` | {} | {}", metric.name(), dimensions.join(", "), metric.unit_name());
        row.replace("|  |", "| |")
    });
    assert_eq!(listed, expected.collect::<Vec<_>>());
}
