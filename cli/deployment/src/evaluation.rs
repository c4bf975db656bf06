//! Evaluates a template as CloudFormation does: constraints on the value of a parameter, from its declaration, and
//! intrinsic functions: references to parameters and mappings, conditions, and the functions of rules.

use regex_lite::{Error, Regex};
use serde_json::{Value, json};

use crate::template::{Parameters, Template, plain};

/// Returns the members of a list parameter, or the single value of any other parameter.
fn members(declaration: &Value, value: &str) -> Vec<String> {
    let kind = declaration["Type"].as_str().unwrap_or_default();
    if kind == "CommaDelimitedList" || kind.starts_with("List<") {
        return value.split(',').map(|member| member.trim().to_owned()).collect();
    }
    vec![value.to_owned()]
}

/// Returns the reason why CloudFormation refuses a value, or `None` if it accepts the value.
pub(crate) fn refusal(declaration: &Value, value: &str) -> Option<String> {
    let is_number = matches!(declaration["Type"].as_str(), Some("Number" | "List<Number>"));
    members(declaration, value).iter().find_map(|member| {
        let reason = if is_number { number(declaration, member) } else { text(declaration, member) };
        reason.or_else(|| not_listed(declaration, member))
    })
}

fn not_listed(declaration: &Value, value: &str) -> Option<String> {
    let allowed: Vec<_> = declaration["AllowedValues"].as_array()?.iter().filter_map(plain).collect();
    let is_listed = allowed.iter().any(|allowed| allowed == value);
    (!is_listed).then(|| format!("{value:?} is not allowed; use one of {}", allowed.join(", ")))
}

fn number(declaration: &Value, value: &str) -> Option<String> {
    let Some(number) = value.parse().ok().filter(|number: &f64| number.is_finite()) else {
        return Some(format!("{value:?} is not a number"));
    };
    let range = out_of_range(number, ["MinValue", "MaxValue"].map(|name| plain(&declaration[name])))?;
    Some(format!("{value:?} is not allowed; use {range}"))
}

fn text(declaration: &Value, value: &str) -> Option<String> {
    let length = u32::try_from(value.chars().count()).map_or(f64::INFINITY, f64::from);
    if let Some(range) = out_of_range(length, ["MinLength", "MaxLength"].map(|name| plain(&declaration[name]))) {
        return Some(format!("{value:?} is not allowed; use {range} characters"));
    }
    let pattern = pattern(declaration)?.ok()?;
    let expected = declaration["AllowedPattern"].as_str()?;
    (!pattern.is_match(value)).then(|| format!("{value:?} is not allowed; it must match {expected}"))
}

/// Returns the permitted range if a value is outside of it.
fn out_of_range(number: f64, [min, max]: [Option<String>; 2]) -> Option<String> {
    let bound = |text: &Option<String>| text.as_ref().and_then(|text| text.parse::<f64>().ok());
    let is_inside = bound(&min).is_none_or(|min| number >= min) && bound(&max).is_none_or(|max| number <= max);
    if is_inside {
        return None;
    }
    Some(match (min, max) {
        (Some(min), Some(max)) => format!("{min} to {max}"),
        (Some(min), None) => format!("at least {min}"),
        (None, max) => format!("at most {}", max?),
    })
}

/// Compiles `AllowedPattern`, anchored, because CloudFormation matches the entire value. Fails for syntax that only
/// Java supports.
pub(crate) fn pattern(declaration: &Value) -> Option<Result<Regex, Error>> {
    let pattern = declaration["AllowedPattern"].as_str()?;
    Some(Regex::new(&format!(r"\A(?:{pattern})\z")))
}

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

    fn reason(declaration: &str, value: &str) -> anyhow::Result<Option<String>> {
        Ok(refusal(&crate::yaml::parse(declaration)?, value))
    }

    #[test]
    fn a_value_that_violates_a_constraint_is_refused() -> anyhow::Result<()> {
        let rows = [
            ("{ Type: Number }", "abc", "is not a number"),
            ("{ Type: Number }", "", "is not a number"),
            ("{ Type: Number }", "inf", "is not a number"),
            ("{ Type: Number, MinValue: 1 }", "0", "at least 1"),
            ("{ Type: Number, MaxValue: '9' }", "10", "at most 9"),
            ("{ Type: Number, MinValue: 1, MaxValue: 9 }", "9.5", "1 to 9"),
            ("{ Type: Number, AllowedValues: [1, 3] }", "2", "one of 1, 3"),
            ("{ Type: List<Number> }", "1,b", "\"b\" is not a number"),
            ("{ Type: String, AllowedValues: [a, b] }", "c", "one of a, b"),
            ("{ Type: CommaDelimitedList, AllowedValues: [a, b] }", "a,c", "\"c\" is not allowed"),
            ("{ Type: String, MinLength: 2 }", "a", "at least 2 characters"),
            ("{ Type: String, MaxLength: 2 }", "äöü", "at most 2 characters"),
            ("{ Type: String, AllowedPattern: '[a-z]+' }", "ab1", "it must match [a-z]+"),
            ("{ Type: String, AllowedPattern: 'a|b' }", "ac", "it must match a|b"),
            ("{ Type: String, AllowedPattern: '^a$' }", "a\n", "it must match ^a$"),
        ];
        for (declaration, value, expected) in rows {
            let reason = reason(declaration, value)?.unwrap_or_default();
            assert!(reason.contains(expected), "{declaration} {value}: {reason:?}");
        }
        Ok(())
    }

    #[test]
    fn values_at_the_bounds_are_accepted() -> anyhow::Result<()> {
        let rows = [
            ("{ Type: Number, MinValue: 1, MaxValue: 9 }", ["1", "9"]),
            ("{ Type: Number, MinValue: -1 }", ["-1", "0.5"]),
            ("{ Type: String, MinLength: 1, MaxLength: 3 }", ["a", "äöü"]),
            ("{ Type: String, AllowedPattern: 'a|b' }", ["a", "b"]),
            ("{ Type: CommaDelimitedList, AllowedValues: [a, b] }", ["a, b", "b"]),
        ];
        for (declaration, values) in rows {
            for value in values {
                assert_eq!(reason(declaration, value)?, None, "{declaration} {value}");
            }
        }
        Ok(())
    }

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
