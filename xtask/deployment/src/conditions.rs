//! Evaluates the intrinsic functions of `Conditions` and `Rules`.

use serde_json::Value;

use crate::constraint::members;
use crate::template::{Parameters, Template, plain};

/// Evaluates a condition or an assertion; `None` if the value is only known at deployment.
pub(crate) fn holds(template: &Template, expression: &Value, given: &Parameters) -> Option<bool> {
    let (name, argument) = expression.as_object()?.iter().next()?;
    let each = || argument.as_array()?.iter().map(|item| holds(template, item, given)).collect::<Option<Vec<_>>>();
    let texts = |at: usize| texts(template, argument.get(at)?, given);
    match name.as_str() {
        "Condition" => template.condition(argument.as_str()?, given),
        "Fn::Not" => each()?.first().map(|holds| !holds),
        "Fn::And" => Some(each()?.iter().all(|holds| *holds)),
        "Fn::Or" => Some(each()?.iter().any(|holds| *holds)),
        "Fn::Equals" => Some(texts(0)? == texts(1)?),
        "Fn::Contains" => Some(is_within(&texts(1)?, &texts(0)?)),
        "Fn::EachMemberEquals" | "Fn::EachMemberIn" => Some(is_within(&texts(0)?, &texts(1)?)),
        _ => None,
    }
}

fn is_within(members: &[String], all: &[String]) -> bool {
    members.iter().all(|member| all.contains(member))
}

/// The strings of a list, or the single string of a scalar. A list parameter has several.
fn texts(template: &Template, expression: &Value, given: &Parameters) -> Option<Vec<String>> {
    if let Some(name) = expression["Ref"].as_str() {
        return Some(members(template.declaration(name), &template.parameter(name, given)?));
    }
    match template.resolve(expression, given) {
        Value::Array(items) => items.iter().map(plain).collect(),
        scalar => Some(vec![plain(&scalar)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_functions_have_the_values_of_their_documentation() -> anyhow::Result<()> {
        let template = Template::parse("Parameters: { Size: { Default: a }, Zones: { Type: CommaDelimitedList } }")?;
        let given = Parameters::from([("Zones".to_owned(), "a, b".to_owned())]);
        let rows = [
            ("!Equals [!Ref Size, a]", Some(true)),
            ("!Not [!Equals [!Ref Size, a]]", Some(false)),
            ("!And [!Equals [a, a], !Equals [a, b]]", Some(false)),
            ("!Or [!Equals [a, a], !Equals [a, b]]", Some(true)),
            ("!Contains [[a, b], !Ref Size]", Some(true)),
            ("!Contains [[b, c], !Ref Size]", Some(false)),
            ("!Contains [!Ref Zones, b]", Some(true)),
            ("!EachMemberIn [!Ref Zones, [a, b, c]]", Some(true)),
            ("!EachMemberIn [!Ref Zones, [a, c]]", Some(false)),
            ("!EachMemberEquals [[a, a], !Ref Size]", Some(true)),
            ("!EachMemberEquals [!Ref Zones, a]", Some(false)),
            ("!Equals [!Ref Unknown, a]", None),
            ("!EachMemberIn [!ValueOfAll ['AWS::EC2::VPC::Id', 'Tags.Team'], [a]]", None),
        ];
        for (text, expected) in rows {
            assert_eq!(holds(&template, &crate::yaml::parse(text)?, &given), expected, "{text}");
        }
        Ok(())
    }
}
