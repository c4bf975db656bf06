//! `POST /api/webhooks/{webhookId}/secret`: replaces the secret.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::IntoResponse;
use longshore::http::{Answer, PathText, Tenant};
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::Endpoint;

use super::change::{change, secret};
use super::document::WebhookSecretDocument;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{IfMatchHeader, WebhookIdInPath};
use crate::openapi::refusals::RotateWebhookSecretRefusals;

/// Replaces the secret: 200 with the new one.
#[utoipa::path(
    post,
    path = "/api/webhooks/{webhookId}/secret",
    operation_id = "rotateWebhookSecret",
    tag = "webhooks",
    summary = "Replace the secret of a webhook.",
    description = "For 24 hours, calls have a signature of each secret, so that the receiver can change its own at any \
        time. A further rotation within this time is refused with 409, because it would end the first secret early: if \
        the response was lost, delete the webhook and create another one.",
    params(WebhookIdInPath, IfMatchHeader),
    responses(
        (
            status = 200,
            description = "The new secret, which is shown once.",
            body = WebhookSecretDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!({ "secret": "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw", "previousUntil": "2026-07-02T08:00:00.000Z" }),
        ),
        RotateWebhookSecretRefusals,
    ),
)]
pub(crate) async fn rotate<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    PathText(id): PathText,
    headers: HeaderMap,
) -> Answer {
    let now = (api.clock)();
    let changed = change(&api.ports.store, (&tenant, &id), &headers, |endpoint| rotated(endpoint, now)).await?;
    let secret = secret(&api.job_types.root_secret, &changed).await?;
    tracing::info!(webhook.id = %changed.endpoint_id, %tenant, "the secret of a webhook was replaced");
    let previous_until = changed.secret.previous_until.unwrap_or(now).to_rfc3339();
    let document = WebhookSecretDocument { secret, previous_until };
    Ok(([(header::CACHE_CONTROL, "no-store")], Json(document)).into_response())
}

fn rotated(endpoint: Endpoint, now: Timestamp) -> Result<Endpoint, Problem> {
    let Some(secret) = endpoint.secret.rotated(now) else {
        let until = endpoint.secret.previous_until.unwrap_or(now).to_rfc3339();
        let detail = format!("the previous secret is valid until {until}; replace the current one after that");
        return Err(Problem::new(Kind::RotationActive, detail));
    };
    Ok(endpoint.changed(|endpoint| endpoint.secret = secret))
}
