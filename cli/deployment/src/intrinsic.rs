//! Evaluates intrinsic functions: references to parameters and mappings, conditions, and the functions of rules.

use serde_json::{Value, json};

use crate::constraint::members;
use crate::template::{Parameters, Template, plain};

impl Template {
    /// Replaces references to parameters, mappings and conditions with their values. References to resources are kept.
    pub fn resolve(&self, expression: &Value, values: &Parameters) -> Value {
        match expression {
            Value::Array(items) => items.iter().map(|item| self.resolve(item, values)).collect(),
            Value::Object(object) => match object.iter().next() {
                Some((name, argument)) if object.len() == 1 => {
                    self.call(name, argument, values).unwrap_or_else(|| json!({ name: self.resolve(argument, values) }))
                }
                _ => Value::Object(
                    object.iter().map(|(name, item)| (name.clone(), self.resolve(item, values))).collect(),
                ),
            },
            scalar => scalar.clone(),
        }
    }

    /// Evaluates an intrinsic function. Returns `None` if it is not an intrinsic function, or if it depends on a value
    /// that is only known at deployment.
    fn call(&self, name: &str, argument: &Value, values: &Parameters) -> Option<Value> {
        match name {
            "Ref" => self.parameter(argument.as_str()?, values).map(Value::String),
            "Fn::If" => {
                let holds = self.condition(argument[0].as_str()?, values)?;
                Some(self.resolve(&argument[if holds { 1 } else { 2 }], values))
            }
            "Fn::FindInMap" => {
                let path = self.resolve(argument, values);
                let [map, first, second] = [0, 1, 2].map(|at| path[at].as_str());
                self.0["Mappings"][map?][first?].get(second?).cloned()
            }
            _ => None,
        }
    }

    /// Evaluates a named condition. Returns `None` if it depends on a value that is only known at deployment.
    pub fn condition(&self, name: &str, values: &Parameters) -> Option<bool> {
        holds(self, self.0["Conditions"].get(name)?, values)
    }
}

/// Evaluates a condition or an assertion. Returns `None` if it depends on a value that is only known at deployment.
pub(crate) fn holds(template: &Template, expression: &Value, values: &Parameters) -> Option<bool> {
    let (name, argument) = expression.as_object()?.iter().next()?;
    let each = || argument.as_array()?.iter().map(|item| holds(template, item, values)).collect::<Option<Vec<_>>>();
    let texts = |at: usize| texts(template, argument.get(at)?, values);
    match name.as_str() {
        "Condition" => template.condition(argument.as_str()?, values),
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

/// Returns the strings of a list or of a list parameter, or the single string of any other expression.
fn texts(template: &Template, expression: &Value, values: &Parameters) -> Option<Vec<String>> {
    if let Some(name) = expression["Ref"].as_str() {
        return Some(members(template.declaration(name), &template.parameter(name, values)?));
    }
    match template.resolve(expression, values) {
        Value::Array(items) => items.iter().map(plain).collect(),
        scalar => Some(vec![plain(&scalar)?]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rule_functions_behave_as_documented_by_aws() -> anyhow::Result<()> {
        let template = Template::parse("Parameters: { Size: { Default: a }, Zones: { Type: CommaDelimitedList } }")?;
        let values = Parameters::from([("Zones".to_owned(), "a, b".to_owned())]);
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
            assert_eq!(holds(&template, &crate::yaml::parse(text)?, &values), expected, "{text}");
        }
        Ok(())
    }

    const TEXT: &str = "
Parameters: { Size: { Default: small }, Number: { Default: 5 } }
Mappings: { Sizes: { small: { Workers: 2 }, large: { Workers: 9 } } }
Conditions:
  IsLarge: !Equals [!Ref Size, large]
  IsNot: !Not [!Condition IsLarge]
Resources:
  A: { Type: T, Properties: { x: !FindInMap [Sizes, !Ref Size, Workers], y: !If [IsNot, !Ref Number, !GetAtt B.Arn] } }
";

    #[test]
    fn expressions_are_evaluated_with_the_parameter_values() -> anyhow::Result<()> {
        let template = Template::parse(TEXT)?;
        let values = |size: &str| Parameters::from([("Size".to_owned(), size.to_owned())]);
        let resolve =
            |values: &Parameters| template.properties("A").map(|properties| template.resolve(properties, values));
        assert_eq!(resolve(&Parameters::new())?, json!({ "x": 2, "y": "5" }));
        assert_eq!(resolve(&values("large"))?, json!({ "x": 9, "y": { "Fn::GetAtt": ["B", "Arn"] } }));
        Ok(())
    }
}
