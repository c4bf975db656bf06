//! A deployed stack: status, outputs, functions, parameters. Also the account's quota of concurrent executions.

use std::collections::BTreeMap;

use anyhow::{Context, Result};
use aws_config::SdkConfig;
use aws_sdk_cloudformation::Client;
use aws_sdk_cloudformation::error::ProvideErrorMetadata;
use aws_sdk_cloudformation::types::{Stack, StackStatus};

use super::failed;

/// A deployed stack.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// Status of CloudFormation; `None` if the stack does not exist.
    pub status: Option<String>,
    /// Outputs by name.
    pub outputs: BTreeMap<String, String>,
    /// Physical names of the functions by template id.
    pub functions: BTreeMap<String, String>,
}

/// Reads status, outputs and functions of a stack.
///
/// # Errors
/// If a call fails. A missing stack is not an error.
pub async fn describe(config: &SdkConfig, name: &str) -> Result<Description> {
    let client = Client::new(config);
    let Some(stack) = find(&client, name).await? else { return Ok(Description::default()) };
    let outputs = stack.outputs().iter().filter_map(|output| pair(output.output_key(), output.output_value()));
    let mut functions = BTreeMap::new();
    let mut pages = client.list_stack_resources().stack_name(name).into_paginator().items().send();
    while let Some(resource) = pages.next().await.transpose().map_err(failed)? {
        if resource.resource_type() == Some("AWS::Lambda::Function") {
            functions.extend(pair(resource.logical_resource_id(), resource.physical_resource_id()));
        }
    }
    let status = stack.stack_status().map(|status| status.as_str().to_owned());
    Ok(Description { status, outputs: outputs.collect(), functions })
}

/// Reads the parameters of a stack. Returns `None` if it is not deployed. As in SAM, a stack that has only a change set
/// is not deployed.
///
/// # Errors
/// If the call fails.
pub async fn parameters(config: &SdkConfig, name: &str) -> Result<Option<BTreeMap<String, String>>> {
    let stack = find(&Client::new(config), name).await?;
    let deployed = stack.filter(|stack| stack.stack_status() != Some(&StackStatus::ReviewInProgress));
    Ok(deployed.map(|stack| {
        let parameters = stack.parameters().iter();
        parameters.filter_map(|parameter| pair(parameter.parameter_key(), parameter.parameter_value())).collect()
    }))
}

/// Reads the account's quota of concurrent executions.
///
/// # Errors
/// If the call fails.
pub async fn concurrent_executions(config: &SdkConfig) -> Result<u64> {
    let settings = aws_sdk_lambda::Client::new(config).get_account_settings().send().await.map_err(failed)?;
    let limit = settings.account_limit().context("the account's settings have no limits")?;
    Ok(limit.concurrent_executions().try_into()?)
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
    use super::is_absent;

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
