//! `types`: commands for job types whose handler is a Lambda function or an HTTPS endpoint.
//!
//! | module | content |
//! | --- | --- |
//! | [`check`] | `types check`: tells what a handler does wrong, before it is registered |
//! | `registry` | the other subcommands: the registered job types |
//! | `command` | the subcommands |

pub mod check;
mod command;
mod registry;

pub use command::{Options, run};
