//! Examples of requests and responses.

use longshore_domain::event::{Event, EventType, PendingEvent};
use longshore_domain::ids::{EndpointId, JobId};
use longshore_domain::job::Job;
use longshore_domain::outcome::Counts;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Attempt, AttemptResult, Check, CheckResult, Delivery, Endpoint, EndpointState};
use serde_json::{Value, json};
use uuid::Uuid;

use super::document::{
    CreatedWebhookDocument, DeliveriesDocument, DeliveryDocument, WebhookDocument, WebhooksDocument,
};

const AT: Timestamp = Timestamp(1_782_896_405_000);
const ID: u128 = 0x0198_17a2_0b7c_4a3e_9d54_3a1f_6c0e_8b12;

pub(super) fn request() -> Value {
    json!({ "url": "https://example.com/hooks/longshore", "eventTypes": ["job.completed", "job.failed"] })
}

fn endpoint(state: EndpointState, result: Option<CheckResult>) -> Endpoint {
    Endpoint {
        endpoint_id: EndpointId(Uuid::from_u128(ID)),
        event_types: [EventType::Completed, EventType::Failed].into(),
        state,
        check: Some(Check { challenge: String::new(), requested_at: AT, begins_at: None, result }),
        ..Endpoint::new(TenantId::from_static("default"), "https://example.com/hooks/longshore", AT)
    }
}

pub(super) fn created() -> CreatedWebhookDocument {
    let webhook = WebhookDocument::new(&endpoint(EndpointState::Pending, None));
    CreatedWebhookDocument { webhook, secret: "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw".to_owned() }
}

pub(super) fn webhook() -> WebhookDocument {
    WebhookDocument::new(&endpoint(EndpointState::Active, Some(CheckResult::Passed)))
}

pub(super) fn webhooks() -> WebhooksDocument {
    WebhooksDocument { webhooks: vec![webhook()] }
}

pub(super) fn delivery() -> DeliveryDocument {
    let mut job = Job::waiting(JobId(Uuid::from_u128(ID)), TenantId::from_static("default"), "import", AT);
    job.times.expires_at = i64::MAX;
    let counts = Some(Counts { succeeded: 981, failed: 19, skipped: 0 });
    let change = PendingEvent { generation: 0, event_type: EventType::Completed, at: AT, counts };
    let endpoint = endpoint(EndpointState::Active, None);
    let mut delivery = Delivery::new(&endpoint, Event::new(&job, change), AT, job.times.expires_at);
    let attempt = Attempt { at: AT, ms: 184, result: AttemptResult::Answered { status: 503 } };
    delivery.record(0, attempt, None, 0.0);
    DeliveryDocument::new(&delivery)
}

pub(super) fn deliveries() -> DeliveriesDocument {
    DeliveriesDocument { deliveries: vec![delivery()], next_cursor: None }
}
