//! Dashboards: their widgets, the alarms that they list, and the math of their expressions.

use std::collections::BTreeSet;

use deployment::roles::FUNCTION;
use deployment::template::{Parameters, Template, plain};
use serde_json::{Value, json};

use super::{TEMPLATE, template};

/// Number of metrics of a dashboard that is free of charge (<https://aws.amazon.com/cloudwatch/pricing/>). Those that a
/// search finds are not counted.
const FREE_METRICS: usize = 50;

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
