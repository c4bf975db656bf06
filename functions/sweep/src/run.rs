//! One sweep: the dead letters, then every unfinished job.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;

use longshore::chunk::{ChunkError, KnownJobs, stop_job};
use longshore::handler::Registry;
use longshore::ports::Ports;
use longshore::queues::{Backlog, DeadLetter, DeadLetters};
use longshore::telemetry;
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, JobError, Priority, Status, Stop};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Files, PortResult, Queues, Removal, Store};
use longshore_domain::time_stamp::Timestamp;

use crate::act::Actor;
use crate::decide::{Action, Circumstances, decide};
use crate::gates::Gates;

/// The sweeper.
pub struct Sweep<S, Q, F, D> {
    /// The services.
    pub ports: Ports<S, Q, F>,
    /// The dead-letter queues.
    pub dead_letters: D,
    /// Seconds without progress that are still healthy.
    pub stall_s: i64,
    /// The time.
    pub clock: fn() -> Timestamp,
}

/// What a sweep did.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Default)]
pub struct Swept {
    /// Unfinished jobs that were looked at.
    pub jobs: u32,
    /// Pushes given.
    pub pushes: u32,
    /// Dead letters read.
    pub dead_letters: u32,
    /// Jobs, pushes or letters that failed; the next sweep tries them again.
    pub failures: u32,
}

impl<S: Store + Removal, Q: Queues + Backlog, F: Files, D: DeadLetters> Sweep<S, Q, F, D> {
    /// Sweeps once, until all is seen or `deadline` is near.
    pub async fn run(&self, deadline: Timestamp) -> Swept {
        let (registry, known) = (Registry::default(), KnownJobs::default());
        let actor = Actor { ports: &self.ports, registry: &registry, known: &known, clock: self.clock, deadline };
        let mut swept = Swept::default();
        if let Err(error) = self.dead_letters(&actor, &mut swept).await {
            note(&mut swept, "the dead letters cannot be read", &error);
        }
        if let Err(error) = self.jobs(&actor, &mut swept).await {
            note(&mut swept, "the unfinished jobs cannot be listed", &error);
        }
        swept
    }

    /// For half of the time that is left: what lies here stays, and jobs have to be looked at.
    async fn dead_letters(&self, actor: &Actor<'_, S, Q, F>, swept: &mut Swept) -> PortResult<()> {
        let (now, left_ms) = ((self.clock)(), actor.deadline.millis_since((self.clock)()));
        let in_time = || (self.clock)().millis_since(now) < left_ms / 2;
        for letter in readable(self.dead_letters.chunks().await?, swept).into_iter().take_while(|_| in_time()) {
            if let Err(error) = actor.give_up_chunk(&letter).await {
                note(swept, "a dead chunk cannot be accounted for", &error);
            }
        }
        for letter in readable(self.dead_letters.creates().await?, swept).into_iter().take_while(|_| in_time()) {
            self.fail_split(&letter).await?;
        }
        // A dead completion needs no reading: its job is still unfinished, and the sweep below asks for it again.
        Ok(())
    }

    /// The splitter died or failed over this job too often. Harmless for a job that has ended.
    async fn fail_split(&self, letter: &CreateMessage) -> PortResult<()> {
        let Some(job) = self.ports.store.job(letter.job_id).await? else { return Ok(()) };
        if job.generation != letter.generation || job.split_ended {
            return Ok(());
        }
        let message = "the file could not be split: the splitter died or failed again and again";
        let error = Some(JobError::new("split_failed", message));
        stop_job(&self.ports, &job, &Stop { status: Status::Failed, error, at: (self.clock)() }).await
    }

    async fn jobs(&self, actor: &Actor<'_, S, Q, F>, swept: &mut Swept) -> PortResult<()> {
        let idle = self.idle_queues().await?;
        let (mut gates, mut after) = (Gates::default(), None);
        loop {
            let page = self.ports.store.unfinished(after).await?;
            for id in page.items {
                if (self.clock)() >= actor.deadline {
                    return Ok(());
                }
                swept.jobs += 1;
                if let Err(error) = self.job(actor, id, (&idle, &mut gates), swept).await {
                    note(swept, "a job cannot be pushed", &error);
                }
            }
            after = page.next;
            if after.is_none() {
                return Ok(());
            }
        }
    }

    /// The priorities of which no chunk waits or is worked.
    async fn idle_queues(&self) -> PortResult<BTreeSet<Priority>> {
        let mut idle = BTreeSet::new();
        for priority in Priority::ALL {
            if self.ports.queues.chunks(priority).await? == 0 {
                idle.insert(priority);
            }
        }
        Ok(idle)
    }

    async fn job(
        &self,
        actor: &Actor<'_, S, Q, F>,
        id: JobId,
        (idle, gates): (&BTreeSet<Priority>, &mut Gates),
        swept: &mut Swept,
    ) -> Result<(), ChunkError> {
        let Some((mut groups, mut job)) = self.ports.store.progress(id).await? else { return Ok(()) };
        if gates.look(&self.ports, &job.job_type, (self.clock, actor.deadline)).await {
            // A chunk that was called in between the two reads would seem to be still.
            let Some(progress) = self.ports.store.progress(id).await? else { return Ok(()) };
            (groups, job) = progress;
        }
        groups.retain(|group| job.owns(group.number));
        let queue_idle = idle.contains(&job.priority);
        let (waiting, known) = gates.waiting(&job.job_type, id).map_or_else(Default::default, |places| (places, true));
        let at = Circumstances { now: (self.clock)(), stall_s: self.stall_s, queue_idle, waiting: &waiting };
        let chunks = self.chunk_counts(&job, &groups, &at).await?;
        for action in decide(&job, &groups, |group| chunks.get(&group).copied().unwrap_or(0), &at) {
            // A chunk that may be waiting at its gate is neither lost nor dead.
            if !known && matches!(action, Action::SendChunks { .. } | Action::GiveUp { .. }) {
                continue;
            }
            swept.pushes += u32::from(!matches!(action, Action::RollUp { .. }));
            actor.act(&job, action).await?;
        }
        Ok(())
    }

    /// How many chunks each still group has; only those need their manifest read.
    async fn chunk_counts(
        &self,
        job: &Job,
        groups: &[Group],
        at: &Circumstances<'_>,
    ) -> PortResult<BTreeMap<u32, u32>> {
        let still = |g: &&Group| !g.is_done() && at.now >= g.progressed_at.plus_seconds(at.stall_s);
        let mut counts = BTreeMap::new();
        for group in groups.iter().filter(still) {
            if let Some(manifest) = self.ports.store.manifest(job.job_id, group.number).await? {
                counts.insert(group.number, u32::try_from(manifest.chunks.len()).unwrap_or(u32::MAX));
            }
        }
        Ok(counts)
    }
}

fn readable<T>(letters: Vec<DeadLetter<T>>, swept: &mut Swept) -> Vec<T> {
    swept.dead_letters += u32::try_from(letters.len()).unwrap_or(u32::MAX);
    let read = letters.into_iter().filter_map(|letter| match letter {
        Ok(letter) => Some(letter),
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

fn note(swept: &mut Swept, what: &str, error: &(dyn Error + 'static)) {
    swept.failures += 1;
    tracing::error!(error = telemetry::chain(error), "{what}");
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
