//! Calls about registered job types, one file per call, and their shared parts.
//!
//! | file | contains |
//! | --- | --- |
//! | `put`, `get`, `list`, `delete`, `secret` | the calls |
//! | `request`, `request_values` | the body of a PUT: its members, and readers of single values |
//! | `schemas` | the schemas of a PUT |
//! | `registrations` | the services, and the targets that the stack's owner allows |
//! | `find` | the job type of a path |
//! | `own` | registered types of the deployment itself |
//! | `document` | the response |
//! | `examples` | examples of requests and responses |

pub(crate) mod delete;
pub(crate) mod document;
mod examples;
mod find;
pub(crate) mod get;
pub(crate) mod list;
mod own;
pub(crate) mod put;
mod registrations;
mod request;
mod request_values;
mod schemas;
pub(crate) mod secret;

pub use document::{CandidateDocument, JobTypeDocument, JobTypesDocument, TargetDocument};
pub use registrations::Registrations;
pub use secret::SecretDocument;
