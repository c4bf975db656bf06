//! The gates, as one sweep finds them: who waits is not still, and whoever may come in is called.
//!
//! A worker that dies behind a gate leaves a lease that ends and calls nobody. So each sweep calls in what there is room
//! for, and forgets chunks of jobs that have ended.

use std::collections::{BTreeMap, BTreeSet};

use longshore::chunk::ConcurrencyLimiter;
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::concurrency::ParkedChunk;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{PortResult, Queues, Store};
use longshore_domain::time_stamp::Timestamp;

/// Places (group, chunk) of chunks.
pub(crate) type Places = BTreeSet<(u32, u32)>;

/// Chunks that a sweep looks at by gate: some 40 MB. Where more wait it is not known of the others.
const MOST: usize = 20_000;

/// Which chunks wait, of the job types that this sweep has come across; none where that is not known.
#[derive(Debug, Default)]
pub(crate) struct ParkedByType(BTreeMap<String, Option<BTreeMap<JobId, Places>>>);

impl ParkedByType {
    /// Looks at the gate of a job type, unless this sweep has; true if it did, so that what was read of a job before may
    /// be older than what is known of its gate. A gate that cannot be seen keeps no job from the rest of the sweep.
    pub(crate) async fn look<S: Store, Q: Queues, F>(
        &mut self,
        ports: &Ports<S, Q, F>,
        job_type: &str,
        (clock, deadline): (fn() -> Timestamp, Timestamp),
    ) -> bool {
        if self.0.contains_key(job_type) {
            return false;
        }
        let seen = see(ports, job_type, (clock, deadline)).await.unwrap_or_else(|error| {
            let error = telemetry::chain(&error);
            tracing::error!(job.r#type = job_type, error, "a gate cannot be seen");
            None
        });
        self.0.insert(job_type.to_owned(), seen);
        true
    }

    /// Which of a job's chunks wait; none if that is not known.
    pub(crate) fn parked(&self, job_type: &str, id: JobId) -> Option<Places> {
        self.0.get(job_type)?.as_ref().map(|of_job| of_job.get(&id).cloned().unwrap_or_default())
    }
}

/// Who waits at a gate, by job, once those are called for whom there is room; none if more wait than are looked at.
async fn see<S: Store, Q: Queues, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    (clock, deadline): (fn() -> Timestamp, Timestamp),
) -> PortResult<Option<BTreeMap<JobId, Places>>> {
    let all = ports.store.parked(job_type, MOST).await?;
    let Some(limit) = all.iter().map(|parked| parked.limit).max() else { return Ok(Some(BTreeMap::new())) };
    let are_all = all.len() < MOST;
    let Some(of_job) = forget_ended(ports, job_type, all, (clock, deadline)).await? else { return Ok(None) };
    let woken = ConcurrencyLimiter { ports, job_type, limit, clock }.wake().await?;
    let parked = of_job.values().map(Places::len).sum::<usize>();
    tracing::info!(job.r#type = job_type, parked, woken, "a gate");
    Ok(are_all.then_some(of_job))
}

/// Those that still have something to wait for, by job; none if there is no time to read so many jobs.
async fn forget_ended<S: Store, Q, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    all: Vec<ParkedChunk>,
    (clock, deadline): (fn() -> Timestamp, Timestamp),
) -> PortResult<Option<BTreeMap<JobId, Places>>> {
    let (mut jobs, mut of_job) = (BTreeMap::new(), BTreeMap::<_, Places>::new());
    for parked in all {
        let (id, group) = (parked.message.job_id, parked.message.group);
        if let std::collections::btree_map::Entry::Vacant(unknown) = jobs.entry(id) {
            if clock() >= deadline {
                return Ok(None);
            }
            unknown.insert(ports.store.job(id).await?);
        }
        if jobs[&id].as_ref().is_some_and(|job| job.is_live() && job.owns(group)) {
            of_job.entry(id).or_default().insert((group, parked.message.chunk));
        } else if clock() < deadline {
            // The next sweep forgets what is left.
            ports.store.forget(job_type, &parked).await?;
        }
    }
    Ok(Some(of_job))
}
