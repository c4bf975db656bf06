//! An import through a deployment, as a browser would do it, that verifies every row.
//!
//! The checks are independent of the deployment: rows are counted here with the csv crate, the caller says which rows
//! are valid, and the records are read back one by one.
//!
//! | file | content |
//! | --- | --- |
//! | `plan` | an import: its file, its options, and its expected result |
//! | `source` | properties of the file |
//! | `run` | the import |
//! | `follow` | a job until its end |
//! | `report` | the report files |
//! | `records` | the records of a dataset |
//! | `verify` | the comparison of all these |
//! | `receipt` | the comparison with the receipt |
//! | `show` | the outcome, as shown to the user |

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
pub use run::{Import, Made};
pub use source::Source;
