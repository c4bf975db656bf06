//! `DELETE /api/webhooks/{webhookId}`: deletes a webhook. Its pending deliveries end.

use std::sync::Arc;

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::IntoResponse;
use longshore::http::{Answer, PathText, Tenant};
use longshore_domain::webhook::Endpoint;

use crate::backend::{Api, Backend};
use crate::openapi::parameters::{IfMatchHeader, WebhookIdInPath};
use crate::openapi::refusals::DeleteWebhookRefusals;
use crate::resource;

/// Deletes a webhook: 204. A repeated call returns 404.
#[utoipa::path(
    delete,
    path = "/api/webhooks/{webhookId}",
    operation_id = "deleteWebhook",
    tag = "webhooks",
    summary = "Delete a webhook.",
    description = "Ends its deliveries. An attempt that is under way can still arrive.",
    params(WebhookIdInPath, IfMatchHeader),
    responses((status = 204, description = "The webhook is deleted."), DeleteWebhookRefusals),
)]
pub(crate) async fn delete<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Answer {
    resource::delete::<Endpoint, _>(&api.ports.store, (&tenant, &id), &headers).await?;
    tracing::info!(webhook.id = id, %tenant, "a webhook was deleted");
    Ok(StatusCode::NO_CONTENT.into_response())
}
