//! Endpoints that receive the events: one that fails often, one that accepts everything, and one that is dead.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use longshore::remote::NotCalled;
use longshore::webhooks::{CallEndpoints, Called, EndpointCall, failed_call};
use longshore_domain::tenant::TenantId;
use longshore_domain::webhook::AttemptResult;

use crate::clock::step;
use crate::faults::{self, random_below};

/// The tenants, and the endpoint of each.
pub(super) const TENANTS: [(&str, Behavior); 3] =
    [("flaky", Behavior::Flaky), ("healthy", Behavior::Healthy), ("dead", Behavior::Dead)];

#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Behavior {
    /// Fails three times in ten: with a status, or after it has stored the event.
    Flaky,
    Healthy,
    Dead,
}

/// The events that the endpoints have stored: ids with bodies, by tenant.
#[derive(Clone, Default)]
pub(super) struct Receivers {
    pub(super) stored: Arc<Mutex<BTreeMap<TenantId, BTreeMap<String, String>>>>,
}

impl CallEndpoints for Receivers {
    async fn call(&self, call: EndpointCall<'_>) -> Result<Called, NotCalled> {
        step().await;
        let tenant = &call.endpoint.tenant;
        let behavior = TENANTS.iter().find(|(name, _)| *name == tenant.as_str()).map(|(_, behavior)| *behavior);
        let chance = random_below(100);
        let fails = match behavior {
            Some(Behavior::Flaky) => chance < 30 && !faults::is_calm(),
            Some(Behavior::Dead) => true,
            Some(Behavior::Healthy) | None => false,
        };
        let is_stored = !fails || (behavior == Some(Behavior::Flaky) && chance < 10);
        if is_stored {
            let mut stored = self.stored.lock().unwrap_or_else(PoisonError::into_inner);
            let of_tenant = stored.entry(tenant.clone()).or_default();
            let body = of_tenant.entry(call.id.to_owned()).or_insert_with(|| call.body.to_owned());
            assert_eq!(body, call.body, "one id, and two bodies");
        }
        step().await;
        if !fails {
            let result = AttemptResult::Answered { status: 204 };
            return Ok(Called { result, retry_after_s: None, body: Vec::new() });
        }
        // Restarts of the receiver, and answers that are lost.
        if chance < 20 {
            return Ok(failed_call(if is_stored { "timed_out" } else { "connect" }));
        }
        Ok(Called { result: AttemptResult::Answered { status: 503 }, retry_after_s: None, body: Vec::new() })
    }
}
