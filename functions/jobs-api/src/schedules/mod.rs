//! Calls about schedules, and their shared parts.
//!
//! | file | contains |
//! | --- | --- |
//! | `create`, `get`, `put`, `delete`, `trigger`, `occurrences` | the calls |
//! | `request` | the body of a create and a PUT |
//! | `change` | the schedule as a resource, and the response with it |
//! | `document`, `examples` | the responses; examples |

mod change;
pub(crate) mod create;
pub(crate) mod delete;
pub(crate) mod document;
mod examples;
pub(crate) mod get;
pub(crate) mod occurrences;
pub(crate) mod put;
mod request;
pub(crate) mod trigger;

pub use document::{OccurrencesDocument, ScheduleDocument, SchedulesDocument};
