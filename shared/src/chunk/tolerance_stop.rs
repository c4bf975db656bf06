//! The stop of a job whose tolerance is exceeded, by the worker whose commit shows it.

use longshore_domain::cost::{SpendingLimit, is_check_due};
use longshore_domain::group::Group;
use longshore_domain::job::{Job, JobError, Status, Stop};
use longshore_domain::ports::{Files, JobProgress, Queues, Store};
use longshore_domain::progress;
use longshore_domain::timestamp::Timestamp;

use super::attempt::Attempt;
use super::delivery::ChunkError;
use super::ending::stop_job;

impl<S: Store, Q: Queues, F: Files> Attempt<'_, S, Q, F> {
    /// Stops the job if its failures or its cost, as of a commit, exceed its tolerance. Completion checks the failures
    /// again. The cost of the job is read only when a check is due, because the read has a cost itself.
    pub(super) async fn stop_if_tolerance_exceeded(&self, group: &Group) -> Result<(), ChunkError> {
        let tolerance = self.job.tolerance;
        let has_failures = tolerance.limits_failures() && group.counts.failed > 0;
        let is_due = || self.is_first_after_failure() || is_check_due(self.job, self.usage.recorded, group);
        let has_cost = tolerance.max_cost.is_some() && is_due();
        if !has_failures && !has_cost {
            return Ok(());
        }
        let (id, first) = (self.message.job_id, self.job.retry.carried_over.groups);
        let Some(JobProgress { groups, job }) = self.worker.ports.store.progress_from(id, first).await? else {
            return Ok(());
        };
        let counts = progress::counts(&job, &groups);
        let all_ended = job.item_count_final() && counts.done() == job.split.item_count;
        if !job.is_live() || all_ended || job.generation != self.job.generation {
            return Ok(());
        }
        let failures = has_failures.then(|| job.tolerance.exceeded_so_far(counts)).flatten();
        let error = failures.or_else(|| if has_cost { self.cost_exceeded(&job, &groups) } else { None });
        if let Some(error) = error {
            stop_job(self.worker.ports, self.job, &failed(error, (self.worker.clock)())).await?;
        }
        Ok(())
    }

    /// Returns true after the first commit of a chunk that has failed: the worker of the failed delivery may have
    /// committed without the check that was due.
    fn is_first_after_failure(&self) -> bool {
        self.commits == 1 && self.message.failures > 0
    }

    fn cost_exceeded(&self, job: &Job, groups: &[Group]) -> Option<JobError> {
        let meter = self.worker.meter;
        let of_type = self.definition.limits().chunks_at_once.map_or(u32::MAX, |limit| limit.max(1));
        let limit = SpendingLimit {
            max: job.tolerance.max_cost?,
            chunks_at_once: meter.chunks_at_once.min(of_type),
            worker_gb: meter.gb(),
            commit_ms: self.usage.recorded.gb_ms as f64 / meter.gb().max(0.001),
        };
        limit.exceeded(job, groups)
    }
}

/// Returns the stop of a job that fails with this error.
pub(super) fn failed(error: JobError, at: Timestamp) -> Stop {
    Stop { status: Status::Failed, error: Some(error), at }
}
