//! `types`: commands for job types whose handler is a Lambda function or an HTTPS endpoint.
//!
//! | module | content |
//! | --- | --- |
//! | [`check`] | `types check`: tells what a handler does wrong, before it is registered |
//! | `command` | the subcommands |

pub mod check;
mod command;

pub use command::{Options, run};
