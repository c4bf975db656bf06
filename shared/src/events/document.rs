//! The form of an event outside of this program, in lists.

use std::collections::BTreeMap;

use longshore_domain::event::{EndpointDisabled, Event, EventType, JobChange, Subject};
use longshore_domain::ids::{EndpointId, JobId};
use longshore_domain::job::Status;
use longshore_domain::outcome::Counts;
use longshore_domain::webhook::DisabledReason;
use serde::Serialize;
use utoipa::ToSchema;

/// An event. It says what has changed, and where to read more.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[schema(as = Event)]
pub struct EventDocument {
    /// Id of the event: the same in every list and every delivery.
    #[schema(pattern = "^[A-Za-z0-9_-]{1,256}$", examples("019817a2-0b7c-7a3e-9d54-3a1f6c0e8b12-0-completed"))]
    pub id: String,
    /// Type of the event.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// Time of the change, in RFC 3339. That of `job.waiting` is the beginning of the outage.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// The job; of `endpoint.disabled`, the webhook.
    pub data: EventData,
}

/// The subject of an event, at the time of the event.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(untagged)]
pub enum EventData {
    /// A job.
    Job(JobEventData),
    /// A webhook.
    Endpoint(EndpointEventData),
}

/// The webhook whose endpoint was disabled, of an event `endpoint.disabled`.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EndpointEventData {
    /// Id of the webhook.
    pub webhook_id: EndpointId,
    /// Description from the request that created or changed the webhook; empty if there is none.
    pub description: String,
    /// Reason why it was disabled.
    pub reason: DisabledReason,
    /// Paths of related resources.
    pub links: EndpointEventLinks,
}

/// Paths of the resources of an event `endpoint.disabled`.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct EndpointEventLinks {
    /// Path of the webhook.
    #[schema(format = "uri-reference")]
    pub webhook: String,
}

/// The job of an event, at the time of the event.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobEventData {
    /// Id of the job.
    pub job_id: JobId,
    /// Name of the job type.
    pub job_type: String,
    /// Labels from the request that created the job; `{}` if there are none.
    pub metadata: BTreeMap<String, String>,
    /// Number of retries before this run of the job.
    pub generation: u32,
    /// Rises with each start and each end of a run of the job. The order of deliveries is undefined: a receiver can ignore an event whose version
    /// is lower than one that it has processed.
    #[schema(minimum = 1)]
    pub version: u32,
    /// Status of the job.
    pub status: Status,
    /// Items by outcome; absent unless the job has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub counts: Option<EventCounts>,
    /// Paths of related resources.
    pub links: EventLinks,
}

/// Items of a job that has ended, by outcome. Those of a job that ended early are fewer than its items.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct EventCounts {
    /// Items that succeeded.
    pub succeeded: u64,
    /// Items that failed.
    pub failed: u64,
    /// Items that were skipped.
    pub skipped: u64,
}

/// Paths of the resources of an event.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct EventLinks {
    /// Path of the job.
    #[schema(format = "uri-reference")]
    pub job: String,
    /// Path of the result; absent unless the job has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(format = "uri-reference")]
    pub output: Option<String>,
}

impl EventDocument {
    /// Creates the document of an event.
    pub fn new(event: &Event) -> Self {
        let (at, data) = match &event.subject {
            Subject::Job(of_job) => (of_job.change.at, EventData::Job(JobEventData::new(of_job, event.version()))),
            Subject::Endpoint(disabled) => (disabled.at, EventData::Endpoint(EndpointEventData::new(disabled))),
        };
        Self { id: event.id.clone(), event_type: event.event_type(), timestamp: at.to_rfc3339(), data }
    }
}

impl JobEventData {
    fn new(of_job: &JobChange, version: u32) -> Self {
        let (change, job) = (&of_job.change, format!("/api/jobs/{}", of_job.job_id));
        let output = change.counts.map(|_| format!("{job}/output"));
        let counts =
            change.counts.map(|Counts { succeeded, failed, skipped }| EventCounts { succeeded, failed, skipped });
        Self {
            job_id: of_job.job_id,
            job_type: of_job.job_type.clone(),
            metadata: of_job.metadata.clone(),
            generation: change.generation,
            version,
            status: change.event_type.status().unwrap_or(Status::Running),
            counts,
            links: EventLinks { job, output },
        }
    }
}

impl EndpointEventData {
    fn new(disabled: &EndpointDisabled) -> Self {
        Self {
            webhook_id: disabled.endpoint_id,
            description: disabled.description.clone(),
            reason: disabled.reason,
            links: EndpointEventLinks { webhook: format!("/api/webhooks/{}", disabled.endpoint_id) },
        }
    }
}
