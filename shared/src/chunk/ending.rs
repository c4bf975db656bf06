//! From the end of a group to the end of the job.

use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Stop, Transition};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{PortResult, Queues, Store};
use longshore_domain::time_stamp::Timestamp;

use crate::ports::Ports;

/// Says that every item of a group has ended, and asks for completion if it was the last one. Harmless twice.
///
/// # Errors
/// If a service fails; the next delivery of any of the group's chunks, or the sweeper, says it again.
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

/// Asks for completion if the image that a write returned shows the last item ended. Of the writes that say "this
/// group is done" and "the split has ended", all on one item, the later one sees the full picture.
///
/// # Errors
/// If the queue fails; the sweeper asks again.
pub async fn complete_if_done<S, Q: Queues, F>(ports: &Ports<S, Q, F>, job: &Job) -> PortResult<()> {
    if job.all_done() && !job.status.is_final() { ask_for_completion(ports, job).await } else { Ok(()) }
}

/// Tells a generation of a job to stop and asks for its completion. Harmless twice: the first reason stays.
///
/// # Errors
/// If a service fails; the sweeper asks for the completion of a job that is stopping.
pub async fn stop_job<S: Store, Q: Queues, F>(ports: &Ports<S, Q, F>, job: &Job, stop: &Stop) -> PortResult<()> {
    match ports.store.stop(job.job_id, job.generation, stop).await? {
        Transition::Made(job) => ask_for_completion(ports, &job).await,
        Transition::Refused => Ok(()),
    }
}

/// Asks for the completion of a job's present generation.
///
/// # Errors
/// If the queue fails.
pub async fn ask_for_completion<S, Q: Queues, F>(ports: &Ports<S, Q, F>, job: &Job) -> PortResult<()> {
    ports.queues.send_complete(&CompleteMessage::new(job)).await
}
