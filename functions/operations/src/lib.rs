//! HTTP API of operators: jobs, failures, queues, handlers, pauses, webhooks and dead letters of all tenants.
//!
//! - **Trigger:** every call below `/api/operations` and `/api/dead-letters`. A separate function, so that no other one
//!   has a permission on the operators' log, or answers with jobs or rows of all tenants. Costs of other tenants are
//!   read in `jobs-api`.
//! - **Reads and writes:** jobs, the documents of their reports, the numbers of the queues, the states of handlers, and
//!   the dead-letter records that the sweeper has written. A replay sends the message again, or reopens its job as a
//!   retry does; then it records the resolution. A discard only records the resolution. A retry reopens each of its
//!   jobs for the items that failed with one code. A pause or its end changes one pause record. Each action, and each
//!   read of a dead letter's rows, appends to the operators' log, before it and after it.
//! - **Called twice:** a second replay finds the resolution, or the reopened job, and does nothing more. A second retry
//!   finds the jobs running for the same code. A duplicate message is harmless. A second pause returns the one in
//!   force. A second end returns 204 while the first is among the last 50 actions.
//! - **If it fails:** until the resolution is recorded, the dead letter is open, and the next replay does the remaining
//!   steps. The sweeper sends a create message that could not be sent. An action whose result is not in the log has an
//!   unknown end.
//! - **Never:** receives or deletes a message of a dead-letter queue: the sweeper deletes the messages whose records
//!   are resolved. Never returns a row except to an operator who requests that very dead letter, and none to a
//!   read-only operator. Never changes or deletes an entry of the log.

mod dead_letters;
mod failures;
mod function;
mod handlers;
mod jobs;
mod log;
mod names;
mod pauses;
mod queues;
mod retries;
mod routes;
mod webhooks;

use longshore_domain::ids::JobId;

pub use dead_letters::document::{
    DeadLetterContents, DeadLetterDocument, DeadLetterKind, DeadLetterLinks, DeadLetterState, DeadLettersDocument,
    ReplayDocument, ReplayLinks,
};
pub use dead_letters::replay_job::replay_all;
pub use dead_letters::replay_plan::Effect;
pub use failures::group::FailureGroupDocument;
pub use failures::list::FailureGroupsDocument;
pub use function::{Backend, Deployed, Operations};
pub use handlers::list::{BreakerDocument, BreakerState, HandlerDocument, HandlersDocument};
pub use jobs::document::{OperatorJobCounts, OperatorJobDocument, OperatorJobsDocument};
pub use log::list::{LogDocument, LogEntryDocument, LogResultDocument};
pub use pauses::list::{PauseDocument, PausesDocument};
pub use queues::DeployedStatistics;
pub use queues::list::{QueueDocument, QueuesDocument};
pub use retries::document::{JobRetryDocument, JobRetryOutcome, RetriesDocument};
pub use routes::{ROUTES, openapi, router, serve};
pub use webhooks::list::{OperatorWebhookDocument, OperatorWebhooksDocument, WebhookState};

/// The job of the examples.
fn example_job() -> JobId {
    JobId::parse("019f2c3e-7b1a-7c44-9d0e-2f6a1b3c4d5e").unwrap_or_else(JobId::generate)
}
