//! Errors over HTTP: RFC 9457 `application/problem+json`, with a JSON pointer (RFC 6901) for each bad field.

mod codes;
mod document;
mod kind;

pub use codes::CODES;
pub use document::{Problem, ProblemDocument};
pub use kind::{About, Kind, PAGES};
