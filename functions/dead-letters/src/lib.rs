//! HTTP API of dead letters, for operators: list, show, replay, discard.
//!
//! - **Trigger:** every call of the HTTP API about dead letters. A separate function, so that no other function has
//!   access to data of all tenants.
//! - **Reads and writes:** the dead-letter records that the sweeper has written, and their jobs. A replay sends the
//!   message again, or reopens its job as a retry does; then it records the resolution. A discard only records the
//!   resolution.
//! - **Called twice:** a second replay finds the resolution, or the reopened job, and does nothing more. A duplicate
//!   message is harmless.
//! - **If it fails:** until the resolution is recorded, the dead letter is open, and the next replay does the remaining
//!   steps. The sweeper sends a create message that could not be sent.
//! - **Never:** receives or deletes a message of a dead-letter queue: the sweeper deletes the messages whose records
//!   are resolved. Never returns a row except to an operator who requests that very dead letter.

mod document;
mod function;
mod list;
mod openapi;
mod replay_job;
mod replay_plan;
mod resolve;
mod routes;
mod show;

pub use document::{
    DeadLetterContents, DeadLetterDocument, DeadLetterKind, DeadLetterLinks, DeadLetterState, DeadLettersDocument,
    ReplayDocument, ReplayLinks,
};
pub use function::DeadLetters;
pub use replay_job::replay_all;
pub use replay_plan::Effect;
pub use routes::{ROUTES, openapi, router, serve};
