//! Services and settings of the function, real or fake.

use longshore::files::S3Files;
use longshore::handler::Registry;
use longshore::http::{Access, Failure, Tenant};
use longshore::ports::Ports;
use longshore::problem::Problem;
use longshore::queues::{QueueDepth, SqsQueues};
use longshore::store::dynamo::DynamoStore;
use longshore::store::records::{DynamoRecords, RecordStore};
use longshore_domain::group::Group;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Status};
use longshore_domain::ports::{Files, JobStore, Ledger, PortResult, Queues, Store, TenantCounts};
use longshore_domain::progress;
use longshore_domain::rate::Rate;
use longshore_domain::time_stamp::Timestamp;

use crate::{DownloadUrls, QueueDepths};

/// A choice of services: one type parameter in place of four.
pub trait Backend: Send + Sync + 'static {
    /// Store of jobs and uploads.
    type Store: Store + TenantCounts;
    /// Queues for create and complete messages, with their depths.
    type Queues: Queues + QueueDepth;
    /// Storage of sources and reports.
    type Files: Files + DownloadUrls;
    /// Store of imported records.
    type Records: RecordStore;
}

/// The AWS services.
#[derive(Copy, Clone, Debug)]
pub struct Deployed;

impl Backend for Deployed {
    type Store = DynamoStore;
    type Queues = SqsQueues;
    type Files = S3Files;
    type Records = DynamoRecords;
}

/// Limits of jobs and their retention.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Limits {
    /// Maximum size of a file in bytes.
    pub max_file_bytes: u64,
    /// Days until a job expires.
    pub retention_days: i64,
    /// Time limit in seconds after which an unfinished job is stopped, unless its type sets another one.
    pub job_time_limit_s: i64,
    /// Maximum queued chunks of one priority. Above it, no job of that priority is accepted.
    pub max_queued_chunks: u64,
}

/// State of the function: services, job types, limits and the clock.
pub struct Api<B: Backend> {
    /// Store, queues and files.
    pub ports: Ports<B::Store, B::Queues, B::Files>,
    /// Store of imported records.
    pub records: B::Records,
    /// Job types that clients may request.
    pub registry: Registry,
    /// Access control.
    pub access: Access,
    /// Limits.
    pub limits: Limits,
    /// Rate limit of a tenant's calls, per process.
    pub tenant_calls: Rate,
    /// Cached queue depths.
    pub queue_depths: QueueDepths,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl<B: Backend> Api<B> {
    /// Returns the job that a path names.
    ///
    /// # Errors
    /// 404 if it does not exist, if it belongs to another tenant, if it is deleted, or if it has expired and DynamoDB
    /// has not yet removed it.
    pub(crate) async fn job(&self, tenant: &Tenant, id: &str) -> Result<Job, Failure> {
        let Some(id) = JobId::parse(id) else { return Err(no_such_job().into()) };
        let job = self.ports.store.job(id).await?;
        let now_s = (self.clock)().seconds();
        let shown = |job: &Job| job.tenant == tenant.0 && !job.is_deleted() && job.times.expires_at > now_s;
        Ok(job.filter(shown).ok_or_else(no_such_job)?)
    }

    /// Same as [`Api::read_groups`], with an error for a deleted job.
    ///
    /// # Errors
    /// 404 if the job was deleted meanwhile.
    pub(crate) async fn with_groups(&self, job: Job) -> Result<(Vec<Group>, Job), Failure> {
        Ok(self.read_groups(job).await?.ok_or_else(no_such_job)?)
    }

    /// Reads the groups of a job that was just read, and then the job itself: the input of a job document. Returns
    /// `None` if the job was deleted meanwhile.
    ///
    /// A completed job needs no groups, nor does a job that has none yet. Any other job does: a failed or canceled job
    /// shows the same percentage after its end as before, and the percentage is a sum over the groups.
    pub(crate) async fn read_groups(&self, job: Job) -> PortResult<Option<(Vec<Group>, Job)>> {
        if job.status == Status::Completed || job.split.groups == 0 {
            return Ok(Some((Vec::new(), job)));
        }
        let first = job.retry.carried_over.groups;
        let Some((groups, job)) = self.progress(job.job_id, first).await? else { return Ok(None) };
        if job.completion.totals.is_none_or(|totals| totals == progress::counts(&job, &groups)) {
            return Ok(Some((groups, job)));
        }
        // The job ended after its groups were read; its records no longer change, so they are read again.
        self.progress(job.job_id, first).await
    }

    /// Skips the groups of earlier generations: their results are in the job's carried-over counts.
    async fn progress(&self, id: JobId, first: u32) -> PortResult<Option<(Vec<Group>, Job)>> {
        Ok(self.ports.store.progress_from(id, first).await?.filter(|(_, job)| !job.is_deleted()))
    }
}

/// Returns 404: the job does not exist, or is not visible to this tenant.
pub(crate) fn no_such_job() -> Problem {
    Problem::not_found("job")
}
