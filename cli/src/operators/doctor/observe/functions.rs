//! Functions, mappings, and the account's quota of concurrent executions.

use std::collections::BTreeSet;

use anyhow::Result;
use aws_sdk_lambda::Client;
use aws_sdk_lambda::types::EventSourceMappingConfiguration;
use deployment::quotas::Quota;
use longshore_domain::timestamp::Timestamp;

use super::observer::Observer;
use crate::aws::inventory::Resource;
use crate::aws::{failed, session};
use crate::operators::doctor::facts::{Function, Mapping, Queue};

/// Resource type of a function.
const FUNCTION: &str = "AWS::Lambda::Function";

impl Observer<'_> {
    /// Reads the functions of the stack.
    pub(super) fn functions(&mut self) -> Vec<Function> {
        let (session, inventory) = (self.session, self.inventory);
        let client = Client::new(session.config());
        let mut functions = Vec::new();
        for resource in inventory.of_kind(FUNCTION) {
            functions.extend(self.wait(&format!("the function {}", resource.id), function(&client, resource)));
        }
        functions
    }

    /// Reads the mappings of the functions that consume queues.
    pub(super) fn mappings(&mut self) -> Option<Vec<Mapping>> {
        let (session, inventory) = (self.session, self.inventory);
        let client = Client::new(session.config());
        self.wait("the event source mappings", async {
            let mut mappings = Vec::new();
            for resource in inventory.of_kind(FUNCTION) {
                let list = client.list_event_source_mappings().function_name(&resource.name);
                let mut pages = list.into_paginator().items().send();
                while let Some(found) = pages.next().await.transpose().map_err(failed)? {
                    mappings.push(mapping(&resource.id, &found));
                }
            }
            anyhow::Ok(mappings)
        })
    }

    /// Reads the mappings of these queues to functions that are not those of the stack.
    pub(super) fn foreign_readers(&mut self, queues: &[Queue]) -> Option<Vec<Mapping>> {
        let (session, inventory) = (self.session, self.inventory);
        let client = Client::new(session.config());
        let own: BTreeSet<&str> = inventory.of_kind(FUNCTION).map(|resource| resource.name.as_str()).collect();
        self.wait("the readers of the queues", async {
            let mut mappings = Vec::new();
            for queue in queues {
                let list = client.list_event_source_mappings().event_source_arn(&queue.arn);
                let mut pages = list.into_paginator().items().send();
                while let Some(found) = pages.next().await.transpose().map_err(failed)? {
                    let reader = name_of(found.function_arn().unwrap_or_default());
                    if !own.contains(reader) {
                        mappings.push(mapping(reader, &found));
                    }
                }
            }
            anyhow::Ok(mappings)
        })
    }

    /// Reads the account's quota of concurrent executions.
    pub(super) fn quota(&mut self) -> Option<Quota> {
        let session = self.session;
        self.wait("the account's quota", session::concurrent_executions(session.config()))
    }
}

async fn function(client: &Client, resource: &Resource) -> Result<Function> {
    let found = client.get_function_configuration().function_name(&resource.name).send().await.map_err(failed)?;
    let concurrency = client.get_function_concurrency().function_name(&resource.name).send().await.map_err(failed)?;
    let text = |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::to_owned);
    Ok(Function {
        id: resource.id.clone(),
        name: resource.name.clone(),
        state: found.state().map(|state| state.as_str().to_owned()).unwrap_or_default(),
        state_reason: text(found.state_reason()),
        update: found.last_update_status().map(|status| status.as_str().to_owned()).unwrap_or_default(),
        update_reason: text(found.last_update_status_reason()),
        reserved: concurrency.reserved_concurrent_executions().and_then(|reserved| reserved.try_into().ok()),
        modified_at: found.last_modified().and_then(time),
        deployed_at: resource.changed_at,
    })
}

/// Returns the name in the ARN of a function, which can end with a version or an alias.
fn name_of(arn: &str) -> &str {
    arn.split(':').nth(6).unwrap_or(arn)
}

/// Parses a time of Lambda, which has `+0000` for UTC.
fn time(text: &str) -> Option<Timestamp> {
    Timestamp::parse_rfc3339(&text.replace("+0000", "Z"))
}

fn mapping(function: &str, found: &EventSourceMappingConfiguration) -> Mapping {
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    let concurrency = found.scaling_config().and_then(|scaling| scaling.maximum_concurrency());
    Mapping {
        uuid: text(found.uuid()),
        function: function.to_owned(),
        queue: text(found.event_source_arn().and_then(|arn| arn.rsplit(':').next())),
        state: text(found.state()),
        concurrency: concurrency.and_then(|concurrency| concurrency.try_into().ok()),
    }
}

#[cfg(test)]
mod tests {
    use aws_sdk_lambda::types::ScalingConfig;

    use super::*;

    #[test]
    fn a_time_of_lambda_is_parsed() {
        assert_eq!(time("2023-11-14T22:13:20.123+0000"), Some(Timestamp(1_700_000_000_123)));
        assert_eq!(time("soon"), None);
    }

    #[test]
    fn the_arn_of_a_function_has_its_name() {
        for arn in ["arn:aws:lambda:r:0:function:thief", "arn:aws:lambda:r:0:function:thief:live", "thief"] {
            assert_eq!(name_of(arn), "thief");
        }
    }

    #[test]
    fn a_mapping_has_the_name_of_its_queue() {
        let found = EventSourceMappingConfiguration::builder()
            .uuid("u")
            .event_source_arn("arn:aws:sqs:eu-central-1:123456789012:longshore-chunks")
            .state("Disabled")
            .scaling_config(ScalingConfig::builder().maximum_concurrency(100).build())
            .build();
        let read = mapping("ProcessItem", &found);
        assert_eq!((read.queue.as_str(), read.state.as_str()), ("longshore-chunks", "Disabled"));
        assert_eq!(read.concurrency, Some(100));
    }
}
