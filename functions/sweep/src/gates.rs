//! The gates, as one sweep finds them: who waits is not still, and whoever may come in is called.
//!
//! A worker that dies behind a gate leaves a lease that ends and calls nobody. So each sweep calls in what there is room
//! for, and forgets chunks of jobs that have ended.

use std::collections::{BTreeMap, BTreeSet};

use longshore::chunk::Gate;
use longshore::ports::Ports;
use longshore_domain::gate::Waiting;
use longshore_domain::ids::JobId;
use longshore_domain::ports::{PortResult, Queues, Store};
use longshore_domain::time_stamp::Timestamp;

/// Places (group, chunk) of chunks.
pub(crate) type Places = BTreeSet<(u32, u32)>;

/// Which chunks wait, of the job types that this sweep has come across.
#[derive(Debug, Default)]
pub(crate) struct Gates(BTreeMap<String, BTreeMap<JobId, Places>>);

impl Gates {
    /// Looks at the gate of a job type, unless this sweep has; true if somebody was found waiting just now, so that
    /// what was read of a job before may be older than what is known of its gate.
    ///
    /// # Errors
    /// If a service fails.
    pub(crate) async fn look<S: Store, Q: Queues, F>(
        &mut self,
        ports: &Ports<S, Q, F>,
        job_type: &str,
        clock: fn() -> Timestamp,
    ) -> PortResult<bool> {
        if self.0.contains_key(job_type) {
            return Ok(false);
        }
        let all = ports.store.waiting(job_type, usize::MAX).await?;
        let limit = all.iter().map(|waiting| waiting.limit).max();
        let of_job = forget_ended(ports, job_type, all).await?;
        if let Some(limit) = limit {
            let called = Gate { ports, job_type, limit, clock }.call_in().await?;
            tracing::info!(
                job.r#type = job_type,
                waiting = of_job.values().map(Places::len).sum::<usize>(),
                called,
                "a gate"
            );
        }
        self.0.insert(job_type.to_owned(), of_job);
        Ok(limit.is_some())
    }

    /// Which of a job's chunks wait.
    pub(crate) fn waiting(&self, job_type: &str, id: JobId) -> Places {
        self.0.get(job_type).and_then(|of_job| of_job.get(&id)).cloned().unwrap_or_default()
    }
}

/// Those that still have something to wait for, by job.
async fn forget_ended<S: Store, Q, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    all: Vec<Waiting>,
) -> PortResult<BTreeMap<JobId, Places>> {
    let (mut jobs, mut of_job) = (BTreeMap::new(), BTreeMap::<_, Places>::new());
    for waiting in all {
        let (id, group) = (waiting.message.job_id, waiting.message.group);
        if let std::collections::btree_map::Entry::Vacant(unknown) = jobs.entry(id) {
            unknown.insert(ports.store.job(id).await?);
        }
        if jobs[&id].as_ref().is_some_and(|job| job.is_live() && job.owns(group)) {
            of_job.entry(id).or_default().insert((group, waiting.message.chunk));
        } else {
            ports.store.forget(job_type, &waiting).await?;
        }
    }
    Ok(of_job)
}
