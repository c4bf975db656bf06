//! The events of tenants.

use std::future::Future;

use super::PortResult;
use crate::event::{EventsQuery, ListedEvent};
use crate::job::Job;
use crate::timestamp::Timestamp;
use crate::webhook::Delivery;

/// The outcome of a move of a job's events.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
#[must_use]
pub enum EventsMoved {
    /// The events are in the list.
    Moved,
    /// The job has changed since it was read: the caller reads it again.
    Changed,
}

/// The lists of events, one for each tenant.
pub trait Events: Send + Sync {
    /// Moves the oldest pending events of a job, as it was read, to the list of its tenant, in one transaction; see
    /// [`to_move`](crate::event::to_move) and [`Job::events_moved`]. A job that is finished leaves the index of the
    /// sweeper with its last event. The events enter the list with the time `now`, and `deliveries` of them, made at the
    /// same time, are stored. Fails if there is no answer within [`MOVE_S`](crate::event::MOVE_S) seconds; the events may
    /// be listed.
    fn move_events(
        &self,
        job: &Job,
        deliveries: &[Delivery],
        now: Timestamp,
    ) -> impl Future<Output = PortResult<EventsMoved>> + Send;
    /// Lists events of a tenant, in the order in which they entered the list. Reads consistently.
    fn events(&self, query: &EventsQuery<'_>) -> impl Future<Output = PortResult<Vec<ListedEvent>>> + Send;
}
