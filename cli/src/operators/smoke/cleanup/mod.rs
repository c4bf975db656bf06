//! Removes the test data when the test ends: normally, with an error, or by Ctrl-C, a hangup or a kill.
//!
//! A separate process reads a pipe whose only writer is the test. At the end of the pipe it removes the listed test
//! data in the order of dependencies, and nothing else. It reports everything that it cannot remove, and then exits
//! with code 1. A job whose creation was not answered is found in the list of jobs.
//!
//! | file | content |
//! | --- | --- |
//! | `process` | the messages in the pipe, one JSON document per line, and the test's end of it |
//! | `command` | the separate process; the removal of a job, through the API |
//! | `order` | the order of removal, and the reports |
//! | `stored` | removal of an upload and of a dataset, from bucket and tables |

mod command;
mod order;
mod process;
mod stored;

pub use command::run;
pub(super) use process::METADATA;
pub use process::{Cleanup, Deployment, Kind, Message, command};
