//! `GET /api/operations/webhooks`: the unhealthy webhooks of a tenant.

use std::sync::Arc;

use axum::extract::State;
use longshore::field_error::FieldError;
use longshore::http::{Answer, QueryText, Viewer, no_store};
use longshore::openapi::CacheNoStore;
use longshore::problem::Problem;
use longshore::refusals;
use longshore_domain::ids::EndpointId;
use longshore_domain::ports::Webhooks;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{DisabledReason, Endpoint, EndpointState};
use serde::Serialize;
use utoipa::{IntoParams, ToSchema};

use crate::function::{Backend, Operations};
use crate::names;

/// State of a webhook.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = OperatorWebhookStatus)]
pub enum WebhookState {
    /// It has passed no check since its URL was set.
    Pending,
    /// It is called with events.
    Active,
    /// It gets no events.
    Disabled,
}

/// A webhook of a tenant.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorWebhook)]
pub struct OperatorWebhookDocument {
    /// Id of the webhook.
    pub webhook_id: EndpointId,
    /// Host of its URL.
    pub host: String,
    /// Its state.
    pub status: WebhookState,
    /// Why it is disabled; `null` unless it is.
    #[schema(required = true)]
    pub disabled_reason: Option<DisabledReason>,
    /// Time since which it is disabled, in RFC 3339; `null` unless it is.
    #[schema(required = true, format = DateTime)]
    pub disabled_at: Option<String>,
    /// Number of failures since the last accepted event.
    pub failures: u32,
    /// Time of the first of them; `null` if there is none.
    #[schema(required = true, format = DateTime)]
    pub failing_since: Option<String>,
    /// Time until which it is not called, because it has failed repeatedly; `null` unless it has.
    #[schema(required = true, format = DateTime)]
    pub paused_until: Option<String>,
    /// Time of creation, in RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// Webhooks of a tenant.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = OperatorWebhooks)]
pub struct OperatorWebhooksDocument {
    /// The tenant.
    pub tenant: String,
    /// Its webhooks, oldest first.
    #[schema(max_items = 10)]
    pub webhooks: Vec<OperatorWebhookDocument>,
}

/// Query parameters of `GET /api/operations/webhooks`.
#[derive(IntoParams)]
#[into_params(parameter_in = Query)]
#[allow(dead_code, reason = "for the schema only")]
pub(crate) struct OperatorWebhooksQuery {
    /// The tenant.
    #[param(min_length = 1, max_length = 128)]
    tenant: String,
    /// Return healthy webhooks, too.
    #[param(required = false, default = false)]
    all: bool,
}

refusals!(
    /// Refusals of `GET /api/operations/webhooks`.
    operator OperatorWebhooksRefusals: MalformedQuery, InvalidRequest
);

/// Returns the unhealthy webhooks of a tenant.
#[utoipa::path(
    get,
    path = "/api/operations/webhooks",
    operation_id = "listOperatorWebhooks",
    tag = "operations",
    summary = "List the unhealthy webhooks of a tenant.",
    description = include_str!("list.md").trim_ascii_end(),
    params(OperatorWebhooksQuery),
    responses(
        (
            status = 200,
            description = "The webhooks.",
            body = OperatorWebhooksDocument,
            headers(("Cache-Control" = inline(CacheNoStore))),
            example = json!(webhooks_example()),
        ),
        OperatorWebhooksRefusals,
    ),
)]
pub(crate) async fn list<B: Backend>(
    State(function): State<Arc<Operations<B>>>,
    _: Viewer,
    query: QueryText,
) -> Answer {
    let mut errors = Vec::new();
    let tenant = names::tenant(query.get("tenant").unwrap_or_default());
    let tenant = names::parameter("tenant", tenant, &mut errors);
    let all = query.get("all").unwrap_or("false");
    errors.extend((!matches!(all, "true" | "false")).then(bad_all));
    let Some(tenant) = tenant.filter(|_| errors.is_empty()) else { return Err(Problem::invalid(errors).into()) };
    let endpoints = function.ports.store.endpoints(&tenant).await?;
    let shown = endpoints.iter().filter(|endpoint| all == "true" || !is_healthy(endpoint));
    let document = OperatorWebhooksDocument { tenant: tenant.to_string(), webhooks: shown.map(document).collect() };
    Ok(no_store(document))
}

fn is_healthy(endpoint: &Endpoint) -> bool {
    endpoint.state == EndpointState::Active && endpoint.health.failures == 0
}

fn document(endpoint: &Endpoint) -> OperatorWebhookDocument {
    let (status, disabled) = match endpoint.state {
        EndpointState::Pending => (WebhookState::Pending, None),
        EndpointState::Active => (WebhookState::Active, None),
        EndpointState::Disabled { reason, at } => (WebhookState::Disabled, Some((reason, at))),
    };
    OperatorWebhookDocument {
        webhook_id: endpoint.endpoint_id,
        host: host(&endpoint.url).to_owned(),
        status,
        disabled_reason: disabled.map(|(reason, _)| reason),
        disabled_at: disabled.map(|(_, at)| at.to_rfc3339()),
        failures: endpoint.health.failures,
        failing_since: endpoint.health.failing_since.map(Timestamp::to_rfc3339),
        paused_until: endpoint.health.paused_until.map(Timestamp::to_rfc3339),
        created_at: endpoint.created_at.to_rfc3339(),
    }
}

/// Returns the host of a URL, with its port.
fn host(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    authority.rsplit('@').next().unwrap_or_default()
}

fn bad_all() -> FieldError {
    FieldError::new("/all", "invalid_type", "all must be true or false")
}

/// Example: a webhook that was disabled.
fn webhooks_example() -> OperatorWebhooksDocument {
    let endpoint = Endpoint {
        endpoint_id: EndpointId::parse("5b1d7c1e-3c5e-4d1f-8a70-0d6d6d0f5c11").unwrap_or_else(EndpointId::generate),
        state: EndpointState::Disabled { reason: DisabledReason::Gone, at: Timestamp(1_782_896_400_000) },
        ..Endpoint::new(TenantId::from_static("acme"), "https://hooks.example.com/in", Timestamp(1_782_800_000_000))
    };
    OperatorWebhooksDocument { tenant: "acme".to_owned(), webhooks: vec![document(&endpoint)] }
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn only_the_host_of_a_url_is_shown() {
        for (url, expected) in [
            ("https://hooks.example.com/T0/secret", "hooks.example.com"),
            ("https://ann:pass@example.com:8443?token=1", "example.com:8443"),
            ("https://example.com#x@y", "example.com"),
        ] {
            assert_eq!(host(url), expected);
        }
    }
}
