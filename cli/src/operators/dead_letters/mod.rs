//! `dead-letters`: an operator's commands for messages in the dead-letter queues.
//!
//! A thin client: the API makes all decisions.
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
