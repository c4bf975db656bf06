//! Transitions from the end of a group to the end of the job.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Stop, Transition};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{PortResult, Queues, Store};
use longshore_domain::timestamp::Timestamp;

use crate::ports::Ports;

/// Records that every item of a group has ended, and requests completion if it was the last group. Idempotent.
///
/// # Errors
/// If a service fails; the next delivery of any of the group's chunks, or the sweeper, records it again.
pub async fn roll_up<S: Store, Q: Queues, F>(
    ports: &Ports<S, Q, F>,
    id: JobId,
    group: u32,
    now: Timestamp,
) -> PortResult<()> {
    match ports.store.group_done(id, group, now).await? {
        Transition::Made(job) => complete_if_done(ports, &job).await,
        Transition::Refused => Ok(()),
    }
}

/// Requests completion if `job`, as returned by a write, shows that the last item has ended. The writes "this group is
/// done" and "the split has ended" change the same record, so the later one always sees both.
///
/// # Errors
/// If the queue fails; the sweeper requests it again.
pub async fn complete_if_done<S, Q: Queues, F>(ports: &Ports<S, Q, F>, job: &Job) -> PortResult<()> {
    if job.all_done() && !job.status.is_final() { request_completion(ports, job).await } else { Ok(()) }
}

/// Stops a generation of a job and requests its completion. Idempotent: the first reason is kept.
///
/// # Errors
/// If a service fails; the sweeper requests the completion of a stopping job.
pub async fn stop_job<S: Store, Q: Queues, F>(ports: &Ports<S, Q, F>, job: &Job, stop: &Stop) -> PortResult<()> {
    match ports.store.stop(job.job_id, job.generation, stop).await? {
        Transition::Made(job) => request_completion(ports, &job).await,
        Transition::Refused => Ok(()),
    }
}

/// Requests the completion of a job's current generation.
///
/// # Errors
/// If the queue fails.
pub async fn request_completion<S, Q: Queues, F>(ports: &Ports<S, Q, F>, job: &Job) -> PortResult<()> {
    ports.queues.send_complete(&CompleteMessage::new(job)).await
}
