//! The command line `longshore`, for users and operators. It needs no checkout and no other program.
//!
//! | module | content |
//! | --- | --- |
//! | [`command`] | the command, whose subcommands are in the other modules |
//! | [`commands`] | commands for users, such as `import`, `export`, `run`, `jobs`, `schedules` and `types` |
//! | [`operators`] | commands for operators: `operations`, `dead-letters`, `deploy-check`, `doctor`, `load`, `smoke` |
//! | [`connection`] | the deployment and the user of a command; `login` and `logout` |
//! | [`api`] | a client of Longshore's HTTP API |
//! | [`aws`] | queries of a deployed stack |
//! | [`local_stack`] | the local stack of a checkout |
//! | [`job`] | the wait for the end of a job |
//! | `file` | uploads and downloads |
//! | [`verified_import`] | an import whose every row is verified, for `smoke` and `cargo xtask demo` |
//! | [`output`] | output, tables, JSON, lists of the API, exit codes, Ctrl-C |
//! | `values` | values of options |

// First, so that all other modules see its macros.
#[macro_use]
pub mod output;

pub mod api;
pub mod aws;
pub mod command;
pub mod commands;
pub mod connection;
mod file;
pub mod job;
pub mod local_stack;
pub mod operators;
mod values;
pub mod verified_import;

pub use output::progress;
