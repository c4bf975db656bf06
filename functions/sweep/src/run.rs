//! One sweep: the dead letters, then every unfinished job.

use futures::stream::{self, StreamExt};
use longshore::chunk::{ChunkError, DefinitionCache};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::ids::JobId;
use longshore_domain::job::Transition;
use longshore_domain::message::{CreateMessage, WebhookMessage};
use longshore_domain::ports::{DeadLetter, DeadLetters, Files, PortResult, QueueDepth, Queues, Removal, Store, Sweeps};
use longshore_domain::timestamp::Timestamp;

use crate::decide::decide_dead_split;
use crate::jobs::{JobSweep, SweepSummary};
use crate::push::Executor;

/// Seconds after which a delivery is overdue: its message has had the time to be processed.
const OVERDUE_S: i64 = 60;

/// Number of messages about webhooks to which a sweep fills their queue: the calls of SQS take some four seconds. While
/// the queue is not emptied, no more are sent, so that an outage does not multiply them.
const QUEUED_DELIVERIES: u64 = 2_000;

/// Number of scheduled jobs that are read at once.
const DUE_JOBS: usize = 500;

/// Number of scheduled jobs that are put into their queue at the same time.
const CONCURRENT_JOBS: usize = 16;

/// The sweeper.
pub struct Sweep<S, Q, F, D> {
    /// The services.
    pub ports: Ports<S, Q, F>,
    /// The open dead letters that were read.
    pub dead_letters: D,
    /// Stall time: seconds without progress that are still healthy.
    pub stall_s: i64,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl<S: Store + Removal + Sweeps, Q: Queues + QueueDepth, F: Files, D: DeadLetters> Sweep<S, Q, F, D> {
    /// Sweeps once, until everything is visited or `deadline` is near.
    pub async fn run(&self, deadline: Timestamp) -> SweepSummary {
        let (registry, definitions) = (Registry::default(), DefinitionCache::default());
        let (ports, clock) = (&self.ports, self.clock);
        let executor =
            Executor { ports, registry: &registry, definitions: &definitions, clock, deadline, removal_ms: 0 };
        let mut summary = SweepSummary::default();
        if let Err(error) = self.enqueue_due(&executor, &mut summary).await {
            summary.record_failure("cannot read the scheduled jobs", &error);
        }
        if let Err(error) = self.dead_letters(&executor, &mut summary).await {
            summary.record_failure("cannot read the dead letters", &error);
        }
        if let Err(error) = self.deliveries(&mut summary).await {
            summary.record_failure("cannot send messages for overdue deliveries", &error);
        }
        JobSweep::new(executor, self.stall_s).run(&mut summary).await;
        summary
    }

    /// Processes dead letters for up to half of the remaining time, because jobs must be visited too. The others stay in
    /// their queue.
    async fn dead_letters(&self, executor: &Executor<'_, S, Q, F>, summary: &mut SweepSummary) -> PortResult<()> {
        let (now, remaining_ms) = ((self.clock)(), executor.deadline.millis_since((self.clock)()));
        let in_time = || (self.clock)().millis_since(now) < remaining_ms / 2;
        for dead_letter in readable(self.dead_letters.chunks().await?, summary).into_iter().take_while(|_| in_time()) {
            if let Err(error) = executor.give_up_chunk(&dead_letter).await {
                summary.record_failure("cannot process the dead letter of a chunk", &error);
            }
        }
        for dead_letter in readable(self.dead_letters.creates().await?, summary).into_iter().take_while(|_| in_time()) {
            if let Err(error) = self.dead_split(executor, &dead_letter).await {
                summary.record_failure("cannot process the dead letter of a split", &error);
            }
        }
        // A dead completion need not be read: its job is still unfinished, and the sweep of the jobs requests its
        // completion again.
        Ok(())
    }

    /// Sends messages for deliveries whose attempt is overdue: those whose wait is longer than the delay of a queue,
    /// and those whose message was lost. Tenants take turns. A message that waits in a long queue gets a duplicate, which
    /// is harmless.
    async fn deliveries(&self, summary: &mut SweepSummary) -> PortResult<()> {
        let waiting = self.ports.queues.webhooks().await?;
        let room = usize::try_from(QUEUED_DELIVERIES.saturating_sub(waiting)).unwrap_or(usize::MAX);
        if room == 0 {
            tracing::warn!(waiting, "the queue of webhooks is not emptied: no message is sent for overdue deliveries");
            return Ok(());
        }
        let before = (self.clock)().plus_seconds(-OVERDUE_S);
        let due = self.ports.store.due_deliveries(before, room).await?;
        summary.deliveries = u32::try_from(due.len()).unwrap_or(u32::MAX);
        let messages: Vec<_> = due.into_iter().map(|delivery| WebhookMessage::Deliver { delivery }).collect();
        if messages.is_empty() { Ok(()) } else { self.ports.queues.send_webhooks(&messages, 0).await }
    }

    /// Puts scheduled jobs whose time has come into their queue, for up to a quarter of the time. A job whose message is lost
    /// is unfinished by then, and the sweep of the jobs sends another one.
    async fn enqueue_due(&self, executor: &Executor<'_, S, Q, F>, summary: &mut SweepSummary) -> PortResult<()> {
        let until = (self.clock)().0 + executor.deadline.millis_since((self.clock)()) / 4;
        while (self.clock)().0 < until {
            let due = self.ports.store.due_jobs((self.clock)(), DUE_JOBS).await?;
            let is_last = due.len() < DUE_JOBS;
            let calls = due.into_iter().map(|id| self.enqueue(id));
            let results: Vec<_> = stream::iter(calls).buffer_unordered(CONCURRENT_JOBS).collect().await;
            let mut has_failed = false;
            for result in results {
                match result {
                    Ok(was_enqueued) => summary.enqueued += u32::from(was_enqueued),
                    Err(error) => {
                        has_failed = true;
                        summary.record_failure("cannot put a scheduled job into its queue", &error);
                    }
                }
            }
            // The index may lag, and list the same jobs again.
            if is_last || has_failed {
                break;
            }
        }
        Ok(())
    }

    /// Puts a scheduled job into its queue. Returns false if another call has done so, or if the job was stopped.
    async fn enqueue(&self, id: JobId) -> PortResult<bool> {
        let Some(job) = self.ports.store.job(id).await? else { return Ok(false) };
        let Transition::Made(job) = self.ports.store.enqueue(&job, (self.clock)()).await? else { return Ok(false) };
        self.ports.send_create(&job).await;
        Ok(true)
    }

    async fn dead_split(
        &self,
        executor: &Executor<'_, S, Q, F>,
        dead_letter: &CreateMessage,
    ) -> Result<(), ChunkError> {
        let Some(job) = self.ports.store.job(dead_letter.job_id).await? else { return Ok(()) };
        match decide_dead_split(&job, dead_letter, (self.clock)(), self.stall_s) {
            Some(action) => executor.act(&job, action).await,
            None => Ok(()),
        }
    }
}

fn readable<T>(dead_letters: Vec<DeadLetter<T>>, summary: &mut SweepSummary) -> Vec<T> {
    summary.dead_letters += u32::try_from(dead_letters.len()).unwrap_or(u32::MAX);
    let read = dead_letters.into_iter().filter_map(|dead_letter| match dead_letter {
        Ok(dead_letter) => Some(dead_letter),
        Err(unreadable) => {
            tracing::warn!(
                message.id = unreadable.message_id,
                reason = unreadable.reason,
                "a dead letter is unreadable"
            );
            None
        }
    });
    read.collect()
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;

#[cfg(test)]
#[path = "deliveries_tests.rs"]
mod deliveries_tests;
