//! HTTP API of dead letters, for operators: list, show, replay, discard.
//!
//! - **Trigger:** every call of the HTTP API about dead letters. A separate function, so that no other function has
//!   access to data of all tenants.
//! - **Reads and writes:** the dead-letter records that the sweeper has written, and their jobs. A replay sends the
//!   message again, or opens its job again as a retry does; then it records the resolution. A discard only records the
//!   resolution.
//! - **Called twice:** a second replay finds the resolution, or the generation that was opened for the dead letter, and
//!   does nothing more. A duplicate message is harmless.
//! - **If it fails:** until the resolution is recorded, the dead letter is open, and the next replay does the remaining
//!   steps. The sweeper sends a create message that could not be sent.
//! - **Never:** receives or deletes a message of a dead-letter queue: the sweeper deletes the messages whose records
//!   are resolved. Never returns a row except to an operator who requests that very dead letter.

mod discard;
mod document;
mod effect;
mod list;
mod openapi;
mod refused;
mod replay;
mod replay_selection;
mod show;

use std::sync::Arc;

use axum::Router;
use axum::routing::{get, post};
use longshore::config::{self, Aws};
use longshore::http::{self, Access, Failure, Operators};
use longshore::ports::Ports;
use longshore::problem::Problem;
use longshore::queues::RedriveToSource;
use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::ports::{DeadLetterRecords, Queues, Store, TenantLimits};
use longshore_domain::time_stamp::Timestamp;

pub use document::{
    DeadLetterContents, DeadLetterDocument, DeadLetterLinks, DeadLettersDocument, Kind, LetterState, ReplayDocument,
    ReplayLinks,
};
pub use effect::Effect;
pub use openapi::openapi;

/// Routes of this function.
pub const ROUTES: [(&str, &str); 5] = [
    ("GET", "/api/dead-letters"),
    ("GET", "/api/dead-letters/{letterId}"),
    ("DELETE", "/api/dead-letters/{letterId}"),
    ("POST", "/api/dead-letters/{letterId}/replay"),
    ("POST", "/api/dead-letters/replay"),
];

/// State of the function: services and the clock. It needs no files.
pub struct DeadLetters<S, Q> {
    /// Store of jobs and dead-letter records; the work queues.
    pub ports: Ports<S, Q, ()>,
    /// Access control.
    pub access: Access,
    /// Authorization of operators.
    pub operators: Operators,
    /// The clock.
    pub clock: fn() -> Timestamp,
}

impl<S: Store + DeadLetterRecords, Q: Queues + RedriveToSource> DeadLetters<S, Q> {
    /// Returns the dead letter that a path names.
    ///
    /// # Errors
    /// 404 if it does not exist, or if it has expired and DynamoDB has not yet removed it.
    async fn dead_letter(&self, id: &str) -> Result<DeadLetterRecord, Failure> {
        // Ids that cannot exist are not looked up: the table refuses keys that are too long.
        if id.len() > ID_BYTES {
            return Err(Problem::not_found("dead letter").into());
        }
        let dead_letter = self.ports.store.dead_letter(id).await?;
        let dead_letter = dead_letter.filter(|dead_letter| self.is_kept(dead_letter));
        Ok(dead_letter.ok_or_else(|| Problem::not_found("dead letter"))?)
    }

    fn is_kept(&self, dead_letter: &DeadLetterRecord) -> bool {
        dead_letter.expires_at > (self.clock)().seconds()
    }
}

/// Maximum length of an id in bytes: a time and an SQS message id.
pub(crate) const ID_BYTES: usize = 128;

/// Returns the function as a router.
pub fn router<S, Q>(function: DeadLetters<S, Q>) -> Router
where
    S: Store + DeadLetterRecords + 'static,
    Q: Queues + RedriveToSource + 'static,
{
    let router = Router::new()
        .route("/api/dead-letters", get(list::list::<S, Q>))
        .route("/api/dead-letters/replay", post(replay::replay_job::<S, Q>))
        .route("/api/dead-letters/{letterId}", get(show::show::<S, Q>).delete(discard::discard::<S, Q>))
        .route("/api/dead-letters/{letterId}/replay", post(replay::replay::<S, Q>));
    let router = http::with_operators(http::with_problems(router), &function.operators);
    http::with_access(router, &function.access).with_state(Arc::new(function))
}

/// Runs the function, configured from the environment.
///
/// # Errors
/// If a required setting is missing, or the runtime's API fails.
pub async fn serve(aws: &Aws) -> Result<(), lambda_http::Error> {
    let limits = TenantLimits { active_jobs: config::max_active_jobs()?, ..TenantLimits::default() };
    let function = DeadLetters {
        ports: Ports { store: aws.store()?.with_limits(limits), queues: aws.queues(), files: () },
        access: config::access()?,
        operators: config::operators()?,
        clock: Timestamp::now,
    };
    http::serve("dead-letters", router(function)).await
}
