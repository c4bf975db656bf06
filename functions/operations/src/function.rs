//! Services and settings of the function, real or fake.

use longshore::files::S3Files;
use longshore::handler::Registry;
use longshore::http::{Access, Operators};
use longshore::ports::Ports;
use longshore::queues::SqsQueues;
use longshore::store::dynamo::{DynamoOperatorLog, DynamoStore};
use longshore_domain::ports::{
    DeadLetterRecords, Files, JobTypes, OperatorLog, PauseRecords, QueueAges, QueueCounts, Queues, RedriveToSource,
    Store,
};
use longshore_domain::timestamp::Timestamp;

use crate::queues::DeployedStatistics;

/// A choice of services: one type parameter instead of five.
pub trait Backend: Send + Sync + 'static {
    /// Store of jobs, dead-letter records, registered job types and pauses.
    type Store: Store + DeadLetterRecords + JobTypes + PauseRecords;
    /// Queues to which a replay or a retry sends.
    type Queues: Queues + RedriveToSource;
    /// Statistics of all queues.
    type Statistics: QueueCounts + QueueAges;
    /// Storage of reports.
    type Files: Files;
    /// Log of operators' actions.
    type Log: OperatorLog;
}

/// The AWS services.
#[derive(Copy, Clone, Debug)]
pub struct Deployed;

impl Backend for Deployed {
    type Store = DynamoStore;
    type Queues = SqsQueues;
    type Statistics = DeployedStatistics;
    type Files = S3Files;
    type Log = DynamoOperatorLog;
}

/// State of the function: services, settings and the clock.
pub struct Operations<B: Backend> {
    /// Store, queues and reports.
    pub ports: Ports<B::Store, B::Queues, B::Files>,
    /// Statistics of all queues.
    pub statistics: B::Statistics,
    /// Log of operators' actions.
    pub log: B::Log,
    /// Registrations of the deployment's own code.
    pub registry: Registry,
    /// Access control.
    pub access: Access,
    /// Authorization of operators.
    pub operators: Operators,
    /// Days for which jobs are kept: no list goes back further.
    pub retention_days: i64,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl<B: Backend> Operations<B> {
    /// Returns the time before which no job that is kept was accepted. A job that starts later is kept from its start.
    pub(crate) fn oldest(&self, now: Timestamp) -> Timestamp {
        now.plus_days(-(2 * self.retention_days + 1)).max(Timestamp(0))
    }
}
