//! Imports a file through a deployment, as a browser would, and verifies every row.
//!
//! The checks are independent of the deployment: rows are counted with the csv crate, the caller determines which rows
//! are valid, and all records are read back.
//!
//! | file | content |
//! | --- | --- |
//! | `plan` | an import: its file, its options, and its expected result |
//! | `source` | properties of the file |
//! | `run` | the import |
//! | `follow` | waits for the end of the job |
//! | `report` | the report files |
//! | `records` | the records of a dataset |
//! | `verify` | the checks of counts, report and records |
//! | `receipt` | the check of the receipt |
//! | `show` | the printed outcome |

mod follow;
mod plan;
mod receipt;
mod records;
mod report;
mod run;
mod show;
mod source;
mod verify;

pub use plan::{Expected, Plan};
pub use run::{Created, Import};
pub use source::Source;
