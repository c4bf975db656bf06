//! The order in which sweeps visit the unfinished jobs: as many as time allows, without starving any.
//!
//! A sweep continues after the last job of the previous one, and wraps around to the oldest. So every job is visited
//! within a bounded number of sweeps, regardless of the number of jobs. If a sweep does not wrap around, it also visits
//! the newest jobs that may need a push, so that a recently lost job need not wait. Removals of deleted jobs come last,
//! with a reserved share of the time.

use std::collections::BTreeSet;
use std::error::Error;

use longshore::metrics::{self, Metric};
use longshore::telemetry;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{ByAge, Files, JobPosition, PortResult, QueueDepth, Queues, Removal, Store, Sweeps};
use longshore_domain::timestamp::Timestamp;
use tracing::Instrument;

use crate::decide::Action;
use crate::inspector::{InspectedJob, JobInspector};
use crate::push::Executor;

/// Eighths of the time for jobs at which the turn, and then the newest jobs, must end. Removals have the remaining
/// time.
const TURN_EIGHTHS: i64 = 5;
const NEWEST_EIGHTHS: i64 = 6;

/// Maximum number of removals of one sweep: more than time allows, and some megabytes of memory.
const REMOVALS: usize = 500;

/// Result of a sweep.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct SweepSummary {
    /// Unfinished jobs that were visited.
    pub jobs: u32,
    /// Pushes made.
    pub pushes: u32,
    /// Dead letters read.
    pub dead_letters: u32,
    /// Overdue deliveries for which messages were sent.
    pub deliveries: u32,
    /// Scheduled jobs that were put into their queue.
    pub enqueued: u32,
    /// Occurrences of schedules that were recorded, with or without a job.
    pub occurrences: u32,
    /// Jobs, pushes or dead letters that failed; the next sweep retries them.
    pub failures: u32,
}

impl SweepSummary {
    /// Counts a failure, and logs it.
    pub(crate) fn record_failure(&mut self, what: &str, error: &(dyn Error + 'static)) {
        self.failures += 1;
        metrics::count(Metric::SweeperFailures, &[], 1);
        tracing::error!(error = telemetry::chain(error), "{what}");
    }
}

/// End of a sweep's turn.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum TurnEnd {
    /// Every job was visited.
    AllVisited,
    /// Some jobs were not visited.
    Incomplete,
}

/// The progress of a sweep over the jobs.
pub(crate) struct JobSweep<'a, S, Q, F> {
    executor: Executor<'a, S, Q, F>,
    stall_s: i64,
    started: Timestamp,
    inspector: JobInspector,
    seen: BTreeSet<JobId>,
    removable: Vec<Job>,
    /// Time since which the oldest job that was visited waits for its start. A paused job does not count: it would keep
    /// the alarm raised, and so hide a job of others that is stuck.
    waiting_since: Option<Timestamp>,
}

impl<'a, S: Store + Removal + Sweeps, Q: Queues + QueueDepth, F: Files> JobSweep<'a, S, Q, F> {
    pub(crate) fn new(executor: Executor<'a, S, Q, F>, stall_s: i64) -> Self {
        let started = (executor.clock)();
        let parked_until = Timestamp(started.0 + executor.deadline.millis_since(started) / 4);
        let inspector = JobInspector::new(parked_until);
        Self {
            stall_s,
            started,
            inspector,
            executor,
            seen: BTreeSet::new(),
            removable: Vec::new(),
            waiting_since: None,
        }
    }

    /// Returns the time at which the pushes of a job that is visited now must end: after an eighth of the time. The next
    /// sweep makes the others. At the end of a long pause, every group of a job needs one, and other jobs wait.
    fn pushes_until(&self) -> Timestamp {
        let share = self.executor.deadline.millis_since(self.started) / 8;
        Timestamp(((self.executor.clock)().0 + share).min(self.executor.deadline.0))
    }

    /// Returns the time at which this many eighths of the time are over.
    fn by(&self, eighths: i64) -> Timestamp {
        Timestamp(self.started.0 + self.executor.deadline.millis_since(self.started) * eighths / 8)
    }

    /// Visits the jobs until the executor's deadline.
    pub(crate) async fn run(mut self, summary: &mut SweepSummary) {
        let end = self.turn(self.by(TURN_EIGHTHS), summary).await.unwrap_or_else(|error| {
            summary.record_failure("cannot list the unfinished jobs", &error);
            TurnEnd::Incomplete
        });
        if end == TurnEnd::Incomplete
            && let Err(error) = self.newest(self.by(NEWEST_EIGHTHS), summary).await
        {
            summary.record_failure("cannot list the newest jobs", &error);
        }
        if let Some(since) = self.waiting_since {
            metrics::time(Metric::OldestWaitingJob, &[], self.started.millis_since(since));
        }
        self.remove(summary).await;
    }

    /// Continues after the last sweep's position, until it wraps around to that position. The position is stored before
    /// each page, so that the sweep after a crash does not begin with the same jobs.
    async fn turn(&mut self, until: Timestamp, summary: &mut SweepSummary) -> PortResult<TurnEnd> {
        let store = &self.executor.ports.store;
        let start = store.sweep_position().await?;
        let (mut after, mut is_round, mut is_stored) = (start, start.is_none(), start.is_some());
        loop {
            let page = store.unfinished(after, ByAge::OldestFirst).await?;
            let Some(last) = page.last().copied() else {
                if is_round {
                    break;
                }
                (after, is_round) = (None, true);
                continue;
            };
            store.set_sweep_position(Some(last)).await?;
            is_stored = true;
            for position in page {
                // Strictly later, because several jobs can have the same millisecond.
                if is_round && start.is_some_and(|start| position.created_at > start.created_at) {
                    store.set_sweep_position(None).await?;
                    return Ok(TurnEnd::AllVisited);
                }
                if (self.executor.clock)() >= until {
                    store.set_sweep_position(after).await?;
                    return Ok(TurnEnd::Incomplete);
                }
                self.job(position, summary).await;
                after = Some(position);
            }
        }
        if is_stored {
            store.set_sweep_position(None).await?;
        }
        Ok(TurnEnd::AllVisited)
    }

    /// Visits the newest jobs that are old enough to be stalled.
    async fn newest(&mut self, until: Timestamp, summary: &mut SweepSummary) -> PortResult<()> {
        let store = &self.executor.ports.store;
        let created_at = (self.executor.clock)().plus_seconds(-self.stall_s);
        let Some(job_id) = self.seen.first().copied() else { return Ok(()) };
        let mut after = Some(JobPosition { created_at, job_id });
        loop {
            let page = store.unfinished(after, ByAge::NewestFirst).await?;
            let Some(last) = page.last().copied() else { return Ok(()) };
            for position in page {
                if (self.executor.clock)() >= until {
                    return Ok(());
                }
                if !self.seen.contains(&position.job_id) {
                    self.job(position, summary).await;
                }
            }
            after = Some(last);
        }
    }

    /// Visits one job. A failed push affects neither the job's other pushes nor other jobs.
    async fn job(&mut self, position: JobPosition, summary: &mut SweepSummary) {
        summary.jobs += 1;
        self.seen.insert(position.job_id);
        let inspected = self.inspector.inspect(&self.executor, self.stall_s, position.job_id).await;
        let InspectedJob { job, actions, is_paused } = match inspected {
            Ok(Some(needed)) => needed,
            Ok(None) => return,
            Err(error) => return summary.record_failure("cannot read a job", &error),
        };
        if job.status == Status::Waiting && !is_paused {
            let since = job.times.waits_since();
            self.waiting_since = Some(self.waiting_since.map_or(since, |earlier| earlier.min(since)));
        }
        let until = if actions.len() > 1 { self.pushes_until() } else { self.executor.deadline };
        for action in actions {
            if (self.executor.clock)() >= until {
                return;
            }
            if action == Action::Remove {
                if self.removable.len() < REMOVALS {
                    self.removable.push(job.clone());
                }
                continue;
            }
            self.act(&job, action, summary).instrument(telemetry::job_span(job.job_id)).await;
        }
    }

    async fn act(&self, job: &Job, action: Action, summary: &mut SweepSummary) {
        telemetry::record_job(job);
        summary.pushes +=
            u32::from(!matches!(action, Action::RollUp { .. } | Action::MoveEvents | Action::RecordOutage { .. }));
        if let Err(error) = self.executor.act(job, action).await {
            summary.record_failure("cannot push a job", &error);
        }
    }

    /// Removes deleted jobs. A job with many files gets a quarter of the time; the next sweep continues it.
    async fn remove(&mut self, summary: &mut SweepSummary) {
        let remaining_ms = self.executor.deadline.millis_since((self.executor.clock)());
        self.executor.removal_ms = remaining_ms / 4;
        for job in std::mem::take(&mut self.removable) {
            if (self.executor.clock)() >= self.executor.deadline {
                return;
            }
            self.act(&job, Action::Remove, summary).instrument(telemetry::job_span(job.job_id)).await;
        }
    }
}

#[cfg(test)]
#[path = "jobs_tests.rs"]
mod tests;
