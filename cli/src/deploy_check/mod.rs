//! `deploy-check`: finds everything that would make a deployment to AWS fail, not work or lose data, before `sam
//! deploy`.
//!
//! | file | content |
//! | --- | --- |
//! | `command` | options and output |
//! | `inputs` | the files of the deployment |
//! | `answers` | queries of the account, and the checks of their answers |

mod answers;
mod command;
mod inputs;

pub use answers::Asked;
pub use command::{Options, asked, run};
