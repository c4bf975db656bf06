//! Contract check: compares responses with the API document, `docs/openapi.json`. Every call that a test makes verifies
//! the document, down to each property.
//!
//! Not checked: rules that a document cannot express, such as combinations of values.

mod answer;

#[cfg(test)]
mod tests;

pub use answer::{Answer, DOCUMENT, validator};
