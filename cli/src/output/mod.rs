//! Output of the commands, and their ends.
//!
//! | file | content |
//! | --- | --- |
//! | `macros` | output macros that ignore a closed output |
//! | `texts` | texts for people |
//! | [`progress`] | a line for each step, with a spinner |
//! | `documents`, `table` | documents of the API as JSON, and tables |
//! | `pages` | lists of the API, page by page, and paths with a query |
//! | `confirm` | the question before something is created |
//! | [`exit`] | exit codes, and errors that have one |
//! | [`interrupt`] | Ctrl-C, SIGTERM and SIGHUP |

// First, so that all other modules see its macros.
#[macro_use]
mod macros;

pub(crate) mod confirm;
pub(crate) mod documents;
pub mod exit;
pub mod interrupt;
pub(crate) mod pages;
pub mod progress;
pub(crate) mod table;
mod texts;

pub(crate) use texts::duration;
pub use texts::printable;
