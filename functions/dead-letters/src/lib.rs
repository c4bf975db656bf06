//! Dead letters over HTTP, for operators: list, show, replay, discard.
//!
//! - **Trigger:** every call of the HTTP API about dead letters. A function of its own, so that no other one has a way to what
//!   belongs to all tenants.
//! - **Reads and writes:** the notes that the sweeper has made of the letters, and their jobs. A replay sends the letter's message
//!   again, or opens its job again as a retry does; then it notes on the letter that this was done. A discard only notes.
//! - **Called twice:** a second replay finds the note, or the generation that was opened for the letter, and does no more.
//!   A message that is sent twice is harmless.
//! - **If it fails:** before the note, the letter is still open, and the next replay does what is left. A create message that
//!   could not be sent, the sweeper sends.
//! - **Never:** receives or deletes a message of a dead-letter queue: the sweeper takes away what the notes say is settled.
//!   Never shows a row but to an operator who asks for that very letter.

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

/// The calls that this function answers.
pub const ROUTES: [(&str, &str); 5] = [
    ("GET", "/api/dead-letters"),
    ("GET", "/api/dead-letters/{letterId}"),
    ("DELETE", "/api/dead-letters/{letterId}"),
    ("POST", "/api/dead-letters/{letterId}/replay"),
    ("POST", "/api/dead-letters/replay"),
];

/// The function: services and the clock. It has no use for files.
pub struct DeadLetters<S, Q> {
    /// Jobs and notes; the queues of work.
    pub ports: Ports<S, Q, ()>,
    /// Who may call.
    pub access: Access,
    /// Who is an operator.
    pub operators: Operators,
    /// The time.
    pub clock: fn() -> Timestamp,
}

impl<S: Store + DeadLetterRecords, Q: Queues + RedriveToSource> DeadLetters<S, Q> {
    /// The letter that a path names.
    ///
    /// # Errors
    /// 404 if there is none, or if it has expired and DynamoDB has not yet removed it.
    async fn dead_letter(&self, id: &str) -> Result<DeadLetterRecord, Failure> {
        // What nobody can have been given is not looked for: the table refuses keys that are too long.
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

/// Bytes of the longest id: a time, and what SQS calls a message.
pub(crate) const ID_BYTES: usize = 128;

/// The function as a router.
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
/// If the environment lacks something, or the runtime's API fails.
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
