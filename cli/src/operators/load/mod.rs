//! `load`: many jobs at a rate or at once, with exact counts and latencies.
//!
//! An open loop begins each job at its time, however long the others take, and measures from that time: a slow
//! deployment does not slow down the load (coordinated omission). A closed loop begins the next job when one has ended.
//! The command removes what it has created, even after an error, Ctrl-C, a kill or a closed terminal.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | the steps: announcement, run, report, removal |
//! | `options` | the options |
//! | `rate`, `mix` | values of options: jobs per time, kinds of jobs with their shares |
//! | `arrivals` | the times at which jobs begin |
//! | `tenant` | the users, and their clients |
//! | `content` | the content of a job's file, its expected counts, the request |
//! | `files` | the files, written shortly before they are sent |
//! | `run` | the workers |
//! | `job`, `outcome` | one job, from its upload to its end; the check of its counts |
//! | `latencies`, `tally` | histograms; the results of the jobs |
//! | `report` | the table, the JSON, the percentile files |
//! | [`cleanup`] | the removal of what was created, in a separate process |

mod arrivals;
pub mod cleanup;
mod command;
mod content;
mod files;
mod job;
mod latencies;
mod mix;
mod options;
mod outcome;
mod rate;
mod report;
mod run;
mod tally;
mod tenant;

pub use command::run;
pub use options::Options;
