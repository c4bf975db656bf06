//! Errors over HTTP: RFC 9457 `application/problem+json`, with a JSON pointer (RFC 6901) for each bad field.

mod codes;
mod document;
mod field;
mod kind;

pub use codes::CODES;
pub use document::{Problem, ProblemDocument};
pub use field::FieldError;
pub(crate) use field::escape;
pub use kind::{About, Kind, PAGES};
