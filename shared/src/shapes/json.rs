//! The shapes that serde defines, as JSON.

use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::event::{Event, PendingEvent};
use longshore_domain::history::PreviousVersion;
use longshore_domain::job::Job;
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage, PingMessage, WebhookMessage};
use longshore_domain::operator_log::{ActionResult, LogEntry};
use longshore_domain::ports::Upload;
use longshore_domain::preset::Preset;
use longshore_domain::registration::VersionedRegistration;
use longshore_domain::remote::HandlerState;
use longshore_domain::schedule::{Occurrence, Schedule};
use longshore_domain::webhook::{Delivery, Endpoint};
use longshore_domain::work_file::{Entry, WorkFileHeader};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::golden::{RoundTrip, check};
use crate::receipt::Receipt;
use crate::result::{IndexedSlice, ResultDocument};

/// The shapes, by the names of their golden files.
pub(super) const SHAPES: [(&str, RoundTrip); 25] = [
    ("message-create", json::<CreateMessage>),
    ("message-chunk", json::<ChunkMessage>),
    ("message-complete", json::<CompleteMessage>),
    ("message-ping", json::<PingMessage>),
    ("message-webhook", json::<WebhookMessage>),
    ("item-job", json::<Job>),
    ("item-upload", json::<Upload>),
    ("item-pending-event", json::<PendingEvent>),
    ("item-event", json::<Event>),
    ("item-dead-letter", json::<DeadLetterRecord>),
    ("item-endpoint", json::<Endpoint>),
    ("item-delivery", json::<Delivery>),
    ("item-schedule", json::<Schedule>),
    ("item-occurrence", json::<Occurrence>),
    ("item-preset", json::<Preset>),
    ("item-job-type", json::<VersionedRegistration>),
    ("item-handler-state", json::<HandlerState>),
    ("item-operator-entry", json::<LogEntry>),
    ("item-operator-result", json::<ActionResult>),
    ("file-work-header", json::<WorkFileHeader>),
    ("file-work-entry", json::<Entry>),
    ("file-previous-version", json::<PreviousVersion>),
    ("file-result", json::<ResultDocument>),
    ("file-receipt", json::<Receipt>),
    ("file-results-index", json::<IndexedSlice>),
];

fn json<T: Serialize + DeserializeOwned>(value: &Value) -> Result<Value, String> {
    let read: T = serde_json::from_str(&value.to_string()).map_err(|error| error.to_string())?;
    serde_json::to_value(read).map_err(|error| error.to_string())
}

#[test]
fn values_of_all_versions_are_read_and_those_of_this_version_are_written() {
    check(&SHAPES);
}
