//! CloudFormation: stacks, their outputs and resources.

use super::Cloud;
use anyhow::{Context, Result};
use aws_sdk_cloudformation::Client;
use longshore_cli::aws::stack::{self, Description};

/// Number of recent events that are searched for failures.
const EVENTS: usize = 200;

impl Cloud {
    /// Describes a stack. The description of a stack that does not exist has no status.
    ///
    /// # Errors
    /// If the emulator refuses the call.
    pub fn describe(&self, name: &str) -> Result<Description> {
        self.block_on(stack::describe(&self.config, name))
    }

    /// Returns the events of a failed deployment, in the order of time. It is empty if there are none, or if they
    /// cannot be read.
    pub fn failures(&self, stack: &str) -> String {
        let call = self.cloudformation().describe_stack_events().stack_name(stack);
        let Ok(response) = self.block_on(call.send()) else { return String::new() };
        let events = response.stack_events().iter().take(EVENTS).rev();
        let failures = events.filter_map(|event| {
            let status = event.resource_status()?.as_str();
            let (id, reason) = (event.logical_resource_id()?, event.resource_status_reason().unwrap_or_default());
            (status.contains("FAILED") || status.contains("ROLLBACK")).then(|| format!("{status}  {id}  {reason}\n"))
        });
        failures.collect()
    }

    /// Returns the physical name of a resource of the template.
    ///
    /// # Errors
    /// If there is no such resource.
    pub fn physical_id(&self, stack: &str, resource: &str) -> Result<String> {
        let call = self.cloudformation().describe_stack_resource().stack_name(stack).logical_resource_id(resource);
        let response = self.block_on(call.send()).with_context(|| format!("no resource {resource}"))?;
        let id = response.stack_resource_detail.and_then(|detail| detail.physical_resource_id);
        id.with_context(|| format!("{resource} has no physical name"))
    }

    fn cloudformation(&self) -> Client {
        Client::new(&self.config)
    }
}
