//! `POST /api/webhooks/{webhookId}/secret`: replaces the secret.

use std::sync::Arc;

use axum::extract::State;
use axum::http::HeaderMap;
use longshore::http::{Answer, PathText, Tenant, no_store};
use longshore::openapi::CacheNoStore;
use longshore_domain::webhook::Endpoint;

use super::change::secret;
use super::document::WebhookSecretDocument;
use crate::backend::{Api, Backend};
use crate::openapi::parameters::{IfMatchHeader, WebhookIdInPath};
use crate::openapi::refusals::RotateWebhookSecretRefusals;
use crate::resource::{change, find};

/// Replaces the secret: 200 with the new one.
#[utoipa::path(
    post,
    path = "/api/webhooks/{webhookId}/secret",
    operation_id = "rotateWebhookSecret",
    tag = "webhooks",
    summary = "Replace the secret of a webhook.",
    description = "For 24 hours, calls have a signature of each secret, so that the receiver can change its own at any \
        time. A further call within this time returns the same new secret, because a third one would end the first \
        early.",
    params(WebhookIdInPath, IfMatchHeader),
    responses(
        (
            status = 200,
            description = "The new secret.",
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
    let (store, root_secret) = (&api.ports.store, &api.job_types.root_secret);
    // Before the change: if the root secret cannot be read, nothing changes.
    secret(root_secret, &find::<Endpoint, _>(store, &tenant, &id).await?).await?;
    let rotated = |endpoint: Endpoint| match endpoint.secret.rotated(now) {
        same if same == endpoint.secret => Ok(endpoint),
        rotated => Ok(endpoint.changed(|endpoint| endpoint.secret = rotated)),
    };
    let changed = change(store, (&tenant, &id), &headers, rotated).await?;
    let secret = secret(root_secret, &changed).await?;
    tracing::info!(webhook.id = %changed.endpoint_id, %tenant, "the secret of a webhook was replaced");
    let previous_until = changed.secret.previous_until.unwrap_or(now).to_rfc3339();
    let document = WebhookSecretDocument { secret, previous_until };
    Ok(no_store(document))
}
