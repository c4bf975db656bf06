//! Inspection of one job: reads the job, the parked chunks of its type and the state of its queue, and decides its
//! pushes.

use std::collections::BTreeMap;

use longshore::chunk::ChunkError;
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::deliveries::Deliveries;
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Priority};
use longshore_domain::ports::{JobProgress, PortResult, QueueDepth, Queues, Store};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::act::Executor;
use crate::decide::{Action, decide};
use crate::overdue::{Circumstances, QueueState, may_need_push};
use crate::parked::ParkedByType;
use crate::time_budget::TimeBudget;

/// Maximum number of cached delivery records of tenants.
const TENANTS: usize = 10_000;

/// Inspects jobs, with state that is shared between them.
#[derive(Debug)]
pub(crate) struct JobInspector {
    parked: ParkedByType,
    /// Time at which reading of parked chunks must end.
    parked_until: Timestamp,
    /// True for each priority whose queue is empty.
    idle: BTreeMap<Priority, bool>,
    deliveries: BTreeMap<(TenantId, Priority), Deliveries>,
}

impl JobInspector {
    /// Creates an empty cache.
    pub(crate) fn new(parked_until: Timestamp) -> Self {
        Self { parked: ParkedByType::default(), parked_until, idle: BTreeMap::new(), deliveries: BTreeMap::new() }
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
        let at = Circumstances { now, stall_s, queue, parked: &parked };
        let chunks = chunk_counts(&ports.store, &job, &groups, &at).await?;
        let mut actions = decide(&job, &groups, |group| chunks.get(&group).copied().unwrap_or(0), &at);
        // A chunk that may be parked is neither lost nor dead.
        actions.retain(|action| is_known || !matches!(action, Action::SendChunks { .. } | Action::GiveUp { .. }));
        Ok(Some((job, actions)))
    }

    /// Returns the state of the queue of a job's chunks. If it cannot be read, no chunk is pushed.
    async fn queue<S: Store, Q: Queues + QueueDepth, F>(
        &mut self,
        ports: &Ports<S, Q, F>,
        job: &Job,
        now: Timestamp,
        stall_s: i64,
    ) -> QueueState {
        self.try_queue(ports, job, now, stall_s).await.unwrap_or_else(|error| {
            let error = telemetry::chain(&error);
            tracing::error!(job.id = %job.job_id, error, "cannot read the state of a chunk queue");
            QueueState::Busy { passed: None, quiet: false }
        })
    }

    async fn try_queue<S: Store, Q: Queues + QueueDepth, F>(
        &mut self,
        ports: &Ports<S, Q, F>,
        job: &Job,
        now: Timestamp,
        stall_s: i64,
    ) -> PortResult<QueueState> {
        let priority = job.priority;
        let is_idle = match self.idle.get(&priority) {
            Some(is_idle) => *is_idle,
            None => ports.queues.chunks(priority).await? == 0,
        };
        self.idle.insert(priority, is_idle);
        if is_idle {
            return Ok(QueueState::Idle);
        }
        let key = (job.tenant.clone(), priority);
        if !self.deliveries.contains_key(&key) {
            if self.deliveries.len() >= TENANTS {
                self.deliveries.clear();
            }
            let deliveries = ports.store.deliveries(&job.tenant, priority).await?;
            self.deliveries.insert(key.clone(), deliveries);
        }
        Ok(self.deliveries.get(&key).map_or(QueueState::Idle, |deliveries| QueueState::busy(deliveries, now, stall_s)))
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
