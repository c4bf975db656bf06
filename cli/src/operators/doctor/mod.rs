//! `doctor`: finds what is wrong with a deployed stack, and names the command that fixes it. It changes nothing.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options, and the stack that is examined |
//! | `observe` | the queries of AWS |
//! | `facts` | what was observed |
//! | `checks` | pure functions from the facts to what is wrong |
//! | `runbook` | the section of the runbook for each finding |
//! | `report` | text, JSON, exit code |

mod checks;
mod command;
mod facts;
mod observe;
mod report;
mod runbook;

pub use command::{Options, run};
