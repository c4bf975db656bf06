//! `types check`: calls a handler as Longshore does, and tells its author what it does wrong.
//!
//! | file | content |
//! | --- | --- |
//! | `options`, `target`, `samples` | the command line |
//! | `command` | the run: one check after the other, and its exit code |
//! | `order` | the checks in their order, and what each needs |
//! | `checks` | one file per check |
//! | `lab`, `caller`, `messages` | what a check works with: requests, and calls that wait while the handler is busy |
//! | `transport` | HTTPS and Lambda |
//! | `exchange`, `words` | what came back, and its description |
//! | `problems` | every problem: why it matters, and how to fix it |
//! | `report`, `output` | results of checks, as text and as JSON |

mod caller;
mod checks;
mod command;
mod exchange;
mod lab;
mod messages;
mod options;
mod order;
mod output;
mod problems;
mod report;
mod samples;
mod target;
mod transport;
mod words;

pub use command::run;
pub use options::Options;
