//! `GET /api/webhooks` and `GET /api/webhooks/{webhookId}`.

use std::sync::Arc;

use axum::extract::State;
use axum::http::StatusCode;
use longshore::http::{Answer, PathText, Tenant, no_store};
use longshore::openapi::{CacheNoStore, EntityTag};
use longshore_domain::ports::Webhooks;
use longshore_domain::webhook::Endpoint;

use super::change::answer;
use super::document::{WebhookDocument, WebhooksDocument};
use super::examples;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::WebhookIdInPath;
use crate::openapi::refusals::{WebhookRefusals, WebhooksRefusals};
use crate::resource::find;

/// Returns all webhooks of the tenant.
#[utoipa::path(
    get,
    path = "/api/webhooks",
    operation_id = "listWebhooks",
    tag = "webhooks",
    summary = "List the webhooks, oldest first.",
    responses(
        (
            status = 200,
            description = "All webhooks of the tenant.",
            body = WebhooksDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::webhooks()),
        ),
        WebhooksRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(State(api): State<Arc<Api<B>>>, Tenant(tenant): Tenant) -> Answer {
    let endpoints = api.ports.store.endpoints(&tenant).await?;
    let webhooks = endpoints.iter().map(WebhookDocument::new).collect();
    Ok(no_store(WebhooksDocument { webhooks }))
}

/// Returns a webhook.
#[utoipa::path(
    get,
    path = "/api/webhooks/{webhookId}",
    operation_id = "getWebhook",
    tag = "webhooks",
    summary = "Read a webhook.",
    params(WebhookIdInPath),
    responses(
        (
            status = 200,
            description = "The webhook, without its secret.",
            body = WebhookDocument,
            headers(("ETag" = inline(EntityTag)), ("Cache-Control" = inline(CacheNoStore))),
            example = json!(examples::webhook()),
        ),
        WebhookRefusals,
    ),
)]
pub(crate) async fn get<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
) -> Answer {
    Ok(answer(StatusCode::OK, &find::<Endpoint, _>(&api.ports.store, &tenant, &id).await?))
}
