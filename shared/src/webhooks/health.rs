//! The record of an endpoint's health after a call, and the end of an endpoint that accepts nothing.

use longshore_domain::event::Event;
use longshore_domain::ports::{ConditionalWrite, PortResult, Queues, Webhooks};
use longshore_domain::webhook::{AttemptResult, Delivery, Endpoint, deliveries_of_endpoint_event};

use super::calls::CallEndpoints;
use super::deliver::{Deliverer, WRITES, find_endpoint};
use super::messages::send_later;
use crate::telemetry;

impl<S: Webhooks, Q: Queues, C: CallEndpoints> Deliverer<'_, S, Q, C> {
    /// Records the health of an endpoint after a call, and disables the endpoint if it wants no more events, or has
    /// accepted none for days. A failure is only logged: the next call records the health, too.
    pub(super) async fn record_health(&self, endpoint: &Endpoint, result: &AttemptResult) {
        if let Err(error) = self.try_record_health(endpoint, result).await {
            let error = telemetry::chain(&error);
            tracing::warn!(endpoint.id = %endpoint.endpoint_id, error, "cannot record the health of an endpoint");
        }
    }

    async fn try_record_health(&self, read: &Endpoint, result: &AttemptResult) -> PortResult<()> {
        let (mut read, at) = (read.clone(), (self.clock)());
        for _ in 0..WRITES {
            let health = read.health.after(result, at);
            let disabled = health.disables(result, at).and_then(|reason| read.disabled(reason, at));
            let next = disabled.unwrap_or_else(|| Endpoint { health, ..read.clone() });
            if next == read {
                return Ok(());
            }
            let write = match next.disabled_event() {
                Some(event) => self.disable(&next, &read, &event).await?,
                None => self.store.put_endpoint(&next, Some(&read)).await?,
            };
            if write == ConditionalWrite::Stored {
                return Ok(());
            }
            match find_endpoint(self.store, &read.tenant, read.endpoint_id).await? {
                // Calls that fail together are one failure of an endpoint that is paused by now.
                Some(current) if current.health.paused_until.is_some() && is_failure(result) => return Ok(()),
                // The answer says nothing about another URL.
                Some(current) if current.url != read.url => return Ok(()),
                Some(current) => read = current,
                None => return Ok(()),
            }
        }
        Ok(())
    }

    /// Disables an endpoint, and tells the other endpoints of the tenant.
    async fn disable(&self, disabled: &Endpoint, read: &Endpoint, event: &Event) -> PortResult<ConditionalWrite> {
        let endpoints = self.store.endpoints(&disabled.tenant).await?;
        let others: Vec<_> = endpoints.into_iter().filter(|other| other.endpoint_id != disabled.endpoint_id).collect();
        let now = (self.clock)();
        let deliveries = deliveries_of_endpoint_event(event, &others, now);
        let write = self.store.disable_endpoint(disabled, read, &deliveries, now).await?;
        if write == ConditionalWrite::Stored {
            tracing::warn!(endpoint.id = %disabled.endpoint_id, tenant = %disabled.tenant, "an endpoint is disabled");
            let keys: Vec<_> = deliveries.iter().map(Delivery::key).collect();
            send_later(self.queues, &keys, 0).await;
        }
        Ok(write)
    }
}

fn is_failure(result: &AttemptResult) -> bool {
    !result.is_accepted() && !result.is_gone()
}
