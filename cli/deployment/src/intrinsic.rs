//! Intrinsic functions: references to parameters and mappings, conditions, and those of rules.

use serde_json::{Value, json};

use crate::constraint::members;
use crate::template::{Parameters, Template, plain};

impl Template {
    /// Replaces every reference to parameters, mappings and conditions by its value. References to resources are
    /// kept.
    pub fn resolve(&self, expression: &Value, given: &Parameters) -> Value {
        match expression {
            Value::Array(items) => items.iter().map(|item| self.resolve(item, given)).collect(),
            Value::Object(object) => match object.iter().next() {
                Some((name, argument)) if object.len() == 1 => {
                    self.call(name, argument, given).unwrap_or_else(|| json!({ name: self.resolve(argument, given) }))
                }
                _ => {
                    Value::Object(object.iter().map(|(name, item)| (name.clone(), self.resolve(item, given))).collect())
                }
            },
            scalar => scalar.clone(),
        }
    }

    /// Evaluates an intrinsic function; `None` if it is not one, or depends on a value that is only known at
    /// deployment.
    fn call(&self, name: &str, argument: &Value, given: &Parameters) -> Option<Value> {
        match name {
            "Ref" => self.parameter(argument.as_str()?, given).map(Value::String),
            "Fn::If" => {
                let holds = self.condition(argument[0].as_str()?, given)?;
                Some(self.resolve(&argument[if holds { 1 } else { 2 }], given))
            }
            "Fn::FindInMap" => {
                let path = self.resolve(argument, given);
                let [map, first, second] = [0, 1, 2].map(|at| path[at].as_str());
                self.0["Mappings"][map?][first?].get(second?).cloned()
            }
            _ => None,
        }
    }

    /// Evaluates a named condition; `None` if it depends on a value that is only known at deployment.
    pub fn condition(&self, name: &str, given: &Parameters) -> Option<bool> {
        holds(self, self.0["Conditions"].get(name)?, given)
    }
}

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
    fn expressions_have_their_values_for_the_parameters_given() -> anyhow::Result<()> {
        let template = Template::parse(TEXT)?;
        let given = |size: &str| Parameters::from([("Size".to_owned(), size.to_owned())]);
        let of = |given: &Parameters| template.properties("A").map(|found| template.resolve(found, given));
        assert_eq!(of(&Parameters::new())?, json!({ "x": 2, "y": "5" }));
        assert_eq!(of(&given("large"))?, json!({ "x": 9, "y": { "Fn::GetAtt": ["B", "Arn"] } }));
        Ok(())
    }
}
