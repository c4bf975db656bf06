//! `POST /api/webhooks/{webhookId}/test`: asks for a check.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use longshore::http::{Answer, PathText, Tenant, count_work_call};
use longshore::openapi::{CacheNoStore, EntityTag};

use longshore_domain::webhook::Endpoint;

use super::change::{answer, ask_for_check, new_challenge};
use super::document::WebhookDocument;
use super::examples;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{IfMatchHeader, WebhookIdInPath};
use crate::openapi::refusals::TestWebhookRefusals;
use crate::resource::change;

/// Asks for a check: 202.
#[utoipa::path(
    post,
    path = "/api/webhooks/{webhookId}/test",
    operation_id = "testWebhook",
    tag = "webhooks",
    summary = "Check a webhook again.",
    description = "Calls the endpoint with a new challenge. `check.result` of the webhook has the result within some \
        seconds. A pending webhook that passes becomes active; another one stays as it is. While a check that began within \
        the last five seconds, or is still to begin, has no result, no other check is started.",
    params(WebhookIdInPath, IfMatchHeader),
    responses(
        (
            status = 202,
            description = "The webhook, with a check that has no result yet.",
            body = WebhookDocument,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::webhook()),
        ),
        TestWebhookRefusals,
    ),
)]
pub(crate) async fn test<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Answer {
    let now = (api.clock)();
    let store = &api.ports.store;
    count_work_call(store, &tenant, now).await?;
    let challenge = new_challenge();
    let checked = |endpoint: Endpoint| {
        Ok(if endpoint.is_being_checked(now) { endpoint } else { endpoint.with_check(challenge.clone(), now) })
    };
    let changed = change(store, (&tenant, &id), &headers, checked).await?;
    ask_for_check(&api.ports.queues, &changed, challenge, now).await;
    Ok(answer(StatusCode::ACCEPTED, &changed))
}
