//! Registrations of job types: a Lambda function or an HTTPS endpoint that processes the items of jobs.
//!
//! An operator registers a handler under a name. The registration is a candidate until the handler has answered a ping,
//! and the active one stays in force until then. Everything here is a pure function; stores apply the rules of
//! [`stored`] as conditional writes.
//!
//! | module | contents |
//! | --- | --- |
//! | [`content`] | a registration, and the ranges of its numbers |
//! | [`name`], [`target`], [`function_alias`] | names of job types; targets; ARNs of aliases of Lambda functions |
//! | [`schema`], [`form`] | limits of JSON Schemas; the subset that forms draw |
//! | [`stored`], [`version`] | the active registration and its candidate; versions |

pub mod content;
pub mod form;
pub mod function_alias;
pub mod name;
pub mod schema;
pub mod stored;
pub mod target;
pub mod version;

pub use content::{BatchSize, RegisteredInput, Registration};
pub use function_alias::{AllowedFunctions, BadFunctionAlias, FunctionAlias};
pub use name::{BadTypeName, TypeName};
pub use schema::{BadSchema, check_schema};
pub use stored::{
    Activation, Candidate, PutPlan, Refusal, RegistrationStatus, StoredRegistration, VersionedRegistration,
};
pub use target::Target;
pub use version::{Revision, Version};

/// Maximum number of registered job types of a stack.
pub const MAX_JOB_TYPES: usize = 200;
