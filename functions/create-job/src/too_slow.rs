//! The warning that a job cannot end within its time limit, because of the rate limit of its registered type.

use longshore_domain::job::{Job, JobError};
use longshore_domain::ports::{Files, Queues, Store};

use crate::outcome::Halt;
use crate::splitter::Splitter;

/// Code of the issue.
const TOO_SLOW: &str = "too_slow";

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Returns the warning, if the remaining items of the job take longer than its time limit at the rate limit.
    pub(crate) async fn too_slow(&self, job: &Job) -> Result<Option<JobError>, Halt> {
        if !job.is_registered {
            return Ok(None);
        }
        let definition = self.ports.store.definition(job.job_id).await?;
        let rate = definition.and_then(|definition| definition.registration?.registration.items_per_second);
        // The groups of this split were committed after `job` was read.
        let (Some(rate), Some(job)) = (rate, self.ports.store.job(job.job_id).await?) else { return Ok(None) };
        Ok(warning(&job, rate))
    }
}

fn warning(job: &Job, rate: f64) -> Option<JobError> {
    let items = job.split.item_count.saturating_sub(job.retry.carried_over.counts.done());
    let (seconds, limit_s) = (items as f64 / rate, job.times.timeout_s);
    (seconds > limit_s as f64).then(|| {
        let message = format!(
            "{items} items take {} seconds at the job type's limit of {rate} items per second, and the job is stopped \
             after {limit_s} seconds; send fewer items per job, raise timeoutSeconds, or ask an operator to raise the \
             limit",
            seconds.ceil()
        );
        JobError::new(TOO_SLOW, message)
    })
}

#[cfg(test)]
mod tests {
    use longshore_domain::ids::JobId;
    use longshore_domain::job::{CarriedOver, JobTimes, RetryState, SplitState};
    use longshore_domain::outcome::Counts;
    use longshore_domain::tenant::TenantId;
    use longshore_domain::timestamp::Timestamp;

    use super::*;

    #[test]
    fn a_job_is_too_slow_if_its_remaining_items_take_longer_than_its_time_limit() {
        for (items, succeeded, rate, slow) in
            [(100, 0, 1.0, false), (101, 0, 1.0, true), (101, 1, 1.0, false), (101, 0, 1.1, false), (11, 0, 0.1, true)]
        {
            let counts = Counts { succeeded, ..Counts::default() };
            let waiting = Job::waiting(JobId::generate(), TenantId::from_static("t"), "mail", Timestamp(0));
            let job = Job {
                split: SplitState { item_count: items, ..SplitState::default() },
                retry: RetryState {
                    carried_over: CarriedOver { counts, ..CarriedOver::default() },
                    ..RetryState::default()
                },
                times: JobTimes { timeout_s: 100, ..waiting.times },
                ..waiting
            };
            let found = warning(&job, rate);
            assert_eq!(found.is_some(), slow, "{items} {succeeded} {rate}");
            assert!(found.is_none_or(|issue| issue.code == TOO_SLOW && issue.message.contains("100 seconds")));
        }
    }
}
