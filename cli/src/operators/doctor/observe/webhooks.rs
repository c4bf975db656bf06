//! Webhooks that accept no events, read from the jobs table. An endpoint is looked at while one of its deliveries
//! waits for another attempt. URLs and events are not shown.

use std::collections::BTreeSet;

use anyhow::Result;
use longshore::store::dynamo::DynamoStore;
use longshore_domain::ports::Webhooks;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Endpoint, EndpointState};

use super::jobs::store;
use super::observer::Observer;
use crate::operators::doctor::facts::FailingWebhook;

/// Days within which the next attempt of every delivery is due.
const HORIZON_DAYS: i64 = 7;

/// Maximum number of deliveries that are read. Those of all tenants take turns.
const DELIVERIES: usize = 500;

/// Maximum number of tenants whose webhooks are read.
const TENANTS: usize = 50;

impl Observer<'_> {
    /// Reads the webhooks that accept no events.
    pub(super) fn failing_webhooks(&mut self) -> Vec<FailingWebhook> {
        let what = "the webhooks";
        let Some(table) = self.output("JobsTableName", what) else { return Vec::new() };
        let (session, now) = (self.session, self.now);
        let store = store(session.config(), table);
        let Some(tenants) = self.wait(what, tenants(&store, now)) else { return Vec::new() };
        if tenants.len() > TENANTS {
            self.skip("the webhooks of other tenants", format!("only those of {TENANTS} tenants are read"));
        }
        self.wait(what, failing(&store, tenants.iter().take(TENANTS))).unwrap_or_default()
    }
}

/// Returns the tenants with deliveries that wait.
async fn tenants(store: &DynamoStore, now: Timestamp) -> Result<BTreeSet<TenantId>> {
    let waiting = store.due_deliveries(now.plus_days(HORIZON_DAYS), DELIVERIES).await?;
    Ok(waiting.into_iter().map(|delivery| delivery.tenant).collect())
}

async fn failing(store: &DynamoStore, tenants: impl Iterator<Item = &TenantId>) -> Result<Vec<FailingWebhook>> {
    let mut failing = Vec::new();
    for tenant in tenants {
        failing.extend(store.endpoints(tenant).await?.iter().filter_map(read));
    }
    Ok(failing)
}

/// Returns an endpoint that accepts no events. The owner of one that is disabled knows it.
fn read(endpoint: &Endpoint) -> Option<FailingWebhook> {
    let since = endpoint.health.failing_since.filter(|_| endpoint.state == EndpointState::Active)?;
    Some(FailingWebhook { id: endpoint.endpoint_id.to_string(), tenant: endpoint.tenant.clone(), since })
}
