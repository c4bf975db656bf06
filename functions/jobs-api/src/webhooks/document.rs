//! Responses about webhooks.

use std::collections::BTreeSet;

use longshore::events::EventDocument;
use longshore_domain::event::EventType;
use longshore_domain::ids::EndpointId;
use longshore_domain::webhook::{
    Attempt, AttemptResult, CheckResult, Delivery, DeliveryState, DisabledReason, Endpoint, EndpointState, JobScope,
};
use serde::Serialize;
use utoipa::ToSchema;

/// A webhook: an endpoint that is called with events.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Webhook)]
pub struct WebhookDocument {
    /// Id of the webhook.
    pub webhook_id: EndpointId,
    /// URL that is called.
    #[schema(format = "uri")]
    pub url: String,
    /// Description for people; empty if there is none.
    pub description: String,
    /// Types of events that it gets; empty for all, including those of later versions.
    pub event_types: BTreeSet<EventType>,
    /// Jobs about which it gets events.
    pub jobs: JobScope,
    /// State of the webhook.
    pub status: WebhookStatus,
    /// Why it is disabled; absent unless it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled_reason: Option<DisabledReason>,
    /// Time since which it is disabled, in RFC 3339; absent unless it is.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub disabled_at: Option<String>,
    /// Time of the first failure since the last accepted event, in RFC 3339; absent if the last one was accepted.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub failing_since: Option<String>,
    /// Time until which it is not called, because it has failed repeatedly, in RFC 3339; absent unless it has. After this time, the
    /// next delivery that is due calls it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub paused_until: Option<String>,
    /// Time until which calls are signed with the previous secret, too, in RFC 3339, also if it has passed; absent
    /// if none was replaced.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub previous_secret_until: Option<String>,
    /// The last check.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub check: Option<CheckDocument>,
    /// Time of creation, in RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// State of a webhook. Only an active one is called with events.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum WebhookStatus {
    /// It has passed no check since its URL was set. It keeps its events, for a day after the last request to check.
    Pending,
    /// It is called with events.
    Active,
    /// It gets no events.
    Disabled,
}

/// A check of a webhook.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookCheck)]
pub struct CheckDocument {
    /// Time of the request to check, in RFC 3339.
    #[schema(format = DateTime)]
    pub requested_at: String,
    /// The result; absent until there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub result: Option<CheckResult>,
}

/// A new webhook, with its secret.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = CreatedWebhook)]
pub struct CreatedWebhookDocument {
    /// The webhook.
    #[serde(flatten)]
    pub webhook: WebhookDocument,
    /// The secret with which calls are signed (Standard Webhooks 1.0). It is shown once.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/=]+$")]
    pub secret: String,
}

/// The webhooks of a tenant.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = Webhooks)]
pub struct WebhooksDocument {
    /// Webhooks, oldest first.
    #[schema(max_items = 10)]
    pub webhooks: Vec<WebhookDocument>,
}

/// A new secret of a webhook.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = WebhookSecret)]
pub struct WebhookSecretDocument {
    /// The secret. It is shown once.
    #[schema(pattern = "^whsec_[A-Za-z0-9+/=]+$")]
    pub secret: String,
    /// Time until which calls are signed with the previous secret, too, in RFC 3339.
    #[schema(format = DateTime)]
    pub previous_until: String,
}

/// A delivery: one event for one webhook.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Delivery)]
pub struct DeliveryDocument {
    /// Id of the delivery.
    #[schema(pattern = "^[0-9]{15}-[A-Za-z0-9-]{1,256}$")]
    pub delivery_id: String,
    /// The event, as it is sent.
    pub event: EventDocument,
    /// State of the delivery.
    pub status: DeliveryStatus,
    /// Number of attempts since the event, or since the last replay.
    pub attempts: u32,
    /// The newest attempts, oldest first.
    pub log: Vec<AttemptDocument>,
    /// Time of the next attempt, in RFC 3339; absent if none is left.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = DateTime)]
    pub next_attempt_at: Option<String>,
    /// Time of creation, in RFC 3339.
    #[schema(format = DateTime)]
    pub created_at: String,
}

/// State of a delivery.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
pub enum DeliveryStatus {
    /// An attempt is left.
    Pending,
    /// The endpoint has accepted the event.
    Delivered,
    /// No attempt is left, or the webhook is disabled.
    Failed,
}

/// An attempt of a delivery.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = DeliveryAttempt)]
pub struct AttemptDocument {
    /// Time of its begin, in RFC 3339.
    #[schema(format = DateTime)]
    pub at: String,
    /// Duration in milliseconds.
    pub ms: u32,
    /// Status of the answer; absent if there was none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// Code of the failure; absent if there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// Description of the failure; absent if there was an answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub detail: Option<String>,
}

/// A page of deliveries.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Deliveries)]
pub struct DeliveriesDocument {
    /// Deliveries, newest first.
    pub deliveries: Vec<DeliveryDocument>,
    /// Cursor of the next page; `null` on the last one.
    #[schema(required = true)]
    pub next_cursor: Option<String>,
}

impl WebhookDocument {
    pub(super) fn new(endpoint: &Endpoint) -> Self {
        let (status, disabled) = match endpoint.state {
            EndpointState::Pending => (WebhookStatus::Pending, None),
            EndpointState::Active => (WebhookStatus::Active, None),
            EndpointState::Disabled { reason, at } => (WebhookStatus::Disabled, Some((reason, at))),
        };
        let check = endpoint.check.as_ref();
        Self {
            webhook_id: endpoint.endpoint_id,
            url: endpoint.url.clone(),
            description: endpoint.description.clone(),
            event_types: endpoint.event_types.clone(),
            jobs: endpoint.jobs,
            status,
            disabled_reason: disabled.map(|(reason, _)| reason),
            disabled_at: disabled.map(|(_, at)| at.to_rfc3339()),
            failing_since: endpoint.health.failing_since.map(|at| at.to_rfc3339()),
            paused_until: endpoint.health.paused_until.map(|at| at.to_rfc3339()),
            previous_secret_until: endpoint.secret.previous_until.map(|at| at.to_rfc3339()),
            check: check
                .map(|check| CheckDocument { requested_at: check.requested_at.to_rfc3339(), result: check.result }),
            created_at: endpoint.created_at.to_rfc3339(),
        }
    }
}

impl DeliveryDocument {
    pub(super) fn new(delivery: &Delivery) -> Self {
        Self {
            delivery_id: delivery.id().to_string(),
            event: EventDocument::new(&delivery.event),
            status: match delivery.state {
                DeliveryState::Pending { .. } => DeliveryStatus::Pending,
                DeliveryState::Delivered { .. } => DeliveryStatus::Delivered,
                DeliveryState::Failed { .. } => DeliveryStatus::Failed,
            },
            attempts: delivery.attempts,
            log: delivery.log.iter().map(AttemptDocument::new).collect(),
            next_attempt_at: delivery.due().map(|at| at.to_rfc3339()),
            created_at: delivery.created_at.to_rfc3339(),
        }
    }
}

impl AttemptDocument {
    fn new(attempt: &Attempt) -> Self {
        let (status, code, detail) = match &attempt.result {
            AttemptResult::Answered { status } => (Some(*status), None, None),
            AttemptResult::Unanswered { code, error } => (None, Some(code.clone()), Some(error.clone())),
        };
        Self { at: attempt.at.to_rfc3339(), ms: attempt.ms, status, code, detail }
    }
}
