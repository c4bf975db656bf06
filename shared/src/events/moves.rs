//! The move of a job's pending events to the list of its tenant.

use longshore_domain::event::to_move;
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{Busy, EventsMoved, PortError, PortResult, Queues, Store};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Delivery, deliveries};

use crate::ports::Ports;
use crate::telemetry;
use crate::webhooks::send_later;

/// Maximum number of transactions for one job: more than a job has events in the usual case. The sweeper moves the others.
const ATTEMPTS: usize = 4;

/// Seconds that a move takes at most, unless the table is slow: then a function that is killed loses nothing.
const USUAL_S: i64 = 1;

/// Moves all pending events of a job, which was read or written a moment ago, and sends messages for their deliveries.
///
/// # Errors
/// If the store fails, or the job changes again and again; the sweeper moves the events.
pub async fn move_events<S: Store, Q: Queues, F>(
    ports: &Ports<S, Q, F>,
    job: &Job,
    clock: fn() -> Timestamp,
) -> PortResult<()> {
    let (store, mut job) = (&ports.store, job.clone());
    if job.pending_events.is_empty() {
        return Ok(());
    }
    let endpoints = store.endpoints(&job.tenant).await?;
    for _ in 0..ATTEMPTS {
        let events = to_move(&job);
        if events.is_empty() {
            return Ok(());
        }
        // Each attempt has its own time, because the list is ordered by it.
        let now = clock();
        let deliveries = deliveries(&job, &events, &endpoints, now);
        job = match store.move_events(&job, &deliveries, now).await? {
            EventsMoved::Moved => {
                let keys: Vec<_> = deliveries.iter().map(Delivery::key).collect();
                send_later(&ports.queues, &keys, 0).await;
                match job.clone().events_moved(&job, &events) {
                    Transition::Made(job) => *job,
                    Transition::Refused => return Ok(()),
                }
            }
            EventsMoved::Changed => match store.job(job.job_id).await? {
                Some(job) => job,
                None => return Ok(()),
            },
        };
    }
    let source = Busy("the job has changed at every attempt".into());
    Err(PortError { service: "store", operation: "move_events", source: source.into() })
}

/// Moves all pending events of a job after its status has changed, unless too little time is left. A failure is only
/// logged, because the sweeper moves the events.
pub async fn move_events_now<S: Store, Q: Queues, F>(
    ports: &Ports<S, Q, F>,
    job: &Job,
    clock: fn() -> Timestamp,
    deadline: Timestamp,
) {
    if clock().plus_seconds(USUAL_S) >= deadline {
        return;
    }
    if let Err(error) = move_events(ports, job, clock).await {
        let error = telemetry::chain(&error);
        tracing::warn!(job.id = %job.job_id, error, "cannot move the events of a job; the sweeper will move them");
    }
}
