//! The webhook of a path, and conditional changes.

use axum::Json;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse, Response};
use longshore::http::Failure;
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::ids::EndpointId;
use longshore_domain::message::WebhookMessage;
use longshore_domain::ports::{PortError, Queues, WebhookWrite, Webhooks};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Endpoint, EndpointState};
use longshore_targets::root_secret::RootSecretReader;
use uuid::Uuid;

use super::document::WebhookDocument;
use crate::etag;

/// Attempts of a change that other calls precede.
pub(super) const ATTEMPTS: usize = 10;

/// Returns the webhook of a path.
///
/// # Errors
/// 404 if the tenant has none with this id.
pub(super) async fn find(store: &impl Webhooks, tenant: &TenantId, id: &str) -> Result<Endpoint, Failure> {
    let found = match EndpointId::parse(id) {
        Some(id) => store.endpoints(tenant).await?.into_iter().find(|endpoint| endpoint.endpoint_id == id),
        None => None,
    };
    Ok(found.ok_or_else(|| Problem::not_found("webhook"))?)
}

/// Changes the webhook of a path, if `If-Match` permits it. Returns it as it is stored.
///
/// # Errors
/// 404, 412, what `change` refuses, or 503 if other calls change it again and again.
pub(super) async fn change(
    store: &impl Webhooks,
    (tenant, id): (&TenantId, &str),
    headers: &HeaderMap,
    change: impl Fn(Endpoint) -> Result<Endpoint, Problem>,
) -> Result<Endpoint, Failure> {
    for _ in 0..ATTEMPTS {
        let endpoint = find(store, tenant, id).await?;
        check_match(headers, &endpoint)?;
        let changed = change(endpoint.clone())?;
        if store.put_endpoint(&changed, Some(&endpoint)).await? == WebhookWrite::Stored {
            return Ok(changed);
        }
    }
    Err(overtaken().into())
}

/// Checks `If-Match` against a webhook.
///
/// # Errors
/// 412 if no tag matches.
pub(super) fn check_match(headers: &HeaderMap, endpoint: &Endpoint) -> Result<(), Problem> {
    etag::check_tag(headers, Some(&tag(endpoint)), "webhook")
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

pub(super) fn overtaken() -> Problem {
    let detail = "other calls change this webhook at the same moment; nothing was done; retry later";
    Problem::new(Kind::Unavailable, detail).retry_after(1)
}
