//! A template: its resources, and the values of its expressions for given parameters.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::{Value, json};

use crate::{conditions, yaml};

/// Parameter values by name, which override the template's defaults.
pub type Parameters = BTreeMap<String, String>;

/// A parsed template.
#[derive(Clone, Debug)]
pub struct Template(Value);

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// If the text is not valid YAML.
    pub fn parse(text: &str) -> Result<Self> {
        yaml::parse(text).map(Self)
    }

    /// A section, such as `Resources`, by name; empty if absent.
    pub fn section(&self, name: &str) -> impl Iterator<Item = (&str, &Value)> {
        self.0[name].as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }

    /// The properties of all resources of a type, by logical id.
    pub fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.section("Resources")
            .filter(move |(_, resource)| resource["Type"] == kind)
            .map(|(name, resource)| (name, &resource["Properties"]))
    }

    /// Properties of a resource.
    ///
    /// # Errors
    /// If there is no such resource.
    pub fn properties(&self, id: &str) -> Result<&Value> {
        self.0["Resources"][id].get("Properties").with_context(|| format!("no resource {id}"))
    }

    /// The declaration of a parameter; null if there is none.
    pub fn declaration(&self, name: &str) -> &Value {
        &self.0["Parameters"][name]
    }

    /// The value of a parameter: the given value, or the template's default.
    pub fn parameter(&self, name: &str, given: &Parameters) -> Option<String> {
        given.get(name).cloned().or_else(|| plain(&self.declaration(name)["Default"]))
    }

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
        conditions::holds(self, self.0["Conditions"].get(name)?, given)
    }
}

/// The text of a scalar, as CloudFormation compares and passes it.
pub fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
    fn expressions_have_their_values_for_the_parameters_given() -> Result<()> {
        let template = Template::parse(TEXT)?;
        let given = |size: &str| Parameters::from([("Size".to_owned(), size.to_owned())]);
        let of = |given: &Parameters| template.properties("A").map(|found| template.resolve(found, given));
        assert_eq!(of(&Parameters::new())?, json!({ "x": 2, "y": "5" }));
        assert_eq!(of(&given("large"))?, json!({ "x": 9, "y": { "Fn::GetAtt": ["B", "Arn"] } }));
        Ok(())
    }
}
