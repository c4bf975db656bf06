//! The unfinished jobs in the order in which sweeps visit them: as many as time allows, without starving any.
//!
//! A sweep continues after the last job of the previous one, and wraps around to the oldest. So every job is visited
//! within a bounded number of sweeps, regardless of the number of jobs. If a sweep does not wrap around, it also visits
//! the newest jobs that may need a push: a recently lost job does not wait for its turn. Removals of deleted jobs come
//! last, with a reserved share of the time.

use std::collections::BTreeSet;

use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::ports::{ByAge, Files, JobPosition, PortResult, QueueDepth, Queues, Removal, Store, Sweeps};
use longshore_domain::time_stamp::Timestamp;

use crate::act::Actor;
use crate::decide::Action;
use crate::look::Look;
use crate::swept::Swept;

/// Eighths of the time for jobs at which the turn, and then the newest jobs, must end. Removals have the remaining
/// time.
const TURN_EIGHTHS: i64 = 5;
const NEWEST_EIGHTHS: i64 = 6;

/// Maximum removals that one sweep begins: more than time allows, and some megabytes of memory.
const REMOVALS: usize = 500;

/// The progress of a sweep over the jobs.
pub(crate) struct Walk<'a, S, Q, F> {
    actor: Actor<'a, S, Q, F>,
    stall_s: i64,
    begun: Timestamp,
    look: Look,
    seen: BTreeSet<JobId>,
    removable: Vec<Job>,
}

impl<'a, S: Store + Removal + Sweeps, Q: Queues + QueueDepth, F: Files> Walk<'a, S, Q, F> {
    pub(crate) fn new(actor: Actor<'a, S, Q, F>, stall_s: i64) -> Self {
        let begun = (actor.clock)();
        let parked_until = Timestamp(begun.0 + actor.deadline.millis_since(begun) / 4);
        Self { stall_s, begun, look: Look::new(parked_until), actor, seen: BTreeSet::new(), removable: Vec::new() }
    }

    /// Returns the time at which this many eighths of the time are over.
    fn by(&self, eighths: i64) -> Timestamp {
        Timestamp(self.begun.0 + self.actor.deadline.millis_since(self.begun) * eighths / 8)
    }

    /// Visits the jobs until the actor's deadline.
    pub(crate) async fn run(mut self, swept: &mut Swept) {
        let round = match self.turn(self.by(TURN_EIGHTHS), swept).await {
            Ok(round) => round,
            Err(error) => {
                swept.record_failure("the unfinished jobs cannot be listed", &error);
                false
            }
        };
        if !round && let Err(error) = self.newest(self.by(NEWEST_EIGHTHS), swept).await {
            swept.record_failure("the newest jobs cannot be listed", &error);
        }
        self.remove(swept).await;
    }

    /// Continues after the last sweep's position; returns true if it wraps around to that position. The position is
    /// stored before each page, so that the sweep after a crash does not begin with the same jobs.
    async fn turn(&mut self, until: Timestamp, swept: &mut Swept) -> PortResult<bool> {
        let store = &self.actor.ports.store;
        let begun = store.sweep_position().await?;
        let (mut after, mut is_round, mut is_stored) = (begun, begun.is_none(), begun.is_some());
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
                // Other jobs may have the same millisecond.
                if is_round && begun.is_some_and(|begun| position.created_at > begun.created_at) {
                    store.set_sweep_position(None).await?;
                    return Ok(true);
                }
                if (self.actor.clock)() >= until {
                    store.set_sweep_position(after).await?;
                    return Ok(false);
                }
                self.job(position, swept).await;
                after = Some(position);
            }
        }
        if is_stored {
            store.set_sweep_position(None).await?;
        }
        Ok(true)
    }

    /// Visits the newest jobs that are old enough to be stalled.
    async fn newest(&mut self, until: Timestamp, swept: &mut Swept) -> PortResult<()> {
        let store = &self.actor.ports.store;
        let created_at = (self.actor.clock)().plus_seconds(-self.stall_s);
        let Some(job_id) = self.seen.first().copied() else { return Ok(()) };
        let mut after = Some(JobPosition { created_at, job_id });
        loop {
            let page = store.unfinished(after, ByAge::NewestFirst).await?;
            let Some(last) = page.last().copied() else { return Ok(()) };
            for position in page {
                if (self.actor.clock)() >= until {
                    return Ok(());
                }
                if !self.seen.contains(&position.job_id) {
                    self.job(position, swept).await;
                }
            }
            after = Some(last);
        }
    }

    /// Visits one job. A failed push affects neither the job's other pushes nor other jobs.
    async fn job(&mut self, position: JobPosition, swept: &mut Swept) {
        swept.jobs += 1;
        self.seen.insert(position.job_id);
        let (job, actions) = match self.look.job(&self.actor, self.stall_s, position.job_id).await {
            Ok(Some(needed)) => needed,
            Ok(None) => return,
            Err(error) => return swept.record_failure("a job cannot be looked at", &error),
        };
        for action in actions {
            if (self.actor.clock)() >= self.actor.deadline {
                return;
            }
            if action == Action::Remove {
                if self.removable.len() < REMOVALS {
                    self.removable.push(job.clone());
                }
                continue;
            }
            self.act(&job, action, swept).await;
        }
    }

    async fn act(&self, job: &Job, action: Action, swept: &mut Swept) {
        swept.pushes += u32::from(!matches!(action, Action::RollUp { .. }));
        if let Err(error) = self.actor.act(job, action).await {
            swept.record_failure("a job cannot be pushed", &error);
        }
    }

    /// Removes deleted jobs. A job with many files gets a quarter of the time; the next sweep continues it.
    async fn remove(&mut self, swept: &mut Swept) {
        let left_ms = self.actor.deadline.millis_since((self.actor.clock)());
        self.actor.removal_ms = left_ms / 4;
        for job in std::mem::take(&mut self.removable) {
            if (self.actor.clock)() >= self.actor.deadline {
                return;
            }
            self.act(&job, Action::Remove, swept).await;
        }
    }
}
