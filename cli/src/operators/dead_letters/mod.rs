//! `dead-letters`: an operator's commands for messages in the dead-letter queues.
//!
//! A thin client: the API makes all decisions.
//!
//! | file | content |
//! | --- | --- |
//! | `document` | the API's documents |
//! | `client` | the API's calls |
//! | `table` | a list as a table |
//! | `each` | a call for each of several dead letters |
//! | `command` | options and output |

mod client;
mod command;
mod document;
mod each;
mod table;

pub use command::{Options, run};
