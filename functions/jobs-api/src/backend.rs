//! What the function stands on: the services and their settings, real ones or fakes.

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

/// A choice of services: one name in place of four type parameters.
pub trait Backend: Send + Sync + 'static {
    /// Jobs and uploads.
    type Store: Store + TenantCounts;
    /// Where create and complete messages go, and how many chunks wait.
    type Queues: Queues + QueueDepth;
    /// Sources and reports.
    type Files: Files + DownloadUrls;
    /// Imported records.
    type Records: RecordStore;
}

/// The services of AWS.
#[derive(Copy, Clone, Debug)]
pub struct Deployed;

impl Backend for Deployed {
    type Store = DynamoStore;
    type Queues = SqsQueues;
    type Files = S3Files;
    type Records = DynamoRecords;
}

/// What a job may take, and how long it is kept.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub struct Limits {
    /// Bytes of the largest file.
    pub max_file_bytes: u64,
    /// Days until a job is forgotten.
    pub retention_days: i64,
    /// Seconds after which a job that has not ended is stopped, unless its type says otherwise.
    pub job_time_limit_s: i64,
    /// Chunks of one priority that may wait before no job of it is taken.
    pub max_queued_chunks: u64,
}

/// The function: services, job types, limits and the clock.
pub struct Api<B: Backend> {
    /// Store, queues and files.
    pub ports: Ports<B::Store, B::Queues, B::Files>,
    /// Imported records.
    pub records: B::Records,
    /// The job types that clients may ask for.
    pub registry: Registry,
    /// Who may call.
    pub access: Access,
    /// Limits.
    pub limits: Limits,
    /// Calls of a tenant that one process answers.
    pub tenant_calls: Rate,
    /// How much waits.
    pub queue_depths: QueueDepths,
    /// The time.
    pub clock: fn() -> Timestamp,
}

impl<B: Backend> Api<B> {
    /// The job that a path names.
    ///
    /// # Errors
    /// 404 if there is none, if it is another tenant's, if it is deleted, or if it has expired and DynamoDB has not yet
    /// removed it.
    pub(crate) async fn job(&self, tenant: &Tenant, id: &str) -> Result<Job, Failure> {
        let Some(id) = JobId::parse(id) else { return Err(no_such_job().into()) };
        let job = self.ports.store.job(id).await?;
        let now_s = (self.clock)().seconds();
        let shown = |job: &Job| job.tenant == tenant.0 && !job.is_deleted() && job.times.expires_at > now_s;
        Ok(job.filter(shown).ok_or_else(no_such_job)?)
    }

    /// The same as [`Api::read_groups`].
    ///
    /// # Errors
    /// 404 if the job was deleted meanwhile.
    pub(crate) async fn with_groups(&self, job: Job) -> Result<(Vec<Group>, Job), Failure> {
        Ok(self.read_groups(job).await?.ok_or_else(no_such_job)?)
    }

    /// The groups of a job as it was just read, and then the job itself: what a document is made of. None if the job
    /// was deleted meanwhile.
    ///
    /// A completed job says everything itself, and so does one that has no groups yet. Any other needs its groups: one
    /// that failed or was canceled shows the same percentage at its end as before it, and that is a sum over the groups.
    pub(crate) async fn read_groups(&self, job: Job) -> PortResult<Option<(Vec<Group>, Job)>> {
        if job.status == Status::Completed || job.split.groups == 0 {
            return Ok(Some((Vec::new(), job)));
        }
        let first = job.retry.carried_over.groups;
        let Some((groups, job)) = self.progress(job.job_id, first).await? else { return Ok(None) };
        if job.completion.totals.is_none_or(|totals| totals == progress::counts(&job, &groups)) {
            return Ok(Some((groups, job)));
        }
        // The job ended after its groups were read; now nothing changes any more.
        self.progress(job.job_id, first).await
    }

    /// The groups of earlier generations are not read: what they left stands in the job's base.
    async fn progress(&self, id: JobId, first: u32) -> PortResult<Option<(Vec<Group>, Job)>> {
        Ok(self.ports.store.progress_from(id, first).await?.filter(|(_, job)| !job.is_deleted()))
    }
}

/// There is none, or none that this tenant may see.
pub(crate) fn no_such_job() -> Problem {
    Problem::not_found("job")
}
