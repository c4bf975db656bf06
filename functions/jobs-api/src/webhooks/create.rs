//! `POST /api/webhooks`: creates a webhook, and asks for its check.
//!
//! One write takes a free place of the tenant; a crash before the message of the check leaves a pending webhook, which a
//! test checks.

use std::sync::Arc;

use axum::Json;
use axum::extract::State;
use axum::http::{StatusCode, header};
use axum::response::{AppendHeaders, IntoResponse};
use longshore::http::{Answer, JsonFields, Tenant, count_work_call};
use longshore::openapi::CacheNoStore;
use longshore::problem::{Kind, Problem};
use longshore_domain::ports::{ConditionalWrite, Webhooks};
use longshore_domain::webhook::{Check, DisabledReason, Endpoint, EndpointState, MAX_ENDPOINTS};

use super::change::{ask_for_check, new_challenge, secret};
use super::document::{CreatedWebhookDocument, WebhookDocument};
use super::examples;
use super::request::{self, WebhookRequest};
use crate::backend::{Api, Backend};
use crate::openapi::refusals::CreateWebhookRefusals;
use crate::resource::overtaken;

/// Maximum body size.
pub(super) const BODY_BYTES: usize = 8 * 1024;

/// Creates a webhook: 201 with its secret.
#[utoipa::path(
    post,
    path = "/api/webhooks",
    operation_id = "createWebhook",
    tag = "webhooks",
    summary = "Create a webhook.",
    description = include_str!("create.md").trim_ascii_end(),
    request_body(content = WebhookRequest, description = "Up to 8 KiB.", example = json!(examples::request())),
    responses(
        (
            status = 201,
            description = "The webhook with its secret, which is shown once. It is pending until it has passed its check.",
            body = CreatedWebhookDocument,
            headers(
                ("Location" = String, description = "Path of the webhook."),
                ("Cache-Control" = inline(CacheNoStore)),
            ),
            example = json!(examples::created()),
        ),
        CreateWebhookRefusals,
    ),
)]
pub(crate) async fn create<B: Backend>(
    State(api): State<Arc<Api<B>>>,
    Tenant(tenant): Tenant,
    JsonFields(fields): JsonFields<BODY_BYTES>,
) -> Answer {
    let content = request::read(fields, &api.webhook_urls)?;
    let now = (api.clock)();
    let store = &api.ports.store;
    count_work_call(store, &tenant, now).await?;
    let mut endpoint = Endpoint {
        description: content.description,
        event_types: content.event_types,
        jobs: content.jobs,
        ..Endpoint::new(tenant, content.url, now)
    };
    let challenge = new_challenge();
    if content.enabled {
        endpoint.check = Some(Check { challenge: challenge.clone(), requested_at: now, begins_at: None, result: None });
    } else {
        endpoint.state = EndpointState::Disabled { reason: DisabledReason::Client, at: now };
    }
    let secret = secret(&api.job_types.root_secret, &endpoint).await?;
    // Another call can take the same place at the same moment.
    for _ in 0..MAX_ENDPOINTS {
        let taken = store.endpoints(&endpoint.tenant).await?;
        let is_free = |place: &u8| taken.iter().all(|other| other.place != *place);
        endpoint.place = (0..MAX_ENDPOINTS as u8).find(is_free).ok_or_else(too_many)?;
        if store.put_endpoint(&endpoint, None).await? == ConditionalWrite::Stored {
            tracing::info!(webhook.id = %endpoint.endpoint_id, tenant = %endpoint.tenant, "a webhook was created");
            ask_for_check(&api.ports.queues, &endpoint, challenge, now).await;
            let location = format!("/api/webhooks/{}", endpoint.endpoint_id);
            let about = AppendHeaders([(header::CACHE_CONTROL, "no-store".to_owned()), (header::LOCATION, location)]);
            let document = CreatedWebhookDocument { webhook: WebhookDocument::new(&endpoint), secret };
            return Ok((StatusCode::CREATED, about, Json(document)).into_response());
        }
    }
    Err(overtaken("webhook").into())
}

fn too_many() -> Problem {
    let detail = format!("your tenant already has {MAX_ENDPOINTS} webhooks; delete one that is not needed");
    Problem::new(Kind::TooManyWebhooks, detail)
}
