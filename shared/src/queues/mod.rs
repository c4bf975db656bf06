//! Messages between the functions: control messages, chunks by priority, queue depths and dead letters.
//!
//! The ports are the domain's: see `longshore_domain::ports`.

mod body;
mod counts;
mod dead_letters;
mod sqs;
mod urls;

use longshore_domain::ports::PortError;

pub use body::body;
pub use counts::SqsQueueCounts;
pub use dead_letters::SqsDeadLetters;
pub use sqs::SqsQueues;
pub use urls::QueueUrls;

/// Error of an operation on a queue whose URL was not configured.
#[derive(Debug, thiserror::Error)]
#[error("no URL is configured for the {0} queue")]
struct NoQueueUrl(String);

/// Names the failed operation as the port does.
fn failed<E>(operation: &'static str) -> impl Fn(E) -> PortError
where
    E: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    move |source| PortError { service: "queues", operation, source: source.into() }
}
