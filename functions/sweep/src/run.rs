//! One sweep: scheduled jobs, schedules, dead letters, overdue deliveries, then every unfinished job.

use longshore::chunk::{ChunkError, DefinitionCache};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{
    DeadLetter, DeadLetters, Files, JobTypes, PortResult, QueueDepth, Queues, Removal, Store, Sweeps,
};
use longshore_domain::timestamp::Timestamp;
use tracing::Instrument;

use crate::decide::decide_dead_split;
use crate::due::DueSweep;
use crate::jobs::{JobSweep, SweepSummary};
use crate::pauses::ReadPauses;
use crate::push::Executor;

/// The sweeper.
pub struct Sweep<S, Q, F, D> {
    /// The services.
    pub ports: Ports<S, Q, F>,
    /// The open dead letters that were read.
    pub dead_letters: D,
    /// Stall time: seconds without progress that are still healthy.
    pub stall_s: i64,
    /// Days until a job expires.
    pub retention_days: i64,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl<S: Store + Removal + Sweeps + JobTypes, Q: Queues + QueueDepth, F: Files, D: DeadLetters> Sweep<S, Q, F, D> {
    /// Sweeps once, until everything is visited or `deadline` is near.
    pub async fn run(&self, deadline: Timestamp) -> SweepSummary {
        let (registry, definitions) = (Registry::default(), DefinitionCache::default());
        let (ports, clock) = (&self.ports, self.clock);
        let executor =
            Executor { ports, registry: &registry, definitions: &definitions, clock, deadline, removal_ms: 0 };
        let mut summary = SweepSummary::default();
        let due = DueSweep { ports, clock, retention_days: self.retention_days };
        due.enqueue_jobs(self.part_of(deadline), &mut summary).await;
        if due.fire_schedules(self.part_of(deadline), &mut summary).await > 0 {
            due.check_schedules(self.part_of(deadline), &mut summary).await;
        }
        if let Err(error) = self.dead_letters(&executor, &mut summary).await {
            summary.record_failure("cannot read the dead letters", &error);
        }
        if let Err(error) = due.send_deliveries(self.part_of(deadline), &mut summary).await {
            summary.record_failure("cannot send messages for overdue deliveries", &error);
        }
        JobSweep::new(executor, self.stall_s).run(&mut summary).await;
        summary
    }

    /// Returns the end of a part of the remaining time: a quarter.
    fn part_of(&self, deadline: Timestamp) -> Timestamp {
        let now = (self.clock)();
        Timestamp(now.0 + deadline.millis_since(now) / 4)
    }

    /// Processes dead letters for up to half of the remaining time, because jobs must be visited too. The others stay in
    /// their queue.
    async fn dead_letters(&self, executor: &Executor<'_, S, Q, F>, summary: &mut SweepSummary) -> PortResult<()> {
        let (now, remaining_ms) = ((self.clock)(), executor.deadline.millis_since((self.clock)()));
        let in_time = || (self.clock)().millis_since(now) < remaining_ms / 2;
        for dead_letter in readable(self.dead_letters.chunks().await?, summary).into_iter().take_while(|_| in_time()) {
            let give_up = async {
                if let Err(error) = executor.give_up_chunk(&dead_letter).await {
                    summary.record_failure("cannot process the dead letter of a chunk", &error);
                }
            };
            give_up.instrument(telemetry::job_span(dead_letter.job_id)).await;
        }
        let mut pauses = ReadPauses::default();
        for dead_letter in readable(self.dead_letters.creates().await?, summary).into_iter().take_while(|_| in_time()) {
            let end_split = async {
                if let Err(error) = self.dead_split(executor, &dead_letter, &mut pauses).await {
                    summary.record_failure("cannot process the dead letter of a split", &error);
                }
            };
            end_split.instrument(telemetry::job_span(dead_letter.job_id)).await;
        }
        // A dead completion need not be read: its job is still unfinished, and the sweep of the jobs requests its
        // completion again.
        Ok(())
    }

    /// Stops the job of a dead split, if a push had no effect and the job is not paused: during a pause, a splitter
    /// acknowledges the pushed message without a step.
    async fn dead_split(
        &self,
        executor: &Executor<'_, S, Q, F>,
        dead_letter: &CreateMessage,
        pauses: &mut ReadPauses,
    ) -> Result<(), ChunkError> {
        let Some(job) = self.ports.store.job(dead_letter.job_id).await? else { return Ok(()) };
        telemetry::record_job(&job);
        let now = (self.clock)();
        let Some(action) = decide_dead_split(&job, dead_letter, now, self.stall_s) else { return Ok(()) };
        if pauses.is_paused(&self.ports.store, &job, now).await? {
            return Ok(());
        }
        executor.act(&job, action).await
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
pub(crate) mod tests;
