//! A job: its definition, its progress and its result. A final status never changes.

mod checkpoint;
mod deadline;
mod error;
mod generation;
mod priority;
mod record;
mod status;
mod stored_parts;
mod tolerance;
mod transition;

pub use checkpoint::MoveCheckpoint;
pub use deadline::{deadline, has_time};
pub use error::{JobError, Stop};
pub use generation::{CORRECTED_ISSUES, Reopen};
pub use priority::Priority;
pub use record::Job;
pub use status::{Stage, Status};
pub use stored_parts::{
    CarriedOver, Checkpoint, CompletionState, JobTimes, RetryState, SourceFile, SplitState, Validation,
};
pub use tolerance::Tolerance;
pub use transition::{Finish, Transition};
