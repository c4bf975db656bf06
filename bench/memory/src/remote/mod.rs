//! Speed of remote handlers that do nothing: jobs over in-memory services by the code of call-handler, beside bare calls
//! of the same server with the same batches.
//!
//! | module | contents |
//! | --- | --- |
//! | `server`, `authority` | the server that answers, in this process; its certificates |
//! | `target` | a handler, and the calls of it that call-handler and a bare client make |
//! | `call_handler`, `bare` | a process of call-handler; a bare client |
//! | `measure` | jobs and bare calls in turn |
//! | `report` | the tables of the measurements |

mod authority;
mod bare;
mod call_handler;
mod measure;
mod report;
mod server;
mod target;

pub(crate) use measure::{ARGUMENT, measure, run};
pub(crate) use report::{goals, priced, tables};
