//! The replay of an endpoint's deliveries since a time that were not accepted, page by page: each message continues where
//! the one before ended. A message that comes twice finds that its deliveries are due, or makes
//! their attempts available once more.
//!
//! The release of the deliveries that wait for a check is a replay, too. It covers all of them, whenever and by
//! whichever clock they were created: what says that one waits is its record. A worker that records it after the
//! release has read the delivery finds the endpoint active, see [`Deliverer::deliver`](super::Deliverer::deliver).

use longshore_domain::ids::EndpointId;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{ConditionalWrite, DeliveriesFrom, DeliveriesQuery, PortResult, Queues, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Delivery, DeliveryId, EndpointState};

use super::deliver::find_endpoint;
use super::messages::send_later;

/// Number of deliveries that one message reads.
const PAGE: usize = 100;

/// Maximum number of writes of one delivery. Each is refused if an attempt was recorded since the read.
const WRITES: usize = 8;

/// Seconds until a release is received, and until it is received again while its endpoint is not active yet.
pub(super) const RELEASE_S: i32 = 5;

/// Seconds from the answer to a check within which its worker makes the endpoint active, or has died.
const ACTIVATED_S: i64 = 60;

/// Seconds after the answer to a check within which deliveries are created that wait for it, by the clock of any
/// worker. Those after this time are not read, or a release would follow a tenant whose events come fast without end.
const WAITING_S: i64 = 900;

/// Replays the deliveries of a page, and sends a message for the next one. Returns the number of replayed ones. A
/// release, which is only for waiting deliveries, is put off until the endpoint is active: before, they would wait
/// again.
///
/// # Errors
/// If a service fails; the message is to be delivered again.
pub async fn replay(
    store: &impl Webhooks,
    queues: &impl Queues,
    (tenant, endpoint_id): (&TenantId, EndpointId),
    after: &DeliveryId,
    (requested_at, only_waiting): (Timestamp, bool),
    now: Timestamp,
) -> PortResult<usize> {
    let send = async |after: DeliveryId, delay_s| {
        let next = WebhookMessage::Replay { tenant: tenant.clone(), endpoint_id, after, requested_at, only_waiting };
        queues.send_webhooks(&[next], delay_s).await
    };
    let mut until = requested_at;
    if only_waiting {
        match find_endpoint(store, tenant, endpoint_id).await?.map(|endpoint| endpoint.state) {
            Some(EndpointState::Active) => until = requested_at.plus_seconds(WAITING_S),
            Some(EndpointState::Pending) if now < requested_at.plus_seconds(ACTIVATED_S) => {
                send(after.clone(), RELEASE_S).await?;
                return Ok(0);
            }
            // Another check releases them, or nothing is sent to it.
            Some(EndpointState::Pending | EndpointState::Disabled { .. }) | None => return Ok(0),
        }
    }
    let query = DeliveriesQuery { tenant, endpoint_id, from: DeliveriesFrom::After(after), limit: PAGE };
    let page = store.deliveries_of(&query).await?;
    let mut replayed = Vec::new();
    for delivery in page.iter().take_while(|delivery| delivery.created_at <= until) {
        if replay_one(store, delivery.clone(), (requested_at, only_waiting)).await? {
            replayed.push(delivery.key());
        }
    }
    send_later(queues, &replayed, 0).await;
    if let Some(last) = page.last().filter(|last| page.len() == PAGE && last.created_at <= until) {
        send(last.id(), 0).await?;
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
