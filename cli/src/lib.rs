//! The operators' command `longshore`. It needs no checkout and no other program.
//!
//! | module | content |
//! | --- | --- |
//! | [`dead_letters`], [`deploy_check`], [`smoke`], [`types`], [`receipt`] | the subcommands |
//! | [`aws`] | queries of a deployed stack |
//! | [`local_stack`] | the local stack of a checkout |
//! | [`api`] | a client of Longshore's HTTP API |
//! | [`import`] | an import that verifies every row |
//! | [`progress`] | progress output |
//! | `output` | output macros that ignore a closed output |

// First, so that all other modules see its macros.
#[macro_use]
mod output;

pub mod api;
pub mod aws;
pub mod dead_letters;
pub mod deploy_check;
pub mod import;
pub mod local_stack;
pub mod progress;
pub mod receipt;
pub mod smoke;
pub mod types;
