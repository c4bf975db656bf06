//! The webhook as a resource, its checks and its secret.

use axum::Json;
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::Failure;
use longshore::telemetry;
use longshore_domain::ids::EndpointId;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{ConditionalWrite, PortError, PortResult, Queues, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Endpoint, EndpointState};
use longshore_targets::root_secret::RootSecretReader;
use uuid::Uuid;

use super::document::WebhookDocument;
use crate::etag;
use crate::resource::Resource;

impl<S: Webhooks> Resource<S> for Endpoint {
    const NAME: &'static str = "webhook";

    async fn read(store: &S, tenant: &TenantId, id: &str) -> PortResult<Option<Self>> {
        let Some(id) = EndpointId::parse(id) else { return Ok(None) };
        Ok(store.endpoints(tenant).await?.into_iter().find(|endpoint| endpoint.endpoint_id == id))
    }

    async fn put(&self, store: &S, read: &Self) -> PortResult<ConditionalWrite> {
        store.put_endpoint(self, Some(read)).await
    }

    async fn remove(&self, store: &S) -> PortResult<ConditionalWrite> {
        store.delete_endpoint(self).await
    }

    fn tag(&self) -> String {
        tag(self)
    }
}

/// Returns the tag of what a change replaces: the settings, and the version of the secret. A check or a failed delivery
/// leaves it, or a client could not change a webhook whose endpoint fails.
fn tag(endpoint: &Endpoint) -> String {
    let Endpoint { url, description, event_types, jobs, state, secret, .. } = endpoint;
    let is_enabled = !matches!(state, EndpointState::Disabled { .. });
    let settings = (url, description, event_types, jobs, is_enabled, secret.current);
    // Texts and numbers always serialize.
    etag::for_bytes(&serde_json::to_vec(&settings).unwrap_or_default())
}

/// Responds with a webhook.
pub(super) fn answer(status: StatusCode, endpoint: &Endpoint) -> Response {
    let about = AppendHeaders([(header::CACHE_CONTROL, "no-store".to_owned()), (header::ETAG, tag(endpoint))]);
    (status, about, Json(WebhookDocument::new(endpoint))).into_response()
}

/// Returns a challenge that cannot be guessed.
pub(super) fn new_challenge() -> String {
    Uuid::new_v4().simple().to_string()
}

/// Asks for the check with this challenge, if the webhook was stored with it. If the message cannot be sent, the check
/// has no result, and the test call asks again.
pub(super) async fn ask_for_check(queues: &impl Queues, endpoint: &Endpoint, challenge: String, now: Timestamp) {
    let Some(check) = endpoint.check.as_ref().filter(|check| check.challenge == challenge) else { return };
    let wait_ms = check.begins_at().millis_since(now).max(0);
    let delay_s = i32::try_from(wait_ms.saturating_add(999) / 1_000).unwrap_or(i32::MAX);
    let message =
        WebhookMessage::Check { tenant: endpoint.tenant.clone(), endpoint_id: endpoint.endpoint_id, challenge };
    if let Err(error) = queues.send_webhooks(&[message], delay_s).await {
        let error = telemetry::chain(&error);
        tracing::warn!(webhook.id = %endpoint.endpoint_id, error, "cannot ask for a check; a test asks again");
    }
}

/// Returns the current secret of a webhook, as receivers are given it.
///
/// # Errors
/// If the root secret cannot be read.
pub(super) async fn secret(reader: &RootSecretReader, endpoint: &Endpoint) -> Result<String, Failure> {
    let secrets = reader.of_webhook(endpoint.endpoint_id, endpoint.secret.current, None).await;
    let secrets =
        secrets.map_err(|error| PortError { service: "secrets", operation: "root_secret", source: error.into() })?;
    Ok(secrets.newest().reveal())
}
