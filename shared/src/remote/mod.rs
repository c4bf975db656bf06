//! Job types whose handlers are Lambda functions or HTTPS endpoints.
//!
//! The rules of the contract are in the domain ([`longshore_domain::remote`]). Here are a registered type as a job type,
//! its items as JSON, and the port of the calls; the worker's part is in [`crate::chunk`].
//!
//! | module | contents |
//! | --- | --- |
//! | `calls` | the port of the calls, and what comes back |
//! | `item_value` | an item as the JSON value of a request |
//! | `options_schema` | the schema of the options of a registered type |
//! | `pinging` | the call that sends a ping |
//! | `registered_type` | a registered type as a job type, and its jobs |

mod calls;
mod item_value;
mod options_schema;
mod pinging;
mod registered_type;

pub use calls::{CallHandlers, Calling, NotCalled, RemoteCall, RemoteReply};
pub use options_schema::OptionsSchema;
pub use pinging::{PingedHandler, ping};
pub use registered_type::{RegisteredType, RemoteJob};
