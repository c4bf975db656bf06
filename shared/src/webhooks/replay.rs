//! The replay of an endpoint's deliveries since a time that were not accepted, page by page: each message continues where
//! the one before ended. A message that comes twice finds that its deliveries are due, or makes
//! their attempts available once more.

use longshore_domain::ids::EndpointId;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{ConditionalWrite, DeliveriesFrom, DeliveriesQuery, PortResult, Queues, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Delivery, DeliveryId};

use super::messages::send_later;

/// Number of deliveries that one message reads.
const PAGE: usize = 100;

/// Maximum number of writes of one delivery. Each is refused if an attempt was recorded since the read.
const WRITES: usize = 8;

/// Replays the deliveries of a page, and sends a message for the next one. Returns the number of replayed ones.
///
/// # Errors
/// If a service fails; the message is to be delivered again.
pub async fn replay(
    store: &impl Webhooks,
    queues: &impl Queues,
    (tenant, endpoint_id): (&TenantId, EndpointId),
    after: &DeliveryId,
    (requested_at, only_waiting): (Timestamp, bool),
) -> PortResult<usize> {
    let query = DeliveriesQuery { tenant, endpoint_id, from: DeliveriesFrom::After(after), limit: PAGE };
    let page = store.deliveries_of(&query).await?;
    let mut replayed = Vec::new();
    for delivery in page.iter().take_while(|delivery| delivery.created_at <= requested_at) {
        if replay_one(store, delivery.clone(), (requested_at, only_waiting)).await? {
            replayed.push(delivery.key());
        }
    }
    send_later(queues, &replayed, 0).await;
    if let Some(last) = page.last().filter(|last| page.len() == PAGE && last.created_at <= requested_at) {
        let (tenant, after) = (tenant.clone(), last.id());
        queues
            .send_webhooks(&[WebhookMessage::Replay { tenant, endpoint_id, after, requested_at, only_waiting }], 0)
            .await?;
    }
    Ok(replayed.len())
}

/// Replays a delivery if that makes a difference. An attempt that was under way can be recorded meanwhile.
async fn replay_one(
    store: &impl Webhooks,
    delivery: Delivery,
    (requested_at, only_waiting): (Timestamp, bool),
) -> PortResult<bool> {
    let (key, mut read) = (delivery.key(), Some(delivery));
    for _ in 0..WRITES {
        let Some(mut delivery) = read.filter(|read| read.is_replayed_by(requested_at, only_waiting)) else {
            return Ok(false);
        };
        let revision = delivery.revision;
        delivery.replay(requested_at);
        if store.put_delivery(&delivery, revision).await? == ConditionalWrite::Stored {
            return Ok(true);
        }
        read = store.delivery(&key).await?;
    }
    Ok(false)
}
