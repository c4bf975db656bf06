//! Parked chunks of a sweep: a parked chunk is not stalled, and is woken if there is a free permit.
//!
//! A worker that dies with a permit wakes no chunk, and its permit expires. So each sweep wakes as many chunks as there
//! are free permits, and removes parked chunks of jobs that have ended.

use std::collections::{BTreeMap, BTreeSet};

use longshore::chunk::ConcurrencyLimiter;
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::concurrency::ParkedChunk;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::ports::{PortResult, Queues, Store};

use crate::time_budget::TimeBudget;

/// Maximum parked chunks of a job type that a sweep reads: about 40 MB. If there are more, the state of the others is
/// unknown.
const MAX_PARKED: usize = 20_000;

/// Parked chunks by job type, for the types that this sweep has read; `None` for a type whose parked chunks are
/// unknown.
#[derive(Debug, Default)]
pub(crate) struct ParkedByType(BTreeMap<String, Option<BTreeMap<JobId, BTreeSet<ChunkId>>>>);

impl ParkedByType {
    /// Reads the parked chunks of a job type, if this sweep has not read them yet. Returns true if it reads them: a job
    /// that was read before may be older than these chunks. If they cannot be read, the sweep continues with all jobs.
    pub(crate) async fn load<S: Store, Q: Queues, F>(
        &mut self,
        ports: &Ports<S, Q, F>,
        job_type: &str,
        budget: TimeBudget,
    ) -> bool {
        if self.0.contains_key(job_type) {
            return false;
        }
        let parked = read_and_wake(ports, job_type, budget).await.unwrap_or_else(|error| {
            let error = telemetry::chain(&error);
            tracing::error!(job.r#type = job_type, error, "cannot read the parked chunks of a job type");
            None
        });
        self.0.insert(job_type.to_owned(), parked);
        true
    }

    /// Returns the parked chunks of a job; `None` if unknown.
    pub(crate) fn parked(&self, job_type: &str, id: JobId) -> Option<BTreeSet<ChunkId>> {
        self.0.get(job_type)?.as_ref().map(|by_job| by_job.get(&id).cloned().unwrap_or_default())
    }
}

/// Wakes chunks for the free permits, and returns the parked chunks by job; `None` if there are more than are read.
async fn read_and_wake<S: Store, Q: Queues, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    budget: TimeBudget,
) -> PortResult<Option<BTreeMap<JobId, BTreeSet<ChunkId>>>> {
    let all = ports.store.parked(job_type, MAX_PARKED).await?;
    let Some(concurrency) = all.iter().map(|parked| parked.limit).max() else { return Ok(Some(BTreeMap::new())) };
    let is_complete = all.len() < MAX_PARKED;
    let Some(by_job) = live_parked(ports, job_type, all, budget).await? else { return Ok(None) };
    let woken = ConcurrencyLimiter { ports, job_type, limit: concurrency, clock: budget.clock }.wake().await?;
    let parked = by_job.values().map(BTreeSet::len).sum::<usize>();
    tracing::info!(job.r#type = job_type, parked, woken, "parked chunks of a job type");
    Ok(is_complete.then_some(by_job))
}

/// Returns the parked chunks of live jobs, by job, and removes the others; `None` if there is no time to read all jobs.
async fn live_parked<S: Store, Q, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    all: Vec<ParkedChunk>,
    budget: TimeBudget,
) -> PortResult<Option<BTreeMap<JobId, BTreeSet<ChunkId>>>> {
    let (mut jobs, mut by_job) = (BTreeMap::new(), BTreeMap::<_, BTreeSet<ChunkId>>::new());
    for parked in all {
        let (id, group) = (parked.message.job_id, parked.message.group);
        if let std::collections::btree_map::Entry::Vacant(unknown) = jobs.entry(id) {
            if budget.is_over() {
                return Ok(None);
            }
            unknown.insert(ports.store.job(id).await?);
        }
        if jobs[&id].as_ref().is_some_and(|job| job.is_live() && job.owns(group)) {
            by_job.entry(id).or_default().insert(parked.message.id());
        } else if !budget.is_over() {
            // Without time, the next sweep removes them.
            ports.store.unpark(job_type, &parked).await?;
        }
    }
    Ok(Some(by_job))
}
