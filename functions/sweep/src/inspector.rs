//! The inspection of a job: reads the job, the parked chunks of its type, the state of its queue and the pauses, and
//! decides its pushes.

use std::collections::BTreeMap;

use longshore::chunk::ChunkError;
use longshore::metrics::{self, Metric};
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::deliveries::Deliveries;
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::{ChunkQueue, Job, Status};
use longshore_domain::ports::{JobProgress, PortResult, QueueDepth, Queues, Store};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::decide::{Action, decide};
use crate::overdue::{Circumstances, ParkedByType, QueueState, TimeBudget, may_need_push};
use crate::pauses::ReadPauses;
use crate::push::Executor;

/// Maximum number of cached delivery records of tenants.
const TENANTS: usize = 10_000;

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
    pauses: ReadPauses,
}

/// A job, as a sweep finds it.
pub(crate) struct InspectedJob {
    pub(crate) job: Job,
    /// The pushes that it needs now.
    pub(crate) actions: Vec<Action>,
    /// True if an operator has paused its type or its tenant.
    pub(crate) is_paused: bool,
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
            pauses: ReadPauses::default(),
        }
    }

    /// Reads a job, and decides the pushes that it needs now. Returns `None` if it no longer exists.
    pub(crate) async fn inspect<S: Store, Q: Queues + QueueDepth, F>(
        &mut self,
        executor: &Executor<'_, S, Q, F>,
        stall_s: i64,
        id: JobId,
    ) -> Result<Option<InspectedJob>, ChunkError> {
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
        let is_paused = self.pauses.is_paused(&ports.store, &job, now).await?;
        let at = Circumstances { now, stall_s, queue, parked: &parked, outage, is_paused };
        // Of a paused job, only groups that have ended are marked, which needs no manifest.
        let chunks = if is_paused { BTreeMap::new() } else { chunk_counts(&ports.store, &job, &groups, &at).await? };
        let mut actions = decide(&job, &groups, |group| chunks.get(&group).copied().unwrap_or(0), &at);
        // A chunk that may be parked is neither lost nor dead.
        actions.retain(|action| is_known || !matches!(action, Action::SendChunks { .. } | Action::GiveUp { .. }));
        Ok(Some(InspectedJob { job, actions, is_paused }))
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
