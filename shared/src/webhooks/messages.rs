//! Messages for deliveries.

use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::Queues;
use longshore_domain::webhook::DeliveryKey;

use crate::telemetry;

/// Sends messages for deliveries. A failure is only logged, because the sweeper sends others.
pub async fn send_later(queues: &impl Queues, deliveries: &[DeliveryKey], delay_s: i32) {
    let messages: Vec<_> =
        deliveries.iter().map(|delivery| WebhookMessage::Deliver { delivery: delivery.clone() }).collect();
    if messages.is_empty() {
        return;
    }
    if let Err(error) = queues.send_webhooks(&messages, delay_s).await {
        let error = telemetry::chain(&error);
        tracing::warn!(error, "cannot send messages for deliveries; the sweeper will send them");
    }
}
