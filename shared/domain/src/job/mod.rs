//! A job: its definition, its progress and its result. A final status never changes.

mod checkpoint;
mod chunk_queue;
mod error;
mod generation;
mod original;
mod part;
mod priority;
mod record;
mod retry_state;
mod selection;
mod source;
mod status;
mod times;
mod tolerance;
mod transition;
mod undo;

pub use checkpoint::MoveCheckpoint;
pub use chunk_queue::ChunkQueue;
pub use error::{JobError, Stop};
pub use generation::{CORRECTED_ISSUES, Reopen};
pub use original::{Original, Preparation};
pub use part::{Part, PartSource};
pub use priority::Priority;
pub use record::{Checkpoint, CompletionState, Job, SplitState, Validation};
pub use retry_state::{CarriedOver, RetryState};
pub use selection::{FailureFilter, Selection};
pub use source::{DatasetSource, ItemFile, Source, SourceFile};
pub use status::{Stage, Status};
pub use times::{JobTimes, deadline, has_time, latest_start};
pub use tolerance::Tolerance;
pub use transition::{Finish, Transition};
pub use undo::{MarkUndone, UndoState, UndoneImport};
