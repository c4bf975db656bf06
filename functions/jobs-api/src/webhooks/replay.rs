//! Replays of deliveries: of one, and of all failed ones since a time.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use longshore::http::{Answer, Bad, JsonFields, PathText, PathTexts, Tenant, count_work_call, no_store};
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore::webhooks::send_later;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{ConditionalWrite, Queues, Webhooks};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{DeliveryId, DeliveryKey, Endpoint, EndpointState};
use serde_json::Value;
use utoipa::ToSchema;

use super::document::DeliveryDocument;
use super::examples;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{DeliveryIdInPath, WebhookIdInPath};
use crate::openapi::refusals::{ReplayDeliveriesRefusals, ReplayDeliveryRefusals};
use crate::resource::{change, find, overtaken};

/// Maximum body size.
const BODY_BYTES: usize = 4 * 1024;

/// Seconds between two replays of all deliveries of a webhook.
const REPLAY_S: i64 = 60;

/// A replay of all deliveries since a time that were not accepted.
#[allow(dead_code, reason = "for the schema only")]
#[derive(ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = ReplayDeliveriesRequest)]
pub(super) struct ReplayRequest {
    /// Time of creation of the oldest delivery, in RFC 3339.
    #[schema(format = DateTime)]
    since: String,
}

/// Replays one delivery: 202.
#[utoipa::path(
    post,
    path = "/api/webhooks/{webhookId}/deliveries/{deliveryId}/replay",
    operation_id = "replayDelivery",
    tag = "webhooks",
    summary = "Send an event again.",
    description = "Makes all attempts of the delivery available again, the first one now, also if the event was delivered. \
        The event keeps its id. Only for an active webhook.",
    params(WebhookIdInPath, DeliveryIdInPath),
    responses(
        (
            status = 202,
            description = "The delivery is pending.",
            body = DeliveryDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::delivery()),
        ),
        ReplayDeliveryRefusals,
    ),
)]
pub(crate) async fn one<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathTexts(id, delivery_id): PathTexts,
) -> Answer {
    let store = &api.ports.store;
    count_work_call(store, &tenant, (api.clock)()).await?;
    let endpoint = find::<Endpoint, _>(store, &tenant, &id).await?;
    check_active(&endpoint.state)?;
    let not_found = || Problem::not_found("delivery");
    let delivery_id = DeliveryId::parse(&delivery_id).ok_or_else(not_found)?;
    let key = DeliveryKey { tenant, endpoint_id: endpoint.endpoint_id, id: delivery_id };
    let mut delivery = store.delivery(&key).await?.ok_or_else(not_found)?;
    let read_revision = delivery.revision;
    delivery.replay((api.clock)());
    if store.put_delivery(&delivery, read_revision).await? == ConditionalWrite::Changed {
        return Err(overtaken("webhook").into());
    }
    send_later(&api.ports.queues, &[key], 0).await;
    Ok((StatusCode::ACCEPTED, no_store(DeliveryDocument::new(&delivery))).into_response())
}

/// Replays all deliveries since a time that were not accepted: 202.
#[utoipa::path(
    post,
    path = "/api/webhooks/{webhookId}/replay",
    operation_id = "replayDeliveries",
    tag = "webhooks",
    summary = "Send all events since a time that were not accepted again.",
    description = "Makes all attempts of the deliveries that were not accepted available again, oldest first. The first one is made \
        now, or when the rate limit permits it. Delivered ones are left as they are. Only for an active webhook, once \
        a minute for each.",
    params(WebhookIdInPath),
    request_body(content = ReplayRequest, description = "Up to 4 KiB.", example = json!({ "since": "2026-07-01T08:00:00Z" })),
    responses((status = 202, description = "The replay is under way."), ReplayDeliveriesRefusals),
)]
pub(crate) async fn since<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
    JsonFields(mut fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let since = fields.required("since", time);
    let Some(since) = since.filter(|_| fields.is_valid()) else { return Err(fields.into_problem().into()) };
    let (store, requested_at) = (&api.ports.store, (api.clock)());
    count_work_call(store, &tenant, requested_at).await?;
    let any_version = HeaderMap::new();
    let requested = |endpoint: Endpoint| {
        check_active(&endpoint.state)?;
        check_last_replay(&endpoint, requested_at)?;
        Ok(endpoint.changed(|endpoint| endpoint.replayed_at = Some(requested_at)))
    };
    // Before the message, so that of two calls one is refused.
    let endpoint_id = change(store, (&tenant, &id), &any_version, requested).await?.endpoint_id;
    let after = DeliveryId::before(since);
    let message =
        WebhookMessage::Replay { tenant: tenant.clone(), endpoint_id, after, requested_at, only_waiting: false };
    if let Err(error) = api.ports.queues.send_webhooks(&[message], 0).await {
        // The call can be repeated at once.
        let not_requested = |endpoint: Endpoint| Ok(endpoint.changed(|endpoint| endpoint.replayed_at = None));
        change(store, (&tenant, &id), &any_version, not_requested).await?;
        return Err(error.into());
    }
    Ok(StatusCode::ACCEPTED.into_response())
}

/// # Errors
/// 429 shortly after another replay: each reads all deliveries since its time.
fn check_last_replay(endpoint: &Endpoint, now: Timestamp) -> Result<(), Problem> {
    let next = endpoint.replayed_at.map(|at| at.plus_seconds(REPLAY_S)).filter(|next| *next > now);
    let Some(next) = next else { return Ok(()) };
    let detail = format!("a replay of this webhook was requested less than {REPLAY_S} seconds ago; retry later");
    Err(Problem::new(Kind::RateLimited, detail).retry_after(next.seconds_since(now)))
}

/// # Errors
/// 409 for a disabled webhook, whose deliveries would end at once, and for a pending one, whose deliveries would wait
/// for a check that may never pass.
fn check_active(state: &EndpointState) -> Result<(), Problem> {
    match state {
        EndpointState::Disabled { .. } => Err(Problem::new(
            Kind::WebhookDisabled,
            "the webhook is disabled; enable it, and replay deliveries once it is active",
        )),
        EndpointState::Pending => Err(Problem::new(
            Kind::WebhookPending,
            "the webhook has not passed its check yet; replay deliveries once it is active",
        )),
        EndpointState::Active => Ok(()),
    }
}

fn time(value: &Value) -> Result<Timestamp, Bad> {
    let time = value.as_str().and_then(Timestamp::parse_rfc3339).filter(|time| time.0 >= 0);
    time.ok_or_else(|| Bad::new("invalid_time", "the time must be a string in RFC 3339, such as 2026-07-01T08:00:00Z"))
}
