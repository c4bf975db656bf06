//! The worker of a function: its services, its job types, and the jobs that it knows.

use longshore_domain::time_stamp::Timestamp;

use super::known::KnownJobs;
use crate::handler::Registry;
use crate::ports::Ports;

/// Seconds after which a worker commits, sends its chunk to the end of the queue and makes room for another.
/// A fair queue delivers the messages of quiet tenants first, but stops no running function. This turn is
/// what bounds their wait
/// (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues.html>).
pub const TURN_S: i64 = 20;

/// The dependencies of a worker, other than the message.
pub struct Worker<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// The job types.
    pub registry: &'a Registry,
    /// Definitions that this process has read before.
    pub known: &'a KnownJobs,
    /// Base of the retry schedule, in seconds.
    pub retry_base_s: i64,
    /// The time.
    pub clock: fn() -> Timestamp,
}
