//! The function on Lambda: one message per invocation.

use std::error::Error;

use longshore::batch::{self, Delivery, MessageHandler, Server};
use longshore::config::{self, Aws};
use longshore::webhooks::{CallEndpoints, Deliverer, replay};
use longshore_domain::ids::JobId;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{Queues, TenantLimits, Webhooks};
use longshore_domain::timestamp::Timestamp;

use super::endpoints::Endpoints;

/// The function, with its services.
#[derive(Debug)]
pub struct Deliver<S, Q, C> {
    /// The store.
    pub store: S,
    /// The queues.
    pub queues: Q,
    /// Calls of endpoints.
    pub calls: C,
    /// The time.
    pub clock: fn() -> Timestamp,
}

impl<S: Webhooks, Q: Queues, C: CallEndpoints> MessageHandler for Deliver<S, Q, C> {
    type Message = WebhookMessage;
    const FUNCTION: &'static str = "deliver";

    fn job_id(_: &WebhookMessage) -> Option<JobId> {
        // It is in the event of the delivery.
        None
    }

    async fn handle(
        &self,
        message: WebhookMessage,
        delivery: Delivery,
    ) -> Result<String, Box<dyn Error + Send + Sync>> {
        let Self { store, queues, calls, clock } = self;
        let deliverer = Deliverer { store, queues, calls, clock: *clock };
        let end = match &message {
            WebhookMessage::Deliver { delivery: key } => {
                format!("{:?}", deliverer.deliver(key, delivery.deadline).await?)
            }
            WebhookMessage::Check { tenant, endpoint_id, challenge } => {
                format!("{:?}", deliverer.check(tenant, *endpoint_id, challenge, delivery.deadline).await?)
            }
            WebhookMessage::Replay { tenant, endpoint_id, after, requested_at, only_waiting } => {
                let what = (*requested_at, *only_waiting);
                let replayed = replay(store, queues, (tenant, *endpoint_id), after, what, clock()).await?;
                format!("{replayed} deliveries are replayed")
            }
        };
        tracing::info!(tenant = %message.tenant(), end, "a message about webhooks is done");
        Ok(end)
    }
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_runtime::Error> {
    let limits = TenantLimits { webhook_calls: config::tenant_webhook_calls()?, ..TenantLimits::default() };
    let store = aws.store()?.with_limits(limits);
    let calls = Endpoints::from_env(aws)?;
    let handler = Deliver { store, queues: aws.queues(), calls, clock: Timestamp::now };
    batch::serve(Server { handler, queue: aws.queues(), retry_base_s: config::retry_base_s()? }).await
}
