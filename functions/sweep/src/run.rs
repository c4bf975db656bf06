//! One sweep: the dead letters, then every unfinished job.

use longshore::chunk::{ChunkError, KnownJobs};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{DeadLetter, DeadLetters, Files, PortResult, QueueDepth, Queues, Removal, Store, Sweeps};
use longshore_domain::time_stamp::Timestamp;

use crate::act::Actor;
use crate::decide::decide_dead_split;
use crate::jobs::Walk;
use crate::swept::Swept;

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
    pub async fn run(&self, deadline: Timestamp) -> Swept {
        let (registry, known) = (Registry::default(), KnownJobs::default());
        let (ports, clock) = (&self.ports, self.clock);
        let actor = Actor { ports, registry: &registry, known: &known, clock, deadline, removal_ms: 0 };
        let mut swept = Swept::default();
        if let Err(error) = self.dead_letters(&actor, &mut swept).await {
            swept.record_failure("the dead letters cannot be read", &error);
        }
        Walk::new(actor, self.stall_s).run(&mut swept).await;
        swept
    }

    /// Accounts for dead letters in up to half of the remaining time: those left stay in their queue, and jobs must be
    /// visited too.
    async fn dead_letters(&self, actor: &Actor<'_, S, Q, F>, swept: &mut Swept) -> PortResult<()> {
        let (now, left_ms) = ((self.clock)(), actor.deadline.millis_since((self.clock)()));
        let in_time = || (self.clock)().millis_since(now) < left_ms / 2;
        for dead_letter in readable(self.dead_letters.chunks().await?, swept).into_iter().take_while(|_| in_time()) {
            if let Err(error) = actor.give_up_chunk(&dead_letter).await {
                swept.record_failure("a dead chunk cannot be accounted for", &error);
            }
        }
        for dead_letter in readable(self.dead_letters.creates().await?, swept).into_iter().take_while(|_| in_time()) {
            if let Err(error) = self.dead_split(actor, &dead_letter).await {
                swept.record_failure("a dead split cannot be accounted for", &error);
            }
        }
        // A dead completion need not be read: its job is still unfinished, and the sweep of the jobs requests its
        // completion again.
        Ok(())
    }

    async fn dead_split(&self, actor: &Actor<'_, S, Q, F>, dead_letter: &CreateMessage) -> Result<(), ChunkError> {
        let Some(job) = self.ports.store.job(dead_letter.job_id).await? else { return Ok(()) };
        match decide_dead_split(&job, dead_letter, (self.clock)(), self.stall_s) {
            Some(action) => actor.act(&job, action).await,
            None => Ok(()),
        }
    }
}

fn readable<T>(dead_letters: Vec<DeadLetter<T>>, swept: &mut Swept) -> Vec<T> {
    swept.dead_letters += u32::try_from(dead_letters.len()).unwrap_or(u32::MAX);
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
