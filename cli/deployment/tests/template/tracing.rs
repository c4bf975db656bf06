//! Traces by AWS X-Ray: off by default, and then no function has the permission to send them.

use std::collections::{BTreeMap, BTreeSet};

use deployment::roles::{FUNCTION, functions};
use deployment::template::{Parameters, Template};
use serde_json::Value;

use super::{TEMPLATE, template, values};

/// Adds all strings of a value that begin with `xray:`.
fn collect_actions(value: &Value, actions: &mut BTreeSet<String>) {
    match value {
        Value::String(text) if text.starts_with("xray:") => {
            actions.insert(text.clone());
        }
        Value::Array(items) => items.iter().for_each(|item| collect_actions(item, actions)),
        Value::Object(object) => object.values().for_each(|item| collect_actions(item, actions)),
        _ => {}
    }
}

/// Returns the actions of X-Ray that a resource permits with these parameters, by logical id.
fn permitted(template: &Template, values: &Parameters) -> BTreeMap<String, BTreeSet<String>> {
    let actions = template.section("Resources").map(|(id, resource)| {
        let mut actions = BTreeSet::new();
        collect_actions(&template.resolve(resource, values), &mut actions);
        (id.to_owned(), actions)
    });
    actions.filter(|(_, actions)| !actions.is_empty()).collect()
}

/// Returns the mode of all functions with these parameters.
fn mode(template: &Template, values: &Parameters) -> Value {
    let (_, globals) = template.section("Globals").find(|(name, _)| *name == "Function").unwrap();
    template.resolve(&globals["Tracing"], values)
}

#[test]
fn tracing_is_off_by_default_and_then_no_role_permits_traces() {
    let template = template();
    assert_eq!(template.declaration("Tracing")["Default"], "Off");
    for values in [Parameters::new(), values(&[("Tracing", "Off")])] {
        assert_eq!(mode(&template, &values), "PassThrough");
        assert_eq!(permitted(&template, &values), BTreeMap::new());
    }
}

#[test]
fn with_tracing_the_role_of_each_function_permits_to_send_traces() {
    let (template, values) = (template(), values(&[("Tracing", "On")]));
    let role = |function: &Value| function["Role"]["Fn::GetAtt"][0].as_str().unwrap().to_owned();
    let actions = || BTreeSet::from(["xray:PutTelemetryRecords", "xray:PutTraceSegments"].map(str::to_owned));
    let expected: BTreeMap<_, _> =
        template.of_type(FUNCTION).map(|(_, function)| (role(function), actions())).collect();
    assert_eq!(permitted(&template, &values), expected);
    assert_eq!(mode(&template, &values), "Active");
    let own: Vec<_> = template.of_type(FUNCTION).filter(|(_, function)| function.get("Tracing").is_some()).collect();
    assert!(own.is_empty(), "functions with a mode of their own: {own:?}");
}

#[test]
fn a_permission_without_the_parameter_is_found() {
    let always = Template::parse(&TEMPLATE.replace("- Traces\n", "- RequiresTls\n")).unwrap();
    assert_eq!(permitted(&always, &Parameters::new()).len(), always.of_type(FUNCTION).count());
}

/// X-Ray has no resources for these actions, nor has `GetMetricData`. Everything else is permitted on named resources.
#[test]
fn only_traces_and_reads_of_metrics_are_permitted_on_all_resources() {
    for function in functions(&template()).unwrap().values() {
        let all = function.statements.iter().filter(|statement| statement.resources.contains("*"));
        let actions: Vec<_> = all.flat_map(|statement| &statement.actions).collect();
        let mut expected = vec!["xray:PutTelemetryRecords", "xray:PutTraceSegments"];
        expected.extend((function.id == "Operations").then_some("cloudwatch:GetMetricData"));
        assert_eq!(actions, expected, "{}", function.id);
    }
}
