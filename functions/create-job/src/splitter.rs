//! The splitter: its services, and the writes that are common to the split of a file and of a retry.

use longshore::chunk::{complete_if_done, roll_up, stop_job};
use longshore::handler::Registry;
use longshore::job_types::{export, import, learnt_preset};
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::group::{ChunkPlan, GroupPlan};
use longshore_domain::job::{Job, JobError, Preparation, SourceFile, Status, Stop, Transition};
use longshore_domain::message::CreateMessage;
use longshore_domain::ports::{Files, PortResult, Queues, Store};
use longshore_domain::preset::LearntFrom;
use longshore_domain::timestamp::Timestamp;

use crate::group_builder::messages;
use crate::outcome::{Halt, SplitEnd};

/// Maximum number of chunks whose work files are read concurrently, to hide the bucket's latency.
pub(crate) const CONCURRENT_CHUNKS: usize = 8;

/// Splits one job.
pub struct Splitter<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// Job types, with their limits and column checks.
    pub registry: &'a Registry,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

/// A turn of a splitter.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(crate) struct Turn {
    /// Time after which it ends at the next group.
    pub(crate) ends: Timestamp,
    /// Time when the function's time is nearly over.
    pub(crate) deadline: Timestamp,
}

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Stops the job with this error, and returns the end of the split.
    pub(crate) async fn fail(&self, job: &Job, error: JobError) -> Halt {
        let stop = Stop { status: Status::Failed, error: Some(error), at: (self.clock)() };
        match stop_job(self.ports, job, &stop).await {
            Ok(()) => Halt::End(SplitEnd::Failed),
            Err(error) => Halt::Error(error.into()),
        }
    }

    /// Commits the group in one transaction, and only then sends its messages.
    pub(crate) async fn commit<'b>(
        &self,
        job: &Job,
        plan: &GroupPlan,
        bytes: impl Fn(&ChunkPlan) -> Option<&'b [u8]>,
    ) -> Result<Job, Halt> {
        let committed = match self.ports.store.commit_group(job, plan, (self.clock)()).await? {
            Transition::Made(job) => *job,
            Transition::Refused => return Err(Halt::Refused),
        };
        self.ports.queues.send_chunks(&messages(job, &plan.manifest, bytes), 0).await?;
        Ok(committed)
    }

    /// Records that a group without items is done: no worker does. Idempotent.
    pub(crate) async fn end_empty_group(&self, job: &Job, group: u32) -> Result<(), Halt> {
        Ok(roll_up(self.ports, job.job_id, group, (self.clock)()).await?)
    }

    /// Sends the job to `prepare`, because this file must be converted first, and returns the end of the split. A
    /// repeated message is as harmless as a repeated delivery: only one prepared file replaces the uploaded one. The
    /// record that the job waits keeps the sweeper from giving it up; it is refused if there is one, or progress.
    pub(crate) async fn send_to_prepare(&self, job: &Job, file: &SourceFile, message: &CreateMessage) -> Halt {
        let waiting = Preparation::waiting(file);
        if let Err(error) = self.ports.store.record_preparation(job, file, waiting, (self.clock)()).await {
            return Halt::Error(error.into());
        }
        let message = CreateMessage { resend: message.resend, ..CreateMessage::new(job) };
        match self.ports.queues.send_prepare(&message).await {
            Ok(()) => Halt::End(SplitEnd::Preparing),
            Err(error) => Halt::Error(error.into()),
        }
    }

    /// Sends a continuation, because the function's time is nearly over.
    pub(crate) async fn send_continuation(&self, job: &Job, groups: u32) -> Result<SplitEnd, Halt> {
        let message = CreateMessage { position: groups, ..CreateMessage::new(job) };
        self.ports.queues.send_create(&message).await?;
        Ok(SplitEnd::Continued)
    }

    /// Stores the mapping of the job as a preset of its dataset. The job has been split, so its header was accepted.
    async fn learn_preset(&self, job: &Job) -> PortResult<()> {
        // A definition can be large, so it is not read for other job types.
        if job.generation > 0 || ![import::NAME, export::NAME].contains(&job.job_type.as_str()) {
            return Ok(());
        }
        let definition = self.ports.store.definition(job.job_id).await?;
        let Some((dataset, learnt)) = definition.and_then(|definition| learnt_preset(job, &definition)) else {
            return Ok(());
        };
        // An export that comes back must not replace the mapping of the usual files.
        let known = self.ports.store.presets(&dataset).await?;
        if known.iter().any(|known| known.from == LearntFrom::Export && known.preset.includes(&learnt.preset)) {
            return Ok(());
        }
        self.ports.store.put_preset(&dataset, &learnt).await
    }

    /// Makes the item count final. Requests completion if every group is already done.
    pub(crate) async fn end(
        &self,
        job: &Job,
        groups: u32,
        issues: &[JobError],
        deadline: Timestamp,
    ) -> Result<SplitEnd, Halt> {
        let mut issues = [issues, &self.corrected_findings(job, deadline).await?].concat();
        issues.extend(self.too_slow(job).await?);
        if let Err(error) = self.learn_preset(job).await {
            // A suggestion is no reason to split again.
            let error = telemetry::chain(&error);
            tracing::warn!(job.id = %job.job_id, error, "cannot store the preset of a dataset");
        }
        match self.ports.store.end_split(job, groups, &issues, (self.clock)()).await? {
            Transition::Made(job) => {
                complete_if_done(self.ports, &job).await?;
                Ok(SplitEnd::Ended)
            }
            Transition::Refused => Err(Halt::Refused),
        }
    }
}
