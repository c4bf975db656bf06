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

/// Asks for the check of a webhook that was stored with one. If the message cannot be sent, the check has no result, and
/// the test call asks again.
pub(super) async fn ask_for_check(queues: &impl Queues, endpoint: &Endpoint) {
    let Some(check) = endpoint.check.as_ref().filter(|check| check.result.is_none()) else { return };
    let (tenant, challenge) = (endpoint.tenant.clone(), check.challenge.clone());
    let message = WebhookMessage::Check { tenant, endpoint_id: endpoint.endpoint_id, challenge };
    if let Err(error) = queues.send_webhooks(&[message], 0).await {
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

/// Returns the endpoint with a new check.
pub(super) fn checked_again(endpoint: Endpoint, now: Timestamp) -> Endpoint {
    endpoint.with_check(new_challenge(), now)
}
