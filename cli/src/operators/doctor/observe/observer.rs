//! All queries of one stack, the list of those that failed, and the version of the API.

use anyhow::{Context, Result};
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use crate::api::Api;
use crate::aws::inventory::Inventory;
use crate::aws::session::Session;
use crate::aws::target::Target;
use crate::operators::doctor::facts::{Facts, Skipped, Stack};

/// The queries of one stack.
pub(super) struct Observer<'a> {
    pub(super) session: &'a Session,
    pub(super) inventory: &'a Inventory,
    pub(super) now: Timestamp,
    skipped: Vec<Skipped>,
}

/// Observes a stack.
pub(in crate::operators::doctor) fn observe(target: &Target) -> Facts {
    let (session, inventory) = (&target.session, &target.inventory);
    let mut observer = Observer { session, inventory, now: Timestamp::now(), skipped: Vec::new() };
    let stack = Stack {
        name: target.name.clone(),
        endpoint: target.endpoint.clone(),
        status: inventory.status.clone(),
        reason: inventory.reason.clone(),
        created_at: inventory.created_at,
        parameters: inventory.parameters.clone(),
        api_url: inventory.outputs.get("ApiUrl").cloned(),
    };
    let queues = observer.queues();
    Facts {
        alarms: observer.alarms(),
        foreign_readers: observer.foreign_readers(&queues),
        queues,
        functions: observer.functions(),
        mappings: observer.mappings(),
        quota: observer.quota(),
        tables: observer.tables(),
        cors: observer.cors(),
        schedules: observer.schedules(),
        open_breakers: observer.open_breakers(stack.parameter("ImageJobs") == "true"),
        jobs: observer.jobs(),
        failing_webhooks: observer.failing_webhooks(),
        api: target.api_url().map(|url| version(&url).map_err(|error| format!("{error:#}"))),
        now: observer.now,
        skipped: observer.skipped,
        stack,
    }
}

impl Observer<'_> {
    /// Waits for a query. If it fails, notes what was not observed.
    pub(super) fn wait<T>(&mut self, what: &str, query: impl Future<Output = Result<T>>) -> Option<T> {
        match self.session.block_on(query) {
            Ok(found) => Some(found),
            Err(error) => {
                self.skip(what, format!("{error:#}"));
                None
            }
        }
    }

    pub(super) fn skip(&mut self, what: impl Into<String>, reason: impl Into<String>) {
        self.skipped.push(Skipped { what: what.into(), reason: reason.into() });
    }

    /// Returns an output of the stack, or notes that it is missing.
    pub(super) fn output(&mut self, name: &str, what: &str) -> Option<String> {
        let output = self.inventory.outputs.get(name).cloned();
        if output.is_none() {
            self.skip(what, format!("the stack has no output {name}"));
        }
        output
    }
}

/// Reads the version of the API, which needs no token.
fn version(api_url: &str) -> Result<String> {
    let action = "reading the version of the API";
    let answer = Api::new(api_url, None).send("GET", "/api/openapi.json", &[], None)?;
    let document: Value = answer.success(action)?.json(action)?;
    document["info"]["version"].as_str().map(str::to_owned).with_context(|| format!("{action}: it has none"))
}
