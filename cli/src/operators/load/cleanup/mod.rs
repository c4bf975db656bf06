//! Removes what a run has created, in a separate process: open jobs are canceled, then the records and all jobs are
//! removed, all of it through the API. Jobs whose creation was not reported are found in the list of jobs.
//!
//! | file | content |
//! | --- | --- |
//! | `process` | the messages to the process, and the run's end of the pipe |
//! | `command` | the separate process |
//! | `remove` | the removal of a tenant's test data |

mod command;
mod process;
mod remove;

pub use command::run;
pub(super) use process::Cleanup;
pub use process::Message;

pub use super::tenant::UserConnection;
