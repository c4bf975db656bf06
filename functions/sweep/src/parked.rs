//! Parked chunks, as one sweep finds them: a parked chunk is not stalled, and is woken if there is a free permit.
//!
//! A worker that dies with a permit leaves a permit that expires, and wakes no chunk. So each sweep wakes as many
//! chunks as there are free permits, and forgets chunks of jobs that have ended.

use std::collections::{BTreeMap, BTreeSet};

use longshore::chunk::ConcurrencyLimiter;
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::concurrency::ParkedChunk;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::ports::{PortResult, Queues, Store};

use crate::limit::Limit;

/// Maximum parked chunks of a job type that a sweep reads: about 40 MB. If there are more, the state of the others is
/// unknown.
const MOST: usize = 20_000;

/// Parked chunks by job type, for the types that this sweep has read; `None` for a type whose parked chunks are
/// unknown.
#[derive(Debug, Default)]
pub(crate) struct ParkedByType(BTreeMap<String, Option<BTreeMap<JobId, BTreeSet<ChunkId>>>>);

impl ParkedByType {
    /// Reads the parked chunks of a job type, unless this sweep has. Returns true if it did: a job that was read before
    /// may then be older than its type's parked chunks. If they cannot be read, the sweep continues with all jobs.
    pub(crate) async fn look<S: Store, Q: Queues, F>(
        &mut self,
        ports: &Ports<S, Q, F>,
        job_type: &str,
        limit: Limit,
    ) -> bool {
        if self.0.contains_key(job_type) {
            return false;
        }
        let seen = see(ports, job_type, limit).await.unwrap_or_else(|error| {
            let error = telemetry::chain(&error);
            tracing::error!(job.r#type = job_type, error, "the parked chunks of a job type cannot be read");
            None
        });
        self.0.insert(job_type.to_owned(), seen);
        true
    }

    /// Returns the parked chunks of a job; `None` if unknown.
    pub(crate) fn parked(&self, job_type: &str, id: JobId) -> Option<BTreeSet<ChunkId>> {
        self.0.get(job_type)?.as_ref().map(|of_job| of_job.get(&id).cloned().unwrap_or_default())
    }
}

/// Wakes chunks for the free permits, and returns the parked chunks by job; `None` if there are more than are read.
async fn see<S: Store, Q: Queues, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    limit: Limit,
) -> PortResult<Option<BTreeMap<JobId, BTreeSet<ChunkId>>>> {
    let all = ports.store.parked(job_type, MOST).await?;
    let Some(concurrency) = all.iter().map(|parked| parked.limit).max() else { return Ok(Some(BTreeMap::new())) };
    let are_all = all.len() < MOST;
    let Some(of_job) = forget_ended(ports, job_type, all, limit).await? else { return Ok(None) };
    let woken = ConcurrencyLimiter { ports, job_type, limit: concurrency, clock: limit.clock }.wake().await?;
    let parked = of_job.values().map(BTreeSet::len).sum::<usize>();
    tracing::info!(job.r#type = job_type, parked, woken, "parked chunks of a job type");
    Ok(are_all.then_some(of_job))
}

/// Returns the parked chunks of live jobs, by job; `None` if there is no time to read that many jobs.
async fn forget_ended<S: Store, Q, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    all: Vec<ParkedChunk>,
    limit: Limit,
) -> PortResult<Option<BTreeMap<JobId, BTreeSet<ChunkId>>>> {
    let (mut jobs, mut of_job) = (BTreeMap::new(), BTreeMap::<_, BTreeSet<ChunkId>>::new());
    for parked in all {
        let (id, group) = (parked.message.job_id, parked.message.group);
        if let std::collections::btree_map::Entry::Vacant(unknown) = jobs.entry(id) {
            if limit.is_over() {
                return Ok(None);
            }
            unknown.insert(ports.store.job(id).await?);
        }
        if jobs[&id].as_ref().is_some_and(|job| job.is_live() && job.owns(group)) {
            of_job.entry(id).or_default().insert(parked.message.id());
        } else if !limit.is_over() {
            // The next sweep forgets the remaining ones.
            ports.store.forget(job_type, &parked).await?;
        }
    }
    Ok(Some(of_job))
}
