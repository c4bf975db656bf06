//! `operations`: an operator's view of the jobs, failures, queues and handlers of all tenants.
//!
//! A thin client: the API makes all decisions.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options and output |
//! | `query` | the filter of jobs and failures, and lists page by page |
//! | `failures` | groups of failures, added up over pages |
//! | `retry` | the retry of a group |
//! | `pauses` | pauses of job types and tenants |

mod command;
mod failures;
mod pauses;
mod query;
mod retry;

pub use command::{Options, run};
