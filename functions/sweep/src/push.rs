//! The executor of pushes. The inspection of a job (`inspector.rs`) decides them.
//!
//! A push is sent before it is counted, so the count never exceeds the number of pushes. A crash in between, or a
//! refused count, only leads to a superfluous message, which is harmless.

use longshore::chunk::{ChunkError, CostMeter, DefinitionCache, Mode, Worker, request_completion, roll_up, stop_job};
use longshore::events::move_events;
use longshore::handler::Registry;
use longshore::metrics::{self, Metric};
use longshore::pause_cache::PauseCache;
use longshore::ports::{JobFolder, Ports, upload_key};
use longshore::result::FailuresByCode;
use longshore_domain::cost::Charge;
use longshore_domain::group::Manifest;
use longshore_domain::ids::{ChunkId, FileGuid};
use longshore_domain::job::{Finish, Job, Stop, Transition};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::{Files, PortResult, PrefixRemoval, Queues, Removal, Store, UploadRelease};
use longshore_domain::progress;
use longshore_domain::timestamp::Timestamp;

use crate::decide::Action;
use crate::overdue::TimeBudget;

/// Services and limits for pushes.
pub(crate) struct Executor<'a, S, Q, F> {
    pub(crate) ports: &'a Ports<S, Q, F>,
    pub(crate) registry: &'a Registry,
    pub(crate) definitions: &'a DefinitionCache,
    pub(crate) clock: fn() -> Timestamp,
    pub(crate) deadline: Timestamp,
    /// Maximum time for the removal of one job, in milliseconds; the next sweep continues a longer one.
    pub(crate) removal_ms: i64,
}

impl<S: Store + Removal, Q: Queues, F: Files> Executor<'_, S, Q, F> {
    pub(crate) async fn act(&self, job: &Job, action: Action) -> Result<(), ChunkError> {
        tracing::info!(job.id = %job.job_id, ?action, "pushing a job");
        metrics::count(Metric::SweeperActions, &[action.name()], 1);
        match action {
            Action::Stop(stop) => stop_job(self.ports, job, &stop).await?,
            Action::SendCreate => self.send_create(job).await?,
            Action::SendComplete => self.send_complete(job).await?,
            Action::EndWithoutReport(stop) => self.end_without_report(job, &stop).await?,
            Action::Remove => {
                let until = Timestamp(((self.clock)().0 + self.removal_ms).min(self.deadline.0));
                remove(self.ports, job, TimeBudget { clock: self.clock, until }).await?;
            }
            Action::MoveEvents => move_events(self.ports, job, self.clock).await?,
            Action::RecordOutage { since } => self.record_outage(job, since).await?,
            Action::RollUp { group } => roll_up(self.ports, job.job_id, group, (self.clock)()).await?,
            Action::SendChunks { group, seen, chunks } => self.send_chunks(job, group, seen, &chunks).await?,
            Action::GiveUp { group, chunks } => self.give_up(job, group, &chunks).await?,
        }
        Ok(())
    }

    async fn record_outage(&self, job: &Job, since: Timestamp) -> PortResult<()> {
        let recorded = self.ports.store.record_outage(job.job_id, job.generation, since).await?;
        if let Transition::Made(job) = recorded { move_events(self.ports, &job, self.clock).await } else { Ok(()) }
    }

    async fn send_create(&self, job: &Job) -> PortResult<()> {
        self.ports.queues.send_create(&CreateMessage::resend(job)).await?;
        self.ports.store.count_resend(job, (self.clock)()).await.map(|_| ())
    }

    async fn send_complete(&self, job: &Job) -> PortResult<()> {
        let message = CompleteMessage { resend: job.resends + 1, ..CompleteMessage::new(job) };
        self.ports.queues.send_complete(&message).await?;
        self.ports.store.count_resend(job, (self.clock)()).await.map(|_| ())
    }

    /// Sets the final status without a report. The counts are exact: every group is closed before they are read.
    async fn end_without_report(&self, job: &Job, stop: &Stop) -> PortResult<()> {
        if let Transition::Made(job) = self.ports.store.stop(job.job_id, job.generation, stop).await? {
            // Workers may still be running; the next push closes the groups.
            return request_completion(self.ports, &job).await;
        }
        let mut groups = Vec::new();
        for group in job.retry.carried_over.groups..job.split.groups {
            groups.extend(self.ports.store.close(job.job_id, group).await?);
        }
        let totals = progress::counts(job, &groups);
        let charge = Some(Charge::new(job, &groups));
        let (generation, error) = (job.generation, stop.error.clone());
        let finish =
            Finish { generation, status: stop.status, totals, report: None, error, charge, at: (self.clock)() };
        if let Transition::Made(stored) = self.ports.store.finish(job.job_id, &finish).await? {
            // A retry may have reopened the stored job since.
            let mut ended = job.clone();
            ended.finish(&finish);
            metrics::job_ended(&ended, &FailuresByCode::default());
            move_events(self.ports, &stored, self.clock).await?;
        }
        Ok(())
    }

    async fn send_chunks(&self, job: &Job, group: u32, expected_resends: u32, chunks: &[u32]) -> PortResult<()> {
        let Some(manifest) = self.ports.store.manifest(job.job_id, group).await? else { return Ok(()) };
        let messages: Vec<_> = chunks.iter().filter_map(|chunk| message(job, &manifest, *chunk)).collect();
        self.ports.queues.send_chunks(&messages, 0).await?;
        self.ports.store.count_group_resend(job.job_id, group, expected_resends, (self.clock)()).await.map(|_| ())
    }

    async fn give_up(&self, job: &Job, group: u32, chunks: &[u32]) -> Result<(), ChunkError> {
        let Some(manifest) = self.ports.store.manifest(job.job_id, group).await? else { return Ok(()) };
        for chunk in chunks {
            if let Some(message) = message(job, &manifest, *chunk) {
                self.give_up_chunk(&message).await?;
            }
        }
        Ok(())
    }

    /// Commits the remaining items of a chunk as failed, with code `dead_lettered`.
    pub(crate) async fn give_up_chunk(&self, message: &ChunkMessage) -> Result<(), ChunkError> {
        let worker = Worker {
            ports: self.ports,
            registry: self.registry,
            definitions: self.definitions,
            pauses: &PauseCache::default(),
            retry_base_s: 0,
            clock: self.clock,
            meter: CostMeter { chunks_at_once: 0, ..CostMeter::default() },
        };
        let end = worker.work(message, Mode::GiveUp, self.deadline).await?;
        let (group, chunk) = (message.group, message.chunk);
        tracing::info!(job.id = %message.job_id, group, chunk, ?end, "a chunk was given up");
        Ok(())
    }
}

fn message(job: &Job, manifest: &Manifest, chunk: u32) -> Option<ChunkMessage> {
    let plan = manifest.chunks.get(chunk as usize)?;
    Some(ChunkMessage::new(job, ChunkId::new(manifest.group, chunk), plan))
}

/// Removes a job with its files, uploads and records. If there is no time for all files, the records are kept, and the
/// next sweep continues.
async fn remove<S: Removal, Q, F: Files>(ports: &Ports<S, Q, F>, job: &Job, budget: TimeBudget) -> PortResult<()> {
    while ports.files.remove_some(&JobFolder::for_job(job).prefix()).await? == PrefixRemoval::MoreLeft {
        if budget.is_over() {
            return Ok(());
        }
    }
    for upload in job.uploads() {
        remove_upload(ports, job, upload).await?;
    }
    ports.store.remove(job.job_id).await
}

/// Removes an upload, unless another job uses it: then it is removed with the last of these jobs, or expires.
async fn remove_upload<S: Removal, Q, F: Files>(ports: &Ports<S, Q, F>, job: &Job, upload: FileGuid) -> PortResult<()> {
    if ports.store.release_upload(job.job_id, upload).await? == UploadRelease::RemoveFile {
        ports.files.remove(&upload_key(&job.tenant, upload)).await?;
    }
    Ok(())
}

#[cfg(test)]
#[path = "push_tests.rs"]
mod tests;
