//! Reasons for refusing a schema, each with a pointer into the schema.

use longshore_domain::text::shortened;

use crate::field_error::FieldError;

/// Maximum length of a refusal in characters: the validator's messages can repeat large parts of a schema.
const MAX_CHARS: usize = 500;

/// A refused schema.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Refusal {
    code: &'static str,
    pointer: String,
    detail: String,
}

impl Refusal {
    /// Refuses a value that is not a schema, or uses a feature that is not supported.
    pub(super) fn invalid(pointer: &str, detail: impl Into<String>) -> Self {
        Self { code: "invalid_schema", pointer: pointer.to_owned(), detail: detail.into() }
    }

    /// Refuses a schema against which a row could take too long to check.
    pub(super) fn complex(pointer: &str, detail: impl Into<String>) -> Self {
        Self { code: "schema_too_complex", pointer: pointer.to_owned(), detail: detail.into() }
    }
}

impl Refusal {
    /// Returns the error of a request that has the schema at this pointer.
    pub(super) fn at(&self, schema: &str) -> FieldError {
        let pointer = shortened(&self.pointer, MAX_CHARS);
        FieldError::new(format!("{schema}{pointer}"), self.code, shortened(&self.detail, MAX_CHARS))
    }
}

impl From<Refusal> for FieldError {
    fn from(refusal: Refusal) -> Self {
        refusal.at("/options/schema")
    }
}
