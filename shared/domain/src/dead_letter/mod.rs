//! Dead letters: messages that were received too often, as recorded by the sweeper.
//!
//! The message itself is in a dead-letter queue, which can only be received from. So that dead letters can be listed,
//! read and resolved, the sweeper records each in the table, under an id that every sweep derives again. The record
//! says if the dead letter was replayed or discarded; the sweeper then deletes the message from its queue.

mod record;
mod replay;

pub use record::{DeadLetterMessage, DeadLetterRecord, Queue, RETENTION_S, Resolution, ResolutionKind};
pub use replay::{NoEffect, ReplayDecision, decide_replay};
