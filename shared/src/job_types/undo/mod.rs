//! `undo`: undoes an import, row by row. Clients cannot create it; `POST /api/jobs/{jobId}/undo` does.
//!
//! The items are the rows of the import, and the job looks at the record of each row's key. A record that the import
//! created is deleted, and one that it overwrote gets its previous version back, from the file that the import wrote
//! before. Each write is conditional on the version that was read. A record that another job or program has written
//! since stays. A second delivery finds the key gone, or the record restored by this undo.

mod job_type;
mod options;
mod previous;
mod revert;

pub use job_type::{NAME, Undo, UndoRow};
pub use options::{UndoOptions, undo_options};
