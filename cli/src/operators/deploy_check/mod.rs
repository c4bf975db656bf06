//! `deploy-check`: run before `sam deploy`, finds errors that would make a deployment to AWS fail, not work or lose
//! data.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options and output |
//! | `account` | queries of the account, and the checks that need them |
//! | `handlers` | the lists of handlers, read as the functions read them |
//! | `inputs` | the files of the deployment |

mod account;
mod command;
mod handlers;
mod inputs;

pub use account::AccountReport;
pub use command::{Options, check_account, run};
