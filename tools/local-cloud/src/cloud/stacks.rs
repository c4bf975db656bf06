//! CloudFormation: stacks, their outputs and resources.

use super::Cloud;
use anyhow::{Context, Result};
use aws_sdk_cloudformation::Client;
use longshore_cli::aws::stack::{self, Description};

/// Number of the latest events that may explain a failure.
const EVENTS: usize = 200;

impl Cloud {
    /// Describes a stack; without a status if it does not exist.
    ///
    /// # Errors
    /// If the emulator refuses it.
    pub fn describe(&self, name: &str) -> Result<Description> {
        self.wait(stack::describe(&self.config, name))
    }

    /// The events that explain a failed deployment, in the order of time; empty if there are none or they cannot be
    /// read.
    pub fn failures(&self, stack: &str) -> String {
        let call = self.cloudformation().describe_stack_events().stack_name(stack);
        let Ok(answer) = self.wait(call.send()) else { return String::new() };
        let events = answer.stack_events().iter().take(EVENTS).rev();
        let failed = events.filter_map(|event| {
            let status = event.resource_status()?.as_str();
            let (id, reason) = (event.logical_resource_id()?, event.resource_status_reason().unwrap_or_default());
            (status.contains("FAILED") || status.contains("ROLLBACK")).then(|| format!("{status}  {id}  {reason}\n"))
        });
        failed.collect()
    }

    /// The physical name of a resource of the template.
    ///
    /// # Errors
    /// If there is no such resource.
    pub fn physical_id(&self, stack: &str, resource: &str) -> Result<String> {
        let call = self.cloudformation().describe_stack_resource().stack_name(stack).logical_resource_id(resource);
        let answer = self.wait(call.send()).with_context(|| format!("no resource {resource}"))?;
        let found = answer.stack_resource_detail.and_then(|detail| detail.physical_resource_id);
        found.with_context(|| format!("{resource} has no physical name"))
    }

    fn cloudformation(&self) -> Client {
        Client::new(&self.config)
    }
}
