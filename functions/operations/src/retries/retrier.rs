//! Retries of the items of a job that failed with a code: for one call, job by job.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use longshore::http::Failure;
use longshore::job_retry::{NewestRegistration, check_code, not_ended, not_retryable};
use longshore::problem::{Kind, Problem};
use longshore::telemetry;
use longshore_domain::ids::JobId;
use longshore_domain::job::{FailureFilter, Job, Reopen, Selection, Status, deadline};
use longshore_domain::ports::{JobStore, JobTransitions, PortResult, QuotaExceeded, Reopened};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use tokio::sync::OnceCell;

use crate::function::{Backend, Operations};

/// Seconds after which no further job is retried, so that every call has an answer, and a result in the log.
const RETRY_S: i64 = 20;

/// The items that run again, and the jobs that are left out.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(crate) struct FailedItems {
    pub(crate) job_type: String,
    pub(crate) code: String,
    /// Jobs that have ended later are left out: their failures are not those that the operator saw.
    pub(crate) as_of: Option<Timestamp>,
}

/// The outcome for one job.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum RetryOutcome {
    /// The call has started the job again.
    Started(Box<Job>),
    /// The job runs for these items already: by an earlier call, or by a retry of its tenant.
    Running(Box<Job>),
    /// Nothing was done.
    Refused(Problem),
}

/// Retries the jobs of one call.
pub(crate) struct JobRetrier<'a, B: Backend> {
    function: &'a Operations<B>,
    items: &'a FailedItems,
    /// Time from which no further job is retried.
    until: Timestamp,
    /// The newest registration of the type, read for the first job that needs it.
    newest: OnceCell<NewestRegistration>,
    /// Tenants that have too many active jobs, with their number.
    over_quota: Mutex<BTreeMap<TenantId, u64>>,
}

impl<'a, B: Backend> JobRetrier<'a, B> {
    pub(crate) fn new(function: &'a Operations<B>, items: &'a FailedItems) -> Self {
        let until = (function.clock)().plus_seconds(RETRY_S);
        Self { function, items, until, newest: OnceCell::new(), over_quota: Mutex::default() }
    }

    /// Retries the items of one job. One conditional write reopens the job, so that of two calls at once one starts it.
    /// A repetition finds the job running for the same code, and starts nothing.
    ///
    /// # Errors
    /// If a service fails.
    pub(crate) async fn retry(&self, id: JobId) -> Result<RetryOutcome, Failure> {
        let now = (self.function.clock)();
        if now >= self.until {
            return Ok(RetryOutcome::Refused(no_time()));
        }
        let job = self.function.ports.store.job(id).await?;
        let job = job.filter(|job| !job.is_deleted() && job.times.expires_at > now.seconds());
        let job = job.filter(|job| job.job_type == self.items.job_type);
        let Some(job) = job else { return Ok(RetryOutcome::Refused(unknown())) };
        telemetry::record_job(&job);
        if !job.status.is_final() && job.retry.selection == self.items.selection() {
            return Ok(RetryOutcome::Running(Box::new(job)));
        }
        if let Some(problem) = self.items.refusal(&job, now).or_else(|| self.too_many_jobs(&job)) {
            return Ok(RetryOutcome::Refused(problem));
        }
        match self.reopen(&job, now).await {
            Ok(outcome) => Ok(outcome),
            Err(Failure::Problem(problem)) => Ok(RetryOutcome::Refused(problem)),
            Err(error) => Err(error),
        }
    }

    async fn reopen(&self, job: &Job, at: Timestamp) -> Result<RetryOutcome, Failure> {
        let (function, ports) = (self.function, &self.function.ports);
        check_code(&ports.files, job, &self.items.code).await?;
        let registration =
            if job.is_registered { self.newest().await?.for_job(&ports.store, job).await? } else { None };
        let deadline_at = deadline(at, job.times.timeout_s, job.kept_until(function.retention_days));
        let selection = self.items.selection();
        let reopen = Reopen { generation: job.generation, at, deadline_at, selection, registration };
        Ok(match ports.store.reopen(job, &reopen).await? {
            Reopened::Made(job) => {
                ports.send_create(&job).await;
                RetryOutcome::Started(job)
            }
            Reopened::Refused => RetryOutcome::Refused(not_ended("another call has just reopened this job")),
            Reopened::OverQuota(QuotaExceeded::ActiveJobs(active)) => {
                let mut over_quota = self.over_quota.lock().unwrap_or_else(PoisonError::into_inner);
                over_quota.insert(job.tenant.clone(), active);
                RetryOutcome::Refused(Problem::too_many_jobs(active))
            }
            // Unreachable: a retry by an operator does not count against the daily bytes, because this store has no
            // such limit.
            Reopened::OverQuota(QuotaExceeded::DailyBytes(_)) => RetryOutcome::Refused(Problem::internal()),
        })
    }

    /// Returns the newest registration of the type.
    async fn newest(&self) -> PortResult<&NewestRegistration> {
        let (function, job_type) = (self.function, &self.items.job_type);
        let read = || NewestRegistration::read(job_type, &function.registry, &function.ports.store);
        self.newest.get_or_try_init(read).await
    }

    /// Refuses a job whose tenant had too many active jobs a moment ago: to find that out again takes a thousand reads.
    fn too_many_jobs(&self, job: &Job) -> Option<Problem> {
        let over_quota = self.over_quota.lock().unwrap_or_else(PoisonError::into_inner);
        over_quota.get(&job.tenant).copied().map(Problem::too_many_jobs)
    }
}

impl FailedItems {
    fn selection(&self) -> Selection {
        Selection::Failure(FailureFilter { code: self.code.clone(), field: None })
    }

    /// Returns the reason for which a job is not retried; `None` if it can be.
    fn refusal(&self, job: &Job, now: Timestamp) -> Option<Problem> {
        let is_later = |as_of| job.times.finished_at.is_some_and(|ended| ended > as_of);
        if self.as_of.is_some_and(is_later) {
            return Some(ended_later());
        }
        canceled(job).or_else(|| not_retryable(job, now)).or_else(|| unprocessed(job))
    }
}

fn no_time() -> Problem {
    Problem::new(Kind::Unavailable, "there was no time for this job; repeat the call")
}

fn unknown() -> Problem {
    Problem::new(Kind::NotFound, "there is no job of this type with this id; it may have expired or been deleted")
}

/// Refuses a canceled job: its tenant has stopped it.
fn canceled(job: &Job) -> Option<Problem> {
    let detail = "the job was canceled; only its tenant can retry it";
    (job.status == Status::Canceled).then(|| Problem::new(Kind::NothingToRetry, detail))
}

/// Refuses a job that has stopped before its end: every retry also runs the items that were never processed.
fn unprocessed(job: &Job) -> Option<Problem> {
    let reason = job.error.as_ref().map_or_else(String::new, |error| format!(" ({})", error.code));
    let detail = format!(
        "the job has stopped{reason} before all of its items were processed, and a retry would run them, too; only \
         its tenant can retry it"
    );
    job.has_unprocessed().then(|| Problem::new(Kind::NothingToRetry, detail))
}

fn ended_later() -> Problem {
    let detail = "the job has ended after asOf, so its failures may be others; read the failures again";
    Problem::new(Kind::NothingToRetry, detail)
}
