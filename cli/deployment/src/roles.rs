//! Permissions of each function: the statements of its role, the queues that it consumes, and the queues that it can
//! send to.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::template::Template;

/// Resource type of a function.
pub const FUNCTION: &str = "AWS::Serverless::Function";

/// An `Allow` statement of a policy.
#[derive(Clone, Debug)]
pub struct Statement {
    /// Actions, such as `dynamodb:GetItem`.
    pub actions: BTreeSet<String>,
    /// Logical ids and paths of the resources: `JobsTable`, `JobsTable/index/tenant`, `Bucket/uploads/*`; `*` for all.
    pub resources: BTreeSet<String>,
    /// Patterns of the permitted partition keys; `None` if unrestricted.
    pub leading_keys: Option<Vec<String>>,
}

impl Statement {
    /// Returns true if the statement allows an action on a resource. `key` is the prefix of the partition key.
    pub fn covers(&self, action: &str, resource: &str, key: Option<&str>) -> bool {
        let covers_key = |patterns: &Vec<String>| {
            key.is_some_and(|key| patterns.iter().any(|pattern| key.starts_with(pattern.trim_end_matches('*'))))
        };
        self.actions.contains(action)
            && self.resources.contains(resource)
            && self.leading_keys.as_ref().is_none_or(covers_key)
    }
}

/// A function of the template.
#[derive(Clone, Debug)]
pub struct Function {
    /// Logical id.
    pub id: String,
    /// Handler, which equals the name of the function's folder.
    pub name: String,
    /// Statements of the role.
    pub statements: Vec<Statement>,
    /// Logical ids of the queues that it consumes.
    pub consumes: BTreeSet<String>,
    /// Value of `RecursiveLoop`, if set.
    pub recursive_loop: Option<String>,
}

impl Function {
    /// Returns the queues that the function can send to.
    pub fn sends_to(&self) -> BTreeSet<&str> {
        let sending = self.statements.iter().filter(|statement| statement.actions.contains("sqs:SendMessage"));
        sending.flat_map(|statement| statement.resources.iter().map(String::as_str)).collect()
    }

    /// Returns true if Lambda's loop detection would stop the function: its messages can lead back to it, directly or
    /// through other functions, and `RecursiveLoop: Allow` is missing.
    pub fn is_stopped_by_loop_detection(&self, functions: &BTreeMap<String, Function>) -> bool {
        self.is_in_message_loop(functions) && self.recursive_loop.as_deref() != Some("Allow")
    }

    /// Returns true if the function's messages can lead back to it, directly or through other functions.
    pub fn is_in_message_loop(&self, functions: &BTreeMap<String, Function>) -> bool {
        let (mut visited, mut pending) = (BTreeSet::new(), self.sends_to());
        while let Some(queue) = pending.pop_first() {
            if self.consumes.contains(queue) {
                return true;
            }
            if visited.insert(queue) {
                let consumers = functions.values().filter(|function| function.consumes.contains(queue));
                pending.extend(consumers.flat_map(Function::sends_to));
            }
        }
        false
    }
}

/// Lists all functions by name.
///
/// # Errors
/// If a function has no role, or a policy has a form that this template does not use.
pub fn functions(template: &Template) -> Result<BTreeMap<String, Function>> {
    template
        .of_type(FUNCTION)
        .map(|(id, properties)| {
            let name = properties["Handler"].as_str().with_context(|| format!("{id} has no handler"))?;
            let role = properties["Role"]["Fn::GetAtt"][0].as_str().with_context(|| format!("{id} has no role"))?;
            let queues = properties["Events"]
                .as_object()
                .into_iter()
                .flatten()
                .filter_map(|(_, event)| event["Properties"]["Queue"]["Fn::GetAtt"][0].as_str().map(str::to_owned));
            let function = Function {
                id: id.to_owned(),
                name: name.to_owned(),
                statements: statements(template, role)?,
                consumes: queues.collect(),
                recursive_loop: properties["RecursiveLoop"].as_str().map(str::to_owned),
            };
            Ok((name.to_owned(), function))
        })
        .collect()
}

fn statements(template: &Template, role: &str) -> Result<Vec<Statement>> {
    let policies = template.properties(role)?["Policies"].as_array().into_iter().flatten();
    let statements = policies.flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().into_iter().flatten());
    statements
        .map(|statement| {
            // A statement under a condition: the one that applies if it is true.
            let statement = statement.get("Fn::If").map_or(statement, |choice| &choice[1]);
            anyhow::ensure!(statement["Effect"] == "Allow", "{role}: only Allow statements are supported: {statement}");
            let actions = each(&statement["Action"]).filter_map(|action| action.as_str().map(str::to_owned)).collect();
            let resources = each(&statement["Resource"])
                .map(|resource| {
                    name(resource).with_context(|| format!("{role}: {resource} is not the name of a resource"))
                })
                .collect::<Result<_>>()?;
            Ok(Statement { actions, resources, leading_keys: leading_keys(&statement["Condition"]) })
        })
        .collect()
}

fn leading_keys(condition: &Value) -> Option<Vec<String>> {
    let keys = &condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
    Some(keys.as_array()?.iter().filter_map(|key| key.as_str().map(str::to_owned)).collect())
}

/// The elements of a list, or a single value.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    let (many, one) = match value {
        Value::Array(items) => (Some(items), None),
        one => (None, Some(one)),
    };
    many.into_iter().flatten().chain(one)
}

/// Turns `!Sub '${Bucket.Arn}/uploads/*'` into `Bucket/uploads/*`, `!GetAtt Queue.Arn` and `!Ref Alias` into the name of the
/// resource, and the list of ARNs of a parameter into the parameter's name. `*`, for actions without resources, stays.
fn name(resource: &Value) -> Option<String> {
    if resource == "*" {
        return Some("*".to_owned());
    }
    if let Some(referred) = resource["Fn::Split"][1]["Ref"].as_str().or_else(|| resource["Ref"].as_str()) {
        return Some(referred.to_owned());
    }
    let (id, path) = match (&resource["Fn::GetAtt"], &resource["Fn::Sub"]) {
        (Value::Array(attribute), _) => (attribute.first()?.as_str()?, ""),
        (_, Value::String(text)) => text.strip_prefix("${")?.split_once(".Arn}")?,
        _ => return None,
    };
    Some(format!("{id}{path}"))
}
