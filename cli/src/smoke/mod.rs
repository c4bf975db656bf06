//! `smoke`: runs a small import against a deployed stack, on AWS or on an emulator, and checks every row.
//!
//! It first prints what it will create and the cost, and asks for confirmation. It removes everything that it
//! created, no matter how it ends: by an error, by Ctrl-C, by a kill, or because its terminal was closed.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options and course of the test |
//! | `file` | the imported file |
//! | `target` | the tested stack, and the user who calls it |
//! | [`cleanup`] | the removal, in a process of its own |

pub mod cleanup;
mod command;
mod file;
mod target;

pub use command::{Options, run};
