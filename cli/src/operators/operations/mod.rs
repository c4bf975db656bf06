//! `operations`: an operator's view of the jobs, failures, queues and handlers of all tenants.
//!
//! A thin client: the API makes all decisions.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options and output |
//! | `filter` | the filter of jobs and failures |
//! | `failures` | groups of failures, added up over pages |
//! | `retry` | the retry of a group |
//! | `pauses` | pauses of job types and tenants |

mod command;
mod failures;
mod filter;
mod pauses;
mod retry;

pub use command::{Options, run};
