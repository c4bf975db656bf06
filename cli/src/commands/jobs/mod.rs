//! `jobs`: what has become of jobs, and what is done with them.
//!
//! | file | contains |
//! | --- | --- |
//! | `command` | the options, and each action |
//! | `list` | the list |
//! | `audit` | the recount of a job |

mod audit;
mod command;
mod list;

pub use command::Options;
pub(crate) use list::jobs_with_metadata;
