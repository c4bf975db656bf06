//! Pushes of one job: the inspection decides them, the executor makes them.
//!
//! The inspection reads the job, the parked chunks of its type and the state of its queue. A push is sent before it is
//! counted, so the count never exceeds the number of pushes. A crash in between, or a refused count, only leads to a
//! superfluous message, which is harmless.

use std::collections::BTreeMap;

use longshore::chunk::{ChunkError, DefinitionCache, Mode, Worker, request_completion, roll_up, stop_job};
use longshore::events::move_events;
use longshore::handler::Registry;
use longshore::metrics::{self, Metric};
use longshore::ports::{JobFolder, Ports, upload_key};
use longshore::result::FailuresByCode;
use longshore::telemetry;
use longshore_domain::deliveries::Deliveries;
use longshore_domain::group::{Group, Manifest};
use longshore_domain::ids::{ChunkId, FileGuid, JobId};
use longshore_domain::job::{ChunkQueue, Finish, Job, Status, Stop, Transition};
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::{
    Files, JobProgress, PortResult, PrefixRemoval, QueueDepth, Queues, Removal, Store, UploadRelease,
};
use longshore_domain::progress;
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::decide::{Action, decide};
use crate::overdue::{Circumstances, ParkedByType, QueueState, TimeBudget, may_need_push};

/// Maximum number of cached delivery records of tenants.
const TENANTS: usize = 10_000;

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
        let message = CreateMessage { resend: job.resends + 1, ..CreateMessage::new(job) };
        self.ports.queues.send_create(&message).await?;
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
            // Workers may still be running; the next sweep closes the groups.
            return request_completion(self.ports, &job).await;
        }
        let mut groups = Vec::new();
        for group in job.retry.carried_over.groups..job.split.groups {
            groups.extend(self.ports.store.close(job.job_id, group).await?);
        }
        let totals = progress::counts(job, &groups);
        let (generation, error) = (job.generation, stop.error.clone());
        let finish = Finish { generation, status: stop.status, totals, report: None, error, at: (self.clock)() };
        if let Transition::Made(job) = self.ports.store.finish(job.job_id, &finish).await? {
            metrics::job_ended(&job, &FailuresByCode::default());
            move_events(self.ports, &job, self.clock).await?;
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
            retry_base_s: 0,
            clock: self.clock,
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

/// Inspects jobs, with state that is shared between them.
#[derive(Debug)]
pub(crate) struct JobInspector {
    parked: ParkedByType,
    /// Time at which reading of parked chunks must end.
    parked_until: Timestamp,
    /// True for each queue that is empty.
    idle: BTreeMap<ChunkQueue, bool>,
    deliveries: BTreeMap<(TenantId, ChunkQueue), Deliveries>,
    /// Beginning of the outage of each registered type's handler; `None` for one that works.
    outages: BTreeMap<String, Option<Timestamp>>,
}

impl JobInspector {
    /// Creates an empty cache.
    pub(crate) fn new(parked_until: Timestamp) -> Self {
        Self {
            parked: ParkedByType::default(),
            parked_until,
            idle: BTreeMap::new(),
            deliveries: BTreeMap::new(),
            outages: BTreeMap::new(),
        }
    }

    /// Reads a job, and returns it with the pushes that it needs now; `None` if it no longer exists.
    pub(crate) async fn inspect<S: Store, Q: Queues + QueueDepth, F>(
        &mut self,
        executor: &Executor<'_, S, Q, F>,
        stall_s: i64,
        id: JobId,
    ) -> Result<Option<(Job, Vec<Action>)>, ChunkError> {
        let ports = executor.ports;
        let Some(JobProgress { mut groups, mut job }) = ports.store.progress(id).await? else { return Ok(None) };
        if self.parked.load(ports, &job.job_type, TimeBudget { clock: executor.clock, until: self.parked_until }).await
        {
            // Read again, because a chunk that was woken between the two reads would appear to have no progress.
            let Some(progress) = ports.store.progress(id).await? else { return Ok(None) };
            (groups, job) = (progress.groups, progress.job);
        }
        groups.retain(|group| job.owns(group.number));
        let parked = self.parked.parked(&job.job_type, id);
        let is_known = parked.is_some();
        let (now, parked) = ((executor.clock)(), parked.unwrap_or_default());
        let queue = if groups.iter().all(Group::is_done) {
            QueueState::Idle
        } else {
            self.queue(ports, &job, now, stall_s).await
        };
        let outage = self.outage(ports, &job).await;
        let at = Circumstances { now, stall_s, queue, parked: &parked, outage };
        let chunks = chunk_counts(&ports.store, &job, &groups, &at).await?;
        let mut actions = decide(&job, &groups, |group| chunks.get(&group).copied().unwrap_or(0), &at);
        // A chunk that may be parked is neither lost nor dead.
        actions.retain(|action| is_known || !matches!(action, Action::SendChunks { .. } | Action::GiveUp { .. }));
        Ok(Some((job, actions)))
    }

    /// Returns the beginning of the outage of a running job's handler. Reads the state of a type once.
    /// If it cannot be read, the next sweep reads it.
    async fn outage<S: Store, Q, F>(&mut self, ports: &Ports<S, Q, F>, job: &Job) -> Option<Timestamp> {
        if !job.is_registered || job.status != Status::Running {
            return None;
        }
        if let Some(outage) = self.outages.get(&job.job_type) {
            return *outage;
        }
        let outage = match ports.store.handler_state(&job.job_type).await {
            Ok(read) => read.state.breaker.open().map(|open| open.since),
            Err(error) => {
                let error = telemetry::chain(&error);
                tracing::error!(job.r#type = job.job_type, error, "cannot read the state of a handler");
                None
            }
        };
        if outage.is_some() {
            metrics::count(Metric::BreakerOpen, &[job.job_type.as_str()], 1);
        }
        self.outages.insert(job.job_type.clone(), outage);
        outage
    }

    /// Returns the state of the queue of a job's chunks. If it cannot be read, no chunk is pushed.
    async fn queue<S: Store, Q: Queues + QueueDepth, F>(
        &mut self,
        ports: &Ports<S, Q, F>,
        job: &Job,
        now: Timestamp,
        stall_s: i64,
    ) -> QueueState {
        match self.deliveries_while_busy(ports, job).await {
            Ok(deliveries) => {
                deliveries.map_or(QueueState::Idle, |deliveries| QueueState::busy(deliveries, now, stall_s))
            }
            Err(error) => {
                let error = telemetry::chain(&error);
                tracing::error!(job.id = %job.job_id, error, "cannot read the state of a chunk queue");
                QueueState::Busy { passed: None, quiet: false }
            }
        }
    }

    /// Returns the records of the deliveries to a job's tenant; `None` if the queue of the job's chunks is empty.
    async fn deliveries_while_busy<S: Store, Q: QueueDepth, F>(
        &mut self,
        Ports { store, queues, .. }: &Ports<S, Q, F>,
        job: &Job,
    ) -> PortResult<Option<&Deliveries>> {
        let (tenant, queue) = (&job.tenant, job.chunk_queue());
        let is_idle = match self.idle.get(&queue) {
            Some(is_idle) => *is_idle,
            None => queues.chunks(queue).await? == 0,
        };
        self.idle.insert(queue, is_idle);
        if is_idle {
            return Ok(None);
        }
        let key = (tenant.clone(), queue);
        if !self.deliveries.contains_key(&key) {
            if self.deliveries.len() >= TENANTS {
                self.deliveries.clear();
            }
            let deliveries = store.deliveries(tenant, queue).await?;
            self.deliveries.insert(key.clone(), deliveries);
        }
        Ok(self.deliveries.get(&key))
    }
}

/// Returns the number of chunks of each group that may need a push. Only the manifests of these groups are read.
async fn chunk_counts<S: Store>(
    store: &S,
    job: &Job,
    groups: &[Group],
    at: &Circumstances<'_>,
) -> PortResult<BTreeMap<u32, u32>> {
    let mut counts = BTreeMap::new();
    for group in groups.iter().filter(|group| job.is_live() && may_need_push(group, at)) {
        if let Some(manifest) = store.manifest(job.job_id, group.number).await? {
            counts.insert(group.number, u32::try_from(manifest.chunks.len()).unwrap_or(u32::MAX));
        }
    }
    Ok(counts)
}

#[cfg(test)]
#[path = "push_tests.rs"]
mod tests;
