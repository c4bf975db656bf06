//! `smoke`: runs a small import against a deployed stack, on AWS or on an emulator, and checks every row.
//!
//! The command first prints what it will create and what it costs, and asks for confirmation. At the end it removes
//! everything that it created in the stack, even after an error, Ctrl-C, a kill or a closed terminal. Its local files stay in
//! the temporary folder after a kill.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options and steps of the test; the tested stack, and the user who calls its API |
//! | `file` | the imported file |
//! | [`cleanup`] | the removal of the test data, in a separate process |

pub mod cleanup;
mod command;
mod file;

pub use command::{Options, run};
