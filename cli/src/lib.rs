//! The command line `longshore`, for users and operators. It needs no checkout and no other program.
//!
//! | module | content |
//! | --- | --- |
//! | [`command`] | the command, whose subcommands are in the other modules |
//! | [`connection`] | the deployment and the user of a command; `login` and `logout` |
//! | [`submit`] | `import`, `export` and `run` |
//! | [`jobs`], [`costs`], [`schedules`], [`webhooks`] | `jobs`, `costs`, `schedules`, `webhooks` |
//! | [`watch`] | the wait for the end of a job |
//! | [`operations`], [`dead_letters`] | commands of operators over all tenants |
//! | [`deploy_check`], [`types`], [`receipt`], [`completion`] | further subcommands |
//! | [`doctor`], [`smoke`], [`load`] | what is wrong with a deployed stack; one import with every row checked; many jobs |
//! | [`aws`] | queries of a deployed stack |
//! | [`local_stack`] | the local stack of a checkout |
//! | [`api`] | a client of Longshore's HTTP API |
//! | [`verified_import`] | an import whose every row is verified, for `smoke` and `cargo xtask demo` |
//! | [`exit`], [`interrupt`] | exit codes, and Ctrl-C |
//! | [`progress`] | progress output |
//! | `documents`, `table` | JSON and tables |
//! | `pages` | lists of the API, page by page, and paths with a query |
//! | `confirm` | the question before something is created |
//! | `cleanup_process` | a process that removes test data, whatever ends the command |
//! | `output` | output macros that ignore a closed output; texts for people |

// First, so that all other modules see its macros.
#[macro_use]
pub mod output;

pub mod api;
pub mod aws;
mod cleanup_process;
pub mod command;
pub mod completion;
mod confirm;
pub mod connection;
pub mod costs;
pub mod dead_letters;
pub mod deploy_check;
pub mod doctor;
mod documents;
pub mod exit;
pub mod interrupt;
pub mod jobs;
pub mod load;
pub mod local_stack;
pub mod operations;
mod pages;
pub mod progress;
pub mod receipt;
pub mod schedules;
pub mod smoke;
pub mod submit;
mod table;
pub mod types;
pub mod verified_import;
pub mod watch;
pub mod webhooks;
