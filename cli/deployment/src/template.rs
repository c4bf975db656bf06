//! A template: its sections, resources and parameters.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use serde_json::Value;

use crate::yaml;

/// Parameter values by name, which override the template's defaults.
pub type Parameters = BTreeMap<String, String>;

/// A parsed template.
#[derive(Clone, Debug)]
pub struct Template(pub(crate) Value);

impl Template {
    /// Parses a template.
    ///
    /// # Errors
    /// If the text is not valid YAML.
    pub fn parse(text: &str) -> Result<Self> {
        yaml::parse(text).map(Self)
    }

    /// Returns the entries of a section, such as `Resources`, by name. An absent section is empty.
    pub fn section(&self, name: &str) -> impl Iterator<Item = (&str, &Value)> {
        self.0[name].as_object().into_iter().flatten().map(|(name, value)| (name.as_str(), value))
    }

    /// Returns the properties of all resources of a type, by logical id.
    pub fn of_type<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = (&'a str, &'a Value)> {
        self.section("Resources")
            .filter(move |(_, resource)| resource["Type"] == kind)
            .map(|(name, resource)| (name, &resource["Properties"]))
    }

    /// Returns the properties of a resource.
    ///
    /// # Errors
    /// If there is no such resource.
    pub fn properties(&self, id: &str) -> Result<&Value> {
        self.0["Resources"][id].get("Properties").with_context(|| format!("the template has no resource {id}"))
    }

    /// Returns the declaration of a parameter, or null if there is none.
    pub fn declaration(&self, name: &str) -> &Value {
        &self.0["Parameters"][name]
    }

    /// Returns the value of a parameter: the one in `values`, or else the template's default.
    pub fn parameter(&self, name: &str, values: &Parameters) -> Option<String> {
        values.get(name).cloned().or_else(|| plain(&self.declaration(name)["Default"]))
    }
}

/// Returns a scalar as the text that CloudFormation compares and passes on.
pub fn plain(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    }
}
