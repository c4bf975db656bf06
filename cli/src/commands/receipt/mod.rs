//! `verify-receipt`: verifies a job's receipt against the files that it names, offline.
//!
//! | file | content |
//! | --- | --- |
//! | `document` | the receipt |
//! | `measure` | measurements of a local file |
//! | `check` | the comparison of receipt and files |
//! | `results` | that of the results file and its index |
//! | `command` | options and output |

mod check;
mod command;
mod document;
mod measure;
mod results;
#[cfg(test)]
mod tests;

pub use check::{Comparison, Line, Paths, verify};
pub use command::{Options, run};
