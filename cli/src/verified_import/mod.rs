//! Imports a file through a deployment, as a browser would, and verifies every row.
//!
//! The checks are independent of the deployment: rows are counted with the csv crate, the caller determines which rows
//! are valid, and all records are read back.
//!
//! | file | content |
//! | --- | --- |
//! | `plan` | an import: its file, its options, and its expected result |
//! | `run` | the import, until the end of its job |
//! | `report` | the report files, and the check of the receipt |
//! | `records` | the records of a dataset |
//! | `verify` | the checks of counts, report and records |
//! | `show` | the printed outcome |

mod plan;
mod records;
mod report;
mod run;
mod show;
mod verify;

pub use plan::{Expected, Plan, Source};
pub use run::{Created, Import};
