//! Dashboards: their panels, the alarms that they list, and the math of their expressions.

use std::collections::BTreeSet;

use deployment::roles::FUNCTION;
use deployment::template::{Parameters, Template, plain};
use serde_json::{Value, json};

use super::{TEMPLATE, template};

/// Number of metrics of a dashboard that is free of charge (<https://aws.amazon.com/cloudwatch/pricing/>). Those that a
/// search finds are not counted.
const FREE_METRICS: usize = 50;

/// The panels of both dashboards: dashboard, title, and the names of the metrics that it shows.
const PANELS: [(&str, &str, &[&str]); 20] = [
    ("ServiceLevelDashboard", "Time from the creation of a job to its first progress", &["TimeToFirstProgress"]),
    ("ServiceLevelDashboard", "Rows per second", &["ItemsFailed", "ItemsSkipped", "ItemsSucceeded"]),
    (
        "ServiceLevelDashboard",
        "Oldest waiting job, and oldest message of each queue",
        &["ApproximateAgeOfOldestMessage", "OldestWaitingJob"],
    ),
    ("ServiceLevelDashboard", "Wait of chunks in each queue, p90", &["ChunkWait"]),
    (
        "ServiceLevelDashboard",
        "Error budget: jobs that ended as failed, and rows that failed",
        &["ItemsFailed", "ItemsSucceeded", "JobsEnded"],
    ),
    ("ServiceLevelDashboard", "Error budget: calls with a 5xx", &["5xx", "Count"]),
    ("ServiceLevelDashboard", "Time of a call of the API", &["Latency"]),
    (
        "ServiceLevelDashboard",
        "Handlers: open circuit breakers, and time of a call (p90)",
        &["BreakerOpen", "HandlerDuration"],
    ),
    ("ServiceLevelDashboard", "Functions: crashes and time-outs", &["Errors"]),
    (
        "ServiceLevelDashboard",
        "Functions: throttled invocations, and concurrent executions of the account",
        &["ConcurrentExecutions", "Throttles"],
    ),
    ("ServiceLevelDashboard", "Webhooks: attempts by result", &["WebhookAttempts"]),
    ("ServiceLevelDashboard", "Sweeper: failures", &["SweeperFailures"]),
    ("CostDashboard", "GB-seconds by memory of the function", &["Duration"]),
    ("CostDashboard", "Invocations, without those of the API", &["Invocations"]),
    ("CostDashboard", "Calls of the API", &["Count"]),
    ("CostDashboard", "DynamoDB: units", &["ConsumedReadCapacityUnits", "ConsumedWriteCapacityUnits"]),
    ("CostDashboard", "SQS: messages", &["NumberOfMessagesSent"]),
    ("CostDashboard", "SQS: empty receives", &["NumberOfEmptyReceives"]),
    ("CostDashboard", "S3: bytes and objects", &["BucketSizeBytes", "NumberOfObjects"]),
    ("CostDashboard", "Logs: bytes of two functions", &["IncomingBytes"]),
];

/// The objectives: title of the panel, id of all that is counted, the share of it that may fail, and the objective as
/// the documents state it.
const OBJECTIVES: [(&str, &str, &str, &str); 2] = [
    ("Error budget: jobs that ended as failed, and rows that failed", "ended_so_far", "0.01", "99 % of jobs"),
    ("Error budget: calls with a 5xx", "calls_so_far", "0.001", "99.9 % of calls"),
];

/// Documents that state the objectives.
const DOCUMENTS: [&str; 2] = [
    include_str!("../../../../docs/decisions/0056-metrics-and-traces.md"),
    include_str!("../../../../docs/guides/deploying.md"),
];

/// Returns the body of a dashboard. Parameters are replaced by their defaults, and resources by their names.
fn body(template: &Template, dashboard: &Value) -> Value {
    let text = &dashboard["DashboardBody"]["Fn::Sub"];
    let text = text.as_str().or_else(|| text[0].as_str()).unwrap();
    let mut parts = text.split("${");
    let mut body = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (name, rest) = part.split_once('}').unwrap();
        body += &template.parameter(name, &Parameters::new()).unwrap_or_else(|| name.to_owned());
        body += rest;
    }
    serde_json::from_str(&body).unwrap_or_else(|error| panic!("{error}: {body}"))
}

/// Returns the properties of the widgets of each dashboard, by the dashboard's logical id.
pub(super) fn widgets(template: &Template) -> Vec<(String, Vec<Value>)> {
    let widgets = |dashboard| {
        let body = body(template, dashboard);
        body["widgets"].as_array().unwrap().iter().map(|widget| widget["properties"].clone()).collect()
    };
    template.of_type("AWS::CloudWatch::Dashboard").map(|(id, dashboard)| (id.to_owned(), widgets(dashboard))).collect()
}

/// Returns the lines of a widget: metrics and expressions.
pub(super) fn lines(widget: &Value) -> impl Iterator<Item = &Vec<Value>> {
    widget["metrics"].as_array().into_iter().flatten().filter_map(Value::as_array)
}

/// Returns the strings of a metric: its namespace, its name, and its dimensions with their values. `None` for an
/// expression.
pub(super) fn metric(line: &[Value]) -> Option<Vec<&str>> {
    let strings: Vec<_> = line.iter().map_while(Value::as_str).collect();
    (!strings.is_empty()).then_some(strings)
}

/// Returns the expression of a line, if it is one.
pub(super) fn expression(line: &[Value]) -> Option<&str> {
    line.first()?["expression"].as_str()
}

/// Lists the ids in the math of a widget that none of its lines has.
fn unknown_ids(widget: &Value) -> Vec<String> {
    let ids: BTreeSet<_> = lines(widget).filter_map(|line| line.last()?["id"].as_str()).collect();
    let math = lines(widget).filter_map(|line| expression(line)).filter(|text| !text.contains("SEARCH("));
    let words = math.flat_map(|text| text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
    let is_id = |word: &&str| word.starts_with(|first: char| first.is_ascii_lowercase());
    words.filter(is_id).filter(|word| !ids.contains(word)).map(str::to_owned).collect()
}

#[test]
fn an_expression_names_only_ids_of_its_widget() {
    let unknown = |template: &str| {
        let dashboards = widgets(&Template::parse(template).unwrap());
        dashboards.iter().flat_map(|(_, widgets)| widgets).flat_map(unknown_ids).collect::<Vec<_>>()
    };
    assert_eq!(unknown(TEMPLATE), [""; 0]);
    assert_eq!(unknown(&TEMPLATE.replace("\"100 * errors / calls\"", "\"100 * errors / requests\"")), ["requests"]);
}

/// Returns the names of the metrics that a panel shows, or that its searches find.
fn shown(panel: &Value) -> BTreeSet<&str> {
    let named = lines(panel).filter_map(|line| metric(line)?.get(1).copied());
    let searches = lines(panel).filter_map(|line| expression(line));
    let found = searches.flat_map(|text| text.split("MetricName=\"").skip(1)).filter_map(|text| text.split('"').next());
    named.chain(found).collect()
}

/// Lists the panels of [`PANELS`] that a template does not have, or that show other metrics.
fn missing_panels(template: &str) -> Vec<&'static str> {
    let dashboards = widgets(&Template::parse(template).unwrap());
    let has = |dashboard: &str, title: &str, names: &[&str]| {
        let panels = dashboards.iter().filter(|(id, _)| id == dashboard).flat_map(|(_, panels)| panels);
        panels.filter(|panel| panel["title"] == title).any(|panel| shown(panel).iter().eq(names))
    };
    let missing = PANELS.into_iter().filter(|(dashboard, title, names)| !has(dashboard, title, names));
    missing.map(|(_, title, _)| title).collect()
}

#[test]
fn the_dashboards_have_their_panels() {
    assert_eq!(missing_panels(TEMPLATE), [""; 0]);
    let panels = widgets(&template()).into_iter().flat_map(|(_, panels)| panels);
    assert_eq!(panels.filter(|panel| panel["metrics"].is_array()).count(), PANELS.len(), "each panel is listed");
    for (old, new, expected) in [
        ("\"title\": \"Rows per second\"", "\"title\": \"Rows\"", "Rows per second"),
        (r#"MetricName=\"ItemsSkipped\""#, r#"MetricName=\"ItemsFailed\""#, "Rows per second"),
        ("\"Longshore\", \"OldestWaitingJob\"", "\"Longshore\", \"SweeperFailures\"", PANELS[2].1),
        ("\"AWS/Logs\", \"IncomingBytes\"", "\"AWS/Logs\", \"IncomingLogEvents\"", "Logs: bytes of two functions"),
    ] {
        assert!(TEMPLATE.contains(old), "{old}");
        assert_eq!(missing_panels(&TEMPLATE.replace(old, new)), [expected]);
    }
}

/// Without jobs or calls, the divisor is that of one, and the budget is whole.
#[test]
fn an_error_budget_has_an_objective_and_is_whole_without_traffic() {
    let panels: Vec<_> = widgets(&template()).into_iter().flat_map(|(_, panels)| panels).collect();
    for (title, all, allowed, objective) in OBJECTIVES {
        let panel = panels.iter().find(|panel| panel["title"] == title).unwrap();
        let is_budget =
            |line: &&Vec<Value>| line[0]["label"].as_str().is_some_and(|label| label.ends_with("budget left"));
        let math = lines(panel).find(is_budget).and_then(|line| expression(line)).unwrap();
        let divisor = format!(" / ({allowed} * IF({all} > 0, {all}, 1))");
        assert!(math.starts_with("100 - 100 * ") && math.ends_with(&divisor), "{math}");
        let sums = lines(panel).filter_map(|line| expression(line)).filter(|text| text.contains("RUNNING_SUM("));
        let filled = sums.map(|text| text.starts_with("RUNNING_SUM(FILL(") && text.ends_with(", 0))"));
        assert_eq!(filled.collect::<Vec<_>>(), [true; 2], "{title}: what failed, and all");
        let marks = panel["annotations"]["horizontal"].as_array().unwrap();
        let mark = marks.iter().find(|mark| mark["label"] == format!("objective: {objective}")).unwrap();
        let percent = 100.0 * allowed.parse::<f64>().unwrap();
        assert!((mark["value"].as_f64().unwrap() - percent).abs() < 1e-9, "{mark}");
        assert!(DOCUMENTS.iter().all(|document| document.contains(objective)), "{objective}");
    }
}

#[test]
fn a_dashboard_has_no_more_metrics_than_are_free() {
    for (id, widgets) in widgets(&template()) {
        let metrics: BTreeSet<_> = widgets.iter().flat_map(lines).filter_map(|line| metric(line)).collect();
        assert!((1..=FREE_METRICS).contains(&metrics.len()), "{id}: {} metrics", metrics.len());
    }
}

/// Returns the value with which a list contains the ARN of an alarm. A deployment fails if it refers to a resource that
/// a condition excludes.
fn entry(id: &str, alarm: &Value) -> Value {
    let arn = json!({ "Fn::GetAtt": [id, "Arn"] });
    match alarm.get("Condition") {
        Some(condition) => json!({ "Fn::If": [condition, arn, { "Ref": "AWS::NoValue" }] }),
        None => arn,
    }
}

#[test]
fn the_service_level_dashboard_lists_every_alarm_under_its_condition() {
    let template = template();
    let body = &template.properties("ServiceLevelDashboard").unwrap()["DashboardBody"]["Fn::Sub"];
    let join = &body[1]["Alarms"]["Fn::Join"];
    assert_eq!(join[0], "\",\"");
    let listed: BTreeSet<_> = join[1].as_array().unwrap().iter().map(Value::to_string).collect();
    let alarms = template.section("Resources").filter(|(_, resource)| resource["Type"] == "AWS::CloudWatch::Alarm");
    let expected: BTreeSet<_> = alarms.map(|(id, alarm)| entry(id, alarm).to_string()).collect();
    assert_eq!(listed, expected);
    assert!(body[0].as_str().unwrap().contains("\"alarms\": [\"${Alarms}\"]"));
}

#[test]
fn gigabyte_seconds_are_computed_with_the_memory_of_each_function() {
    let template = template();
    let (_, cost) = widgets(&template).into_iter().find(|(id, _)| id == "CostDashboard").unwrap();
    let expressions: Vec<_> = cost.iter().flat_map(lines).filter_map(|line| expression(line)).collect();
    let (_, globals) = template.section("Globals").find(|(name, _)| *name == "Function").unwrap();
    for (_, function) in template.of_type(FUNCTION) {
        let memory = function.get("MemorySize").unwrap_or(&globals["MemorySize"]);
        let memory = plain(&template.resolve(memory, &Parameters::new())).unwrap();
        let id = function["Handler"].as_str().unwrap().replace('-', "_");
        let has_id = |text: &&&str| text.split(|c: char| !c.is_alphanumeric() && c != '_').any(|word| word == id);
        let own: Vec<_> = expressions.iter().filter(has_id).collect();
        assert!(own.len() == 1 && own[0].ends_with(&format!(") * {memory} / 1024000")), "{id}, {memory} MB: {own:?}");
    }
}

#[test]
fn dashboards_can_be_turned_off() {
    let template = template();
    let conditions =
        template.section("Resources").filter(|(_, resource)| resource["Type"] == "AWS::CloudWatch::Dashboard");
    let conditions: Vec<_> = conditions.map(|(_, dashboard)| dashboard["Condition"].as_str()).collect();
    assert_eq!(conditions, [Some("HasDashboards"); 2]);
    let off = super::values(&[("Dashboards", "false")]);
    assert_eq!(template.condition("HasDashboards", &off), Some(false));
    assert_eq!(template.condition("HasDashboards", &Parameters::new()), Some(true));
}
