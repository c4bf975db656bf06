//! What each function may do: its role's statements, the queues that it consumes and those that it may send to.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, Result};
use serde_json::Value;

use crate::template::Template;

/// The type of the functions.
pub const FUNCTION: &str = "AWS::Serverless::Function";

/// A statement of a policy that allows something.
#[derive(Clone, Debug)]
pub struct Allowed {
    /// Actions, such as `dynamodb:GetItem`.
    pub actions: BTreeSet<String>,
    /// Logical ids and paths of what it is about: `JobsTable`, `JobsTable/index/tenant`, `Bucket/uploads/*`.
    pub resources: BTreeSet<String>,
    /// Patterns of the only partition keys, if it is limited to some.
    pub leading_keys: Option<Vec<String>>,
}

impl Allowed {
    /// Whether it allows an action on a resource, of which `key` is the partition key's beginning.
    pub fn covers(&self, action: &str, resource: &str, key: Option<&str>) -> bool {
        let keyed = |patterns: &Vec<String>| {
            key.is_some_and(|key| patterns.iter().any(|pattern| key.starts_with(pattern.trim_end_matches('*'))))
        };
        self.actions.contains(action)
            && self.resources.contains(resource)
            && self.leading_keys.as_ref().is_none_or(keyed)
    }
}

/// A function of the template.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its logical id.
    pub id: String,
    /// Its handler, which is the name of its folder.
    pub name: String,
    /// What its role allows.
    pub allowed: Vec<Allowed>,
    /// Logical ids of the queues that it consumes.
    pub consumes: BTreeSet<String>,
    /// `RecursiveLoop`, if it is set.
    pub recursive_loop: Option<String>,
}

impl Function {
    /// The queues that it may send to.
    pub fn sends_to(&self) -> BTreeSet<&str> {
        let sending = self.allowed.iter().filter(|allowed| allowed.actions.contains("sqs:SendMessage"));
        sending.flat_map(|allowed| allowed.resources.iter().map(String::as_str)).collect()
    }

    /// Whether its messages may lead back to it, through functions that consume them and may send others.
    pub fn leads_to_itself(&self, all: &BTreeMap<String, Function>) -> bool {
        let (mut reached, mut left) = (BTreeSet::new(), self.sends_to());
        while let Some(queue) = left.pop_first() {
            if self.consumes.contains(queue) {
                return true;
            }
            if reached.insert(queue) {
                let consumers = all.values().filter(|function| function.consumes.contains(queue));
                left.extend(consumers.flat_map(Function::sends_to));
            }
        }
        false
    }
}

/// All functions, by name.
///
/// # Errors
/// If one has no role, or a policy is not as the template writes them.
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
                allowed: allowed(template, role)?,
                consumes: queues.collect(),
                recursive_loop: properties["RecursiveLoop"].as_str().map(str::to_owned),
            };
            Ok((name.to_owned(), function))
        })
        .collect()
}

fn allowed(template: &Template, role: &str) -> Result<Vec<Allowed>> {
    let policies = template.properties(role)?["Policies"].as_array().into_iter().flatten();
    let statements = policies.flat_map(|policy| policy["PolicyDocument"]["Statement"].as_array().into_iter().flatten());
    statements
        .map(|statement| {
            anyhow::ensure!(statement["Effect"] == "Allow", "{role} denies something: {statement}");
            let actions = each(&statement["Action"]).filter_map(|action| action.as_str().map(str::to_owned)).collect();
            let resources = each(&statement["Resource"])
                .map(|resource| name(resource).with_context(|| format!("{role}: {resource} names nothing")))
                .collect::<Result<_>>()?;
            Ok(Allowed { actions, resources, leading_keys: leading_keys(&statement["Condition"]) })
        })
        .collect()
}

fn leading_keys(condition: &Value) -> Option<Vec<String>> {
    let keys = &condition["ForAllValues:StringLike"]["dynamodb:LeadingKeys"];
    Some(keys.as_array()?.iter().filter_map(|key| key.as_str().map(str::to_owned)).collect())
}

/// One or many.
fn each(value: &Value) -> impl Iterator<Item = &Value> {
    let (many, one) = match value {
        Value::Array(items) => (Some(items), None),
        one => (None, Some(one)),
    };
    many.into_iter().flatten().chain(one)
}

/// `Bucket/uploads/*` of `!Sub '${Bucket.Arn}/uploads/*'`, `Queue` of `!GetAtt Queue.Arn`.
fn name(resource: &Value) -> Option<String> {
    let (id, rest) = match (&resource["Fn::GetAtt"], &resource["Fn::Sub"]) {
        (Value::Array(path), _) => (path.first()?.as_str()?, ""),
        (_, Value::String(text)) => text.strip_prefix("${")?.split_once(".Arn}")?,
        _ => return None,
    };
    Some(format!("{id}{rest}"))
}
