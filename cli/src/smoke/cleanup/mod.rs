//! Removes the test data when the test ends: normally, by an error, Ctrl-C, a hangup, or a kill.
//!
//! A process of its own waits for the end of a pipe whose only writer is the test. It removes what was named, in the
//! order of the dependencies, and nothing else. It reports everything that cannot be removed, with exit code 1.
//!
//! | file | content |
//! | --- | --- |
//! | `message` | the messages in the pipe: one JSON document per line |
//! | `process` | the test's end of the pipe |
//! | `command` | the process |
//! | `order` | the order of the removals, and their reports |
//! | `job` | removal of a job, through the API |
//! | `stored` | removal of an upload and of a dataset, from bucket and tables |

mod command;
mod job;
mod message;
mod order;
mod process;
mod stored;

pub use command::run;
pub use message::{Deployment, Kind, Message};
pub use process::{Cleanup, command};
