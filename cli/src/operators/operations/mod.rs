//! `operations`: an operator's view of the jobs, failures, queues, handlers, webhooks and pauses of all tenants.
//!
//! A thin client: the API makes all decisions.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options and steps |
//! | `rows` | rows of the tables |
//! | `filter` | the filter of jobs and failures |
//! | `failures` | groups of failures, added up over pages |
//! | `retry` | the retry of a group |
//! | `webhooks` | webhooks of a tenant |
//! | `pauses` | pauses of job types and tenants |

mod command;
mod failures;
mod filter;
mod pauses;
mod retry;
mod rows;
mod webhooks;

pub use command::{Options, run};
