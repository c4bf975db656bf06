//! Services and settings of the function, real or fake.

use longshore::files::S3Files;
use longshore::handler::Registry;
use longshore::http::{Access, Operators};
use longshore::ports::Ports;
use longshore::queues::SqsQueues;
use longshore::store::dynamo::DynamoStore;
use longshore::store::records::DynamoRecords;
use longshore_domain::job::Job;
use longshore_domain::ports::DownloadUrls;
use longshore_domain::ports::RecordStore;
use longshore_domain::ports::{Files, JobTypes, PingQueue, QueueDepth, Queues, Store, TenantCounts};
use longshore_domain::rate::Rate;
use longshore_domain::timestamp::Timestamp;
use longshore_outbound::policy::UrlPolicy;

use crate::job_types::Registrations;
use crate::queue_depths::QueueDepths;

/// A choice of services: one type parameter instead of six.
pub trait Backend: Send + Sync + 'static {
    /// Store of jobs and uploads.
    type Store: Store + TenantCounts;
    /// Queues for create and complete messages, with their depths.
    type Queues: Queues + QueueDepth;
    /// Storage of sources and reports.
    type Files: Files + DownloadUrls;
    /// Store of imported records.
    type Records: RecordStore;
    /// Store of registered job types.
    type JobTypes: JobTypes + 'static;
    /// Queue of pings to handlers.
    type Pings: PingQueue + 'static;
}

/// The AWS services.
#[derive(Copy, Clone, Debug)]
pub struct Deployed;

impl Backend for Deployed {
    type Store = DynamoStore;
    type Queues = SqsQueues;
    type Files = S3Files;
    type Records = DynamoRecords;
    type JobTypes = DynamoStore;
    type Pings = SqsQueues;
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
    /// Seconds after the end of an import until no worker of it can still write: the sweeper's stall time.
    pub stall_s: i64,
}

impl Limits {
    /// Returns the expiry time of a job that is accepted now, in seconds.
    pub(crate) fn expires_at(&self, now: Timestamp) -> i64 {
        now.plus_days(self.retention_days).seconds()
    }

    /// Returns the time in seconds until which a job and its folder are kept.
    pub(crate) fn kept_until(&self, job: &Job) -> i64 {
        job.kept_until(self.retention_days)
    }
}

/// State of the function: services, job types, limits and the clock.
pub struct Api<B: Backend> {
    /// Store, queues and files.
    pub ports: Ports<B::Store, B::Queues, B::Files>,
    /// Store of imported records.
    pub records: B::Records,
    /// Job types that clients may request.
    pub registry: Registry,
    /// Registered job types.
    pub job_types: Registrations<B::JobTypes, B::Pings>,
    /// Access control.
    pub access: Access,
    /// Authorization of operators.
    pub operators: Operators,
    /// Limits.
    pub limits: Limits,
    /// Rate limit of a tenant's calls, per process.
    pub tenant_calls: Rate,
    /// URLs that webhooks may have.
    pub webhook_urls: UrlPolicy,
    /// Cached queue depths.
    pub queue_depths: QueueDepths,
    /// The clock.
    pub clock: fn() -> Timestamp,
}
