//! Example requests and responses about one job type.

use longshore_domain::registration::{BatchSize, RegisteredInput, RegistrationStatus};
use serde_json::{Value, json};

use super::document::{CandidateDocument, JobTypeDocument, JobTypesDocument, TargetDocument};

/// Example: the body of a PUT.
pub(super) fn request() -> Value {
    json!({
        "target": target(),
        "description": "Sends invitations to an event.",
        "optionsSchema": options_schema(),
        "itemSchema": item_schema(),
        "batch": { "items": 50, "timeoutSeconds": 20 },
        "concurrency": 5,
        "itemsPerSecond": 14.0,
    })
}

/// Example: an active job type.
pub(super) fn active() -> JobTypeDocument {
    JobTypeDocument {
        name: "invite".to_owned(),
        status: RegistrationStatus::Active,
        target: Some(target()),
        description: Some("Sends invitations to an event.".to_owned()),
        input: RegisteredInput::File,
        options_schema: Some(options_schema()),
        item_schema: Some(item_schema()),
        output_schema: None,
        batch: BatchSize { items: 50, bytes: 1_048_576, timeout_seconds: 20 },
        concurrency: 5,
        items_per_second: Some(14.0),
        tries: 5,
        max_outage_seconds: 21_600,
        modes: vec!["run".to_owned(), "validate".to_owned()],
        updated_at: "2026-07-01T09:00:02.5Z".to_owned(),
        candidate: None,
    }
}

/// Example: a job type whose handler has not answered a ping yet.
pub(super) fn pending() -> JobTypeDocument {
    let at = "2026-07-01T09:00:00.12Z".to_owned();
    let candidate = CandidateDocument { status: RegistrationStatus::Pending, reason: None, at: at.clone() };
    JobTypeDocument {
        status: RegistrationStatus::Pending,
        modes: Vec::new(),
        updated_at: at,
        candidate: Some(candidate),
        ..active()
    }
}

/// Example: a page of one job type, as a user sees it who is not an operator.
pub(super) fn page() -> JobTypesDocument {
    JobTypesDocument { job_types: vec![JobTypeDocument { target: None, ..active() }], next_cursor: None }
}

fn target() -> TargetDocument {
    let function = "arn:aws:lambda:eu-central-1:123456789012:function:invite:live".to_owned();
    TargetDocument { function: Some(function), url: None }
}

fn options_schema() -> Value {
    let event = json!({ "type": "string", "title": "Event", "maxLength": 80 });
    json!({ "type": "object", "required": ["event"], "properties": { "event": event } })
}

fn item_schema() -> Value {
    let email = json!({ "type": "string", "format": "email" });
    json!({ "type": "object", "required": ["email"], "properties": { "email": email } })
}
