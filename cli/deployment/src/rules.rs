//! Evaluates the template's `Rules` as CloudFormation does before a deployment.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::finding::Finding;
use crate::intrinsic::holds;
use crate::settings::Settings;
use crate::template::Template;

/// Lists the assertions that do not hold, each with its `AssertDescription`.
pub fn findings(template: &Template, settings: &Settings) -> Vec<Finding> {
    template.section("Rules").flat_map(|rule| of_rule(template, settings, rule)).collect()
}

fn of_rule(template: &Template, settings: &Settings, (name, rule): (&str, &Value)) -> Vec<Finding> {
    let given = settings.effective(template);
    let place = format!("rule {name}");
    let applies = rule.get("RuleCondition").map_or(Some(true), |condition| holds(template, condition, &given));
    if applies == Some(false) {
        return Vec::new();
    }
    let assertions = rule["Assertions"].as_array().into_iter().flatten();
    let check = |assertion: &Value| match (applies, holds(template, &assertion["Assert"], &given)) {
        (_, Some(true)) => None,
        (Some(true), Some(false)) => {
            let what = assertion["AssertDescription"].as_str().unwrap_or("its assertion does not hold");
            Some(Finding::error(&place, what.trim_end_matches('.'), advice(template, settings, [rule, assertion])))
        }
        _ => Some(Finding::warning(&place, "only CloudFormation can evaluate it", "check it by hand")),
    };
    assertions.filter_map(check).collect()
}

/// Names the parameters of the condition and of the assertion, with their values.
fn advice(template: &Template, settings: &Settings, [rule, assertion]: [&Value; 2]) -> String {
    let mut names = BTreeSet::new();
    references(&rule["RuleCondition"], &mut names);
    references(&assertion["Assert"], &mut names);
    let given = settings.effective(template);
    let value = |name| {
        let value = template.parameter(name, &given).unwrap_or_default();
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
        let found = findings(&Template::parse(text)?, &Settings::default());
        assert_eq!(found, [Finding::warning("rule Team", "only CloudFormation can evaluate it", "check it by hand")]);
        Ok(())
    }
}
