//! `import`: turns every row of a file into a record of a dataset, checked against a JSON Schema.
//!
//! A message can be delivered twice, late, or to two workers at once. Every write contains its writer (job and row) and
//! a condition on the stored record's writer, so the records are the same as if the file had been processed once, in
//! order. Unless its option `undo` is false, an import stores each record before it overwrites it (`write_ahead`). Only
//! an import in mode `delete` deletes records. In mode `insert`, an import never overwrites one.

mod columns;
mod conversion;
mod cost;
mod detection;
mod graph;
mod job_type;
mod json_line;
mod kinds;
mod mapping;
mod mode;
mod notations;
mod options;
mod refusal;
mod regex_weight;
mod row;
mod row_reader;
mod schema;
mod violation;
mod write_ahead;

pub(crate) use job_type::LIMITS;
pub use job_type::{Import, NAME};
pub use mode::{Mode, NotUndoable};
pub use notations::{Blanks, Notations};
pub use options::ImportOptions;
pub use row::Row;
pub(crate) use row::read_key;
pub(crate) use schema::Schema;
