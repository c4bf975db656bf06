//! `deploy-check`: run before `sam deploy`, finds errors that would make a deployment to AWS fail, not work or lose
//! data.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options and output |
//! | `inputs` | the files of the deployment |
//! | `account` | queries of the account, and the checks that need them |

mod account;
mod command;
mod inputs;

pub use account::AccountReport;
pub use command::{Options, check_account, run};
