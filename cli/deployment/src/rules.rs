//! Evaluates the template's `Rules` as CloudFormation does before a deployment.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::evaluation::holds;
use crate::finding::Finding;
use crate::settings::Settings;
use crate::template::Template;

/// Lists the assertions that are not satisfied, each with its `AssertDescription`.
pub fn findings(template: &Template, settings: &Settings) -> Vec<Finding> {
    template.section("Rules").flat_map(|(name, rule)| check_rule(template, settings, name, rule)).collect()
}

fn check_rule(template: &Template, settings: &Settings, name: &str, rule: &Value) -> Vec<Finding> {
    let values = settings.effective(template);
    let location = format!("rule {name}");
    let applies = rule.get("RuleCondition").map_or(Some(true), |condition| holds(template, condition, &values));
    if applies == Some(false) {
        return Vec::new();
    }
    let assertions = rule["Assertions"].as_array().into_iter().flatten();
    let check = |assertion: &Value| match (applies, holds(template, &assertion["Assert"], &values)) {
        (_, Some(true)) => None,
        (Some(true), Some(false)) => {
            let problem = assertion["AssertDescription"].as_str().unwrap_or("an assertion is not satisfied");
            let fix = advice(template, settings, [rule, assertion]);
            Some(Finding::error(&location, problem.trim_end_matches('.'), fix))
        }
        _ => Some(Finding::warning(&location, "only CloudFormation can evaluate it", "check it manually")),
    };
    assertions.filter_map(check).collect()
}

/// Returns advice that lists the parameters of the condition and the assertion, with their values.
fn advice(template: &Template, settings: &Settings, [rule, assertion]: [&Value; 2]) -> String {
    let mut names = BTreeSet::new();
    references(&rule["RuleCondition"], &mut names);
    references(&assertion["Assert"], &mut names);
    let values = settings.effective(template);
    let value = |name| {
        let value = template.parameter(name, &values).unwrap_or_default();
        format!("{name} ({value:?} in {})", settings.origin(name))
    };
    format!("change {}", names.into_iter().map(value).collect::<Vec<_>>().join(" or "))
}

fn references<'a>(expression: &'a Value, names: &mut BTreeSet<&'a str>) {
    match expression {
        Value::Array(items) => items.iter().for_each(|item| references(item, names)),
        Value::Object(object) => {
            names.extend(object.get("Ref").and_then(Value::as_str));
            object.values().for_each(|value| references(value, names));
        }
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_only_cloudformation_can_evaluate_is_a_warning() -> anyhow::Result<()> {
        let text = "
Rules:
  Team: { Assertions: [{ Assert: !EachMemberIn [!ValueOfAll ['AWS::EC2::VPC::Id', 'Tags.Team'], [a]] }] }
  Plain: { Assertions: [{ Assert: !Equals [a, a] }] }
  Either: { RuleCondition: !Equals [!Ref Unknown, a], Assertions: [{ Assert: !Equals [a, a] }] }
  Absent: { RuleCondition: !Equals [a, b], Assertions: [{ Assert: !Equals [a, b] }] }
";
        let findings = findings(&Template::parse(text)?, &Settings::default());
        assert_eq!(
            findings,
            [Finding::warning("rule Team", "only CloudFormation can evaluate it", "check it manually")]
        );
        Ok(())
    }
}
