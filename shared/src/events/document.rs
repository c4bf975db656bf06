//! The form of an event outside of this program, in lists.

use std::collections::BTreeMap;

use longshore_domain::event::{Event, EventType};
use longshore_domain::ids::JobId;
use longshore_domain::job::Status;
use longshore_domain::outcome::Counts;
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
    /// Time of the change, in RFC 3339.
    #[schema(format = DateTime)]
    pub timestamp: String,
    /// The job.
    pub data: EventData,
}

/// The job of an event, at the time of the event.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct EventData {
    /// Id of the job.
    pub job_id: JobId,
    /// Name of the job type.
    pub job_type: String,
    /// Labels from the request that created the job; `{}` if there are none.
    pub metadata: BTreeMap<String, String>,
    /// Number of retries before this run of the job.
    pub generation: u32,
    /// Rises with each event of the job. The order of deliveries is undefined: a receiver can ignore an event whose version
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
        let (change, job) = (&event.change, format!("/api/jobs/{}", event.job_id));
        let output = change.counts.map(|_| format!("{job}/output"));
        let counts =
            change.counts.map(|Counts { succeeded, failed, skipped }| EventCounts { succeeded, failed, skipped });
        Self {
            id: event.id.clone(),
            event_type: change.event_type,
            timestamp: change.at.to_rfc3339(),
            data: EventData {
                job_id: event.job_id,
                job_type: event.job_type.clone(),
                metadata: event.metadata.clone(),
                generation: change.generation,
                version: event.version(),
                status: change.event_type.status(),
                counts,
                links: EventLinks { job, output },
            },
        }
    }
}
