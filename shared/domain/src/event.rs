//! Events of a tenant's jobs and endpoints.
//!
//! The update that changes the status of a job adds the event to the job, as a pending event: the two cannot diverge.
//! A later transaction moves the pending events to the tenant's list, whose order is the order of the moves. The id of
//! a job's event is job, generation and type; `job.waiting` adds the start of the outage. The id of `endpoint.disabled` is
//! endpoint and time. So an event has one id, regardless of how often it is delivered. The write that disables an endpoint
//! also lists its event.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::ids::{EndpointId, JobId};
use crate::job::{Job, Status};
use crate::outcome::Counts;
use crate::tenant::TenantId;
use crate::timestamp::Timestamp;
use crate::webhook::DisabledReason;

/// Days until an event is removed from the list.
pub const RETENTION_DAYS: i64 = 30;

/// Seconds for which a move may wait until it is sent, after the time with which its events enter the list. A longer one
/// is left to the sweeper.
pub const MOVE_S: u64 = 5;

/// Age in seconds of the newest events in the list. More than [`MOVE_S`] by a margin for a call that is under way, and for
/// clocks that differ: an event that is not listed yet never appears before one that is.
pub const LISTED_AFTER_S: i64 = 30;

/// Maximum number of events that one transaction moves.
pub const MAX_MOVED: usize = 8;

/// The type of an event.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize, utoipa::ToSchema)]
pub enum EventType {
    /// The first item of the generation can be processed.
    #[serde(rename = "job.started")]
    Started,
    /// The job is waiting because the handler of its type is unavailable.
    #[serde(rename = "job.waiting")]
    Waiting,
    /// Every item was processed, and not too many failed.
    #[serde(rename = "job.completed")]
    Completed,
    /// The job ended early, or too many items failed.
    #[serde(rename = "job.failed")]
    Failed,
    /// The client canceled or deleted the job.
    #[serde(rename = "job.canceled")]
    Canceled,
    /// An endpoint of a webhook was disabled, because it is gone or has failed for days.
    #[serde(rename = "endpoint.disabled")]
    EndpointDisabled,
}

impl EventType {
    /// Every type.
    pub const ALL: [Self; 6] =
        [Self::Started, Self::Waiting, Self::Completed, Self::Failed, Self::Canceled, Self::EndpointDisabled];

    /// Returns the name of the type.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Started => "job.started",
            Self::Waiting => "job.waiting",
            Self::Completed => "job.completed",
            Self::Failed => "job.failed",
            Self::Canceled => "job.canceled",
            Self::EndpointDisabled => "endpoint.disabled",
        }
    }

    /// Returns the type of the event for a job that gets this status; `None` for a job that waits.
    pub const fn of_status(status: Status) -> Option<Self> {
        match status {
            Status::Waiting => None,
            Status::Running => Some(Self::Started),
            Status::Completed => Some(Self::Completed),
            Status::Failed => Some(Self::Failed),
            Status::Canceled => Some(Self::Canceled),
        }
    }

    /// Returns the name of the type without `job.`: an id has no full stop.
    fn suffix(self) -> &'static str {
        self.name().trim_start_matches("job.")
    }

    /// Returns the status of the job at the event; `None` if the event is not that of a job.
    pub const fn status(self) -> Option<Status> {
        match self {
            Self::Started | Self::Waiting => Some(Status::Running),
            Self::Completed => Some(Status::Completed),
            Self::Failed => Some(Status::Failed),
            Self::Canceled => Some(Status::Canceled),
            Self::EndpointDisabled => None,
        }
    }

    /// Returns true if the event is the end of a generation of a job.
    pub const fn is_end(self) -> bool {
        matches!(self, Self::Completed | Self::Failed | Self::Canceled)
    }
}

/// An event of a job that is not in the list yet. The job keeps the rest of the event.
#[derive(Copy, Clone, Eq, PartialEq, Ord, PartialOrd, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingEvent {
    /// Generation of the job.
    pub generation: u32,
    /// The type.
    #[serde(rename = "type")]
    pub event_type: EventType,
    /// Time of the change of the status, or of the beginning of the outage.
    pub at: Timestamp,
    /// The final counts, at the end of a generation.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub counts: Option<Counts>,
}

impl PendingEvent {
    /// Creates the event of a start.
    pub const fn started(generation: u32, at: Timestamp) -> Self {
        Self { generation, event_type: EventType::Started, at, counts: None }
    }

    /// Creates the event of a job whose handler has been unavailable since `since`.
    pub const fn waiting(generation: u32, since: Timestamp) -> Self {
        Self { generation, event_type: EventType::Waiting, at: since, counts: None }
    }
}

/// An event in the list of its tenant.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
pub struct Event {
    /// Id of the event.
    pub id: String,
    /// Subject of the event, and its change.
    #[serde(flatten)]
    pub subject: Subject,
}

/// The subject of an event, and its change.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Subject {
    /// A job.
    Job(JobChange),
    /// An endpoint.
    Endpoint(EndpointDisabled),
}

/// A change of a job.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct JobChange {
    /// Id of the job.
    pub job_id: JobId,
    /// Name of the job's type.
    pub job_type: String,
    /// The client's labels of the job; none if it was deleted before the event was listed.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metadata: BTreeMap<String, String>,
    /// The change of the status.
    #[serde(flatten)]
    pub change: PendingEvent,
}

/// The end of deliveries to an endpoint.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct EndpointDisabled {
    /// Id of the endpoint.
    pub endpoint_id: EndpointId,
    /// The client's description of the endpoint.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// The reason.
    pub reason: DisabledReason,
    /// Time of the change.
    pub at: Timestamp,
}

impl Event {
    /// Creates the event of a job from one of its pending events.
    pub fn new(job: &Job, change: PendingEvent) -> Self {
        let outage = if change.event_type == EventType::Waiting { format!("-{}", change.at.0) } else { String::new() };
        Self {
            id: format!("{}-{}-{}{outage}", job.job_id, change.generation, change.event_type.suffix()),
            subject: Subject::Job(JobChange {
                job_id: job.job_id,
                job_type: job.job_type.clone(),
                metadata: if job.is_deleted() { BTreeMap::new() } else { job.metadata.clone() },
                change,
            }),
        }
    }

    /// Creates the event of an endpoint. An endpoint is disabled once in a millisecond.
    pub fn endpoint_disabled(disabled: EndpointDisabled) -> Self {
        Self {
            id: format!("{}-{}-disabled", disabled.endpoint_id, disabled.at.0),
            subject: Subject::Endpoint(disabled),
        }
    }

    /// Returns the type.
    pub const fn event_type(&self) -> EventType {
        match &self.subject {
            Subject::Job(job) => job.change.event_type,
            Subject::Endpoint(_) => EventType::EndpointDisabled,
        }
    }

    /// Returns the change of the event's job; `None` if it is not an event of a job.
    pub const fn job(&self) -> Option<&JobChange> {
        match &self.subject {
            Subject::Job(job) => Some(job),
            Subject::Endpoint(_) => None,
        }
    }

    /// Returns the version of the job at this event. It never falls, and rises with the start and the end of each
    /// generation, so that a receiver can drop an event that is older than what it knows.
    pub const fn version(&self) -> u32 {
        match &self.subject {
            Subject::Job(JobChange { change, .. }) => {
                change.generation.saturating_mul(2).saturating_add(1 + change.event_type.is_end() as u32)
            }
            Subject::Endpoint(_) => 1,
        }
    }
}

/// Returns the events that one transaction moves: the oldest pending events of the job.
pub fn to_move(job: &Job) -> Vec<Event> {
    job.pending_events.iter().take(MAX_MOVED).map(|change| Event::new(job, *change)).collect()
}

/// A position in the list of a tenant: after this event.
#[derive(Clone, Eq, PartialEq, Ord, PartialOrd, Debug)]
pub struct EventPosition {
    /// Time with which the event entered the list.
    pub moved_at: Timestamp,
    /// Version of the job, among the events of the same millisecond.
    pub version: u32,
    /// Id of the event, among those of the same version.
    pub id: String,
}

impl EventPosition {
    /// Returns the position of an event that enters the list at this time.
    pub fn of(event: &Event, moved_at: Timestamp) -> Self {
        Self { moved_at, version: event.version(), id: event.id.clone() }
    }
}

/// The filter of a list of events.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct EventsQuery<'a> {
    /// The tenant.
    pub tenant: &'a TenantId,
    /// Only events after this position.
    pub after: Option<&'a EventPosition>,
    /// Only events that entered the list before this time.
    pub before: Timestamp,
    /// Maximum number of events.
    pub limit: usize,
}

/// An event with its position in the list.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct ListedEvent {
    /// Position of the event.
    pub position: EventPosition,
    /// The event.
    pub event: Event,
}
