//! `PUT /api/webhooks/{webhookId}`: changes a webhook.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use longshore::http::{Answer, JsonFields, PathText, Tenant, count_work_call};
use longshore::openapi::{CacheNoStore, EntityTag};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{DisabledReason, Endpoint, EndpointState};

use super::change::{answer, ask_for_check, new_challenge};
use super::create::BODY_BYTES;
use super::document::WebhookDocument;
use super::examples;
use super::request::{self, WebhookContent, WebhookRequest};
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{IfMatchHeader, WebhookIdInPath};
use crate::openapi::refusals::PutWebhookRefusals;
use crate::resource::change;

/// Changes a webhook: 200.
#[utoipa::path(
    put,
    path = "/api/webhooks/{webhookId}",
    operation_id = "putWebhook",
    tag = "webhooks",
    summary = "Change a webhook.",
    description = "Replaces all fields; a field that is absent gets its default. With another URL, or if it was \
        disabled, the webhook is pending until it has passed a new check, which begins up to five seconds later if \
        another one has no result yet. A change of the other fields of a pending webhook starts a check as a test does. \
        The secret stays.",
    params(WebhookIdInPath, IfMatchHeader),
    request_body(content = WebhookRequest, description = "Up to 8 KiB.", example = json!(examples::request())),
    responses(
        (
            status = 200,
            description = "The webhook after the change.",
            body = WebhookDocument,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::webhook()),
        ),
        PutWebhookRefusals,
    ),
)]
pub(crate) async fn put<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let content = request::read(fields, &api.webhook_urls)?;
    let now = (api.clock)();
    let store = &api.ports.store;
    count_work_call(store, &tenant, now).await?;
    let challenge = new_challenge();
    let applied = |endpoint| Ok(apply(endpoint, &content, &challenge, now));
    let changed = change(store, (&tenant, &id), &headers, applied).await?;
    tracing::info!(webhook.id = %changed.endpoint_id, %tenant, "a webhook was changed");
    ask_for_check(&api.ports.queues, &changed, challenge, now).await;
    Ok(answer(StatusCode::OK, &changed))
}

/// Returns the webhook after the change, with a check of this challenge if it needs one.
fn apply(endpoint: Endpoint, content: &WebhookContent, challenge: &str, now: Timestamp) -> Endpoint {
    let is_other_url = endpoint.url != content.url;
    let changed = endpoint.changed(|endpoint| {
        endpoint.url.clone_from(&content.url);
        endpoint.description.clone_from(&content.description);
        endpoint.event_types.clone_from(&content.event_types);
        endpoint.jobs = content.jobs;
    });
    match (content.enabled, &changed.state) {
        (false, EndpointState::Disabled { .. }) => changed,
        (false, _) => {
            Endpoint { state: EndpointState::Disabled { reason: DisabledReason::Client, at: now }, ..changed }
        }
        (true, EndpointState::Active) if !is_other_url => changed,
        // The check that is under way is one of this URL. That of a disabled webhook can be one of another.
        (true, EndpointState::Pending) if !is_other_url && changed.is_being_checked(now) => changed,
        (true, _) => {
            let revision = changed.revision;
            Endpoint { state: EndpointState::Pending, revision, ..changed.with_check(challenge.to_owned(), now) }
        }
    }
}
