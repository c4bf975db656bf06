//! A deployed stack with its parameters and all its resources.

use std::collections::BTreeMap;

use anyhow::Result;
use aws_config::SdkConfig;
use aws_sdk_cloudformation::Client;
use aws_sdk_cloudformation::error::ProvideErrorMetadata;
use aws_sdk_cloudformation::primitives::DateTime;
use aws_sdk_cloudformation::types::{ResourceStatus, Stack, StackResourceSummary};
use longshore_domain::timestamp::Timestamp;

use super::failed;

/// A deployed stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Inventory {
    /// Status of CloudFormation.
    pub status: String,
    /// Reason of the status.
    pub reason: Option<String>,
    /// Time at which the stack was created.
    pub created_at: Option<Timestamp>,
    /// Parameters by name.
    pub parameters: BTreeMap<String, String>,
    /// Outputs by name.
    pub outputs: BTreeMap<String, String>,
    /// Resources; empty if they were not read.
    pub resources: Vec<Resource>,
}

/// A resource of a stack.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Resource {
    /// Id in the template.
    pub id: String,
    /// Type, such as `AWS::SQS::Queue`.
    pub kind: String,
    /// Physical id: a name, or a URL for a queue.
    pub name: String,
    /// Time at which CloudFormation changed it last.
    pub changed_at: Option<Timestamp>,
}

impl Inventory {
    /// Returns the resources of a type, in the order of CloudFormation.
    pub fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a Resource> {
        self.resources.iter().filter(move |resource| resource.kind == kind)
    }

    /// Returns true unless the stack has only a change set, as SAM sees it.
    pub fn is_deployed(&self) -> bool {
        self.status != "REVIEW_IN_PROGRESS"
    }
}

/// Reads a stack and its resources. Returns `None` if it does not exist.
///
/// # Errors
/// If a call fails.
pub async fn inventory(config: &SdkConfig, name: &str) -> Result<Option<Inventory>> {
    let Some(stack) = describe(config, name).await? else { return Ok(None) };
    Ok(Some(Inventory { resources: resources(config, name).await?, ..stack }))
}

/// Reads a stack without its resources. Returns `None` if it does not exist.
///
/// # Errors
/// If the call fails.
pub async fn describe(config: &SdkConfig, name: &str) -> Result<Option<Inventory>> {
    Ok(find(&Client::new(config), name).await?.map(|stack| read(&stack)))
}

fn read(stack: &Stack) -> Inventory {
    let parameters = stack.parameters().iter();
    let outputs = stack.outputs().iter();
    Inventory {
        status: stack.stack_status().map(|status| status.as_str().to_owned()).unwrap_or_default(),
        reason: stack.stack_status_reason().filter(|reason| !reason.is_empty()).map(str::to_owned),
        created_at: stack.creation_time().and_then(time),
        parameters: parameters.filter_map(|found| pair(found.parameter_key(), found.parameter_value())).collect(),
        outputs: outputs.filter_map(|found| pair(found.output_key(), found.output_value())).collect(),
        resources: Vec::new(),
    }
}

/// Reads the resources of a stack.
///
/// # Errors
/// If a call fails.
pub async fn resources(config: &SdkConfig, name: &str) -> Result<Vec<Resource>> {
    let mut resources = Vec::new();
    let list = Client::new(config).list_stack_resources().stack_name(name);
    let mut pages = list.into_paginator().items().send();
    while let Some(found) = pages.next().await.transpose().map_err(failed)? {
        resources.extend(read_resource(&found));
    }
    Ok(resources)
}

/// Returns a resource. One that the stack has deleted, or left to others, is none of it any more.
fn read_resource(found: &StackResourceSummary) -> Option<Resource> {
    if matches!(found.resource_status(), Some(ResourceStatus::DeleteComplete | ResourceStatus::DeleteSkipped)) {
        return None;
    }
    let (id, name) = pair(found.logical_resource_id(), found.physical_resource_id())?;
    let changed_at = found.last_updated_timestamp().and_then(time);
    Some(Resource { id, kind: found.resource_type().unwrap_or_default().to_owned(), name, changed_at })
}

fn time(time: &DateTime) -> Option<Timestamp> {
    time.to_millis().ok().map(Timestamp)
}

async fn find(client: &Client, name: &str) -> Result<Option<Stack>> {
    match client.describe_stacks().stack_name(name).send().await {
        Ok(output) => Ok(output.stacks.unwrap_or_default().into_iter().next()),
        Err(error) if is_absent(error.code(), error.message()) => Ok(None),
        Err(error) => Err(failed(error)),
    }
}

/// Returns true if the error means that the stack does not exist, and not, for example, that the credentials expired.
fn is_absent(code: Option<&str>, message: Option<&str>) -> bool {
    code == Some("ValidationError") && message.is_some_and(|message| message.contains("does not exist"))
}

fn pair(name: Option<&str>, value: Option<&str>) -> Option<(String, String)> {
    Some((name?.to_owned(), value?.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deleted_resource_is_none_of_the_stack() {
        for (status, expected) in [
            (ResourceStatus::CreateComplete, Some("jobs")),
            (ResourceStatus::UpdateFailed, Some("jobs")),
            (ResourceStatus::DeleteFailed, Some("jobs")),
            (ResourceStatus::DeleteComplete, None),
            (ResourceStatus::DeleteSkipped, None),
        ] {
            let found = StackResourceSummary::builder()
                .logical_resource_id("JobsTable")
                .physical_resource_id("jobs")
                .resource_status(status.clone())
                .build();
            assert_eq!(read_resource(&found).map(|resource| resource.name).as_deref(), expected, "{status:?}");
        }
    }

    #[test]
    fn only_the_error_of_a_missing_stack_means_absent() {
        let rows = [
            ("ValidationError", "Stack with id s does not exist", true),
            ("ExpiredToken", "The security token included in the request is expired", false),
            ("AccessDenied", "User u is not authorized: the role r does not exist", false),
            ("ValidationError", "1 validation error detected: Value '' at 'stackName'", false),
            ("Throttling", "Rate exceeded", false),
        ];
        for (code, message, expected) in rows {
            assert_eq!(is_absent(Some(code), Some(message)), expected, "{code}: {message}");
        }
    }
}
