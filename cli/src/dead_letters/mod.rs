//! `dead-letters`: an operator's commands for messages that were received too often.
//!
//! A thin client; all decisions are the API's. Exit codes: 0 done, 1 refused or failed (the reason and the remedy on
//! stderr), 2 wrong usage.
//!
//! | file | content |
//! | --- | --- |
//! | `document` | the API's documents |
//! | `client` | the API's calls |
//! | `table` | a list as a table |
//! | `command` | options and output |

mod client;
mod command;
mod document;
mod table;

pub use command::{Options, run};
