//! Reasons why a schema is not taken, with the place in it.

use longshore_domain::text::shortened;

use crate::problem::FieldError;

/// Characters of a refusal: the validator repeats whole parts of a schema in its own.
const MAX_CHARS: usize = 500;

/// A schema that is not taken.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Refusal {
    code: &'static str,
    pointer: String,
    detail: String,
}

impl Refusal {
    /// A schema that is none, or none that is read here.
    pub(super) fn invalid(pointer: &str, detail: impl Into<String>) -> Self {
        Self { code: "invalid_schema", pointer: pointer.to_owned(), detail: detail.into() }
    }

    /// A schema whose work has no reasonable bound.
    pub(super) fn complex(pointer: &str, detail: impl Into<String>) -> Self {
        Self { code: "schema_too_complex", pointer: pointer.to_owned(), detail: detail.into() }
    }
}

impl From<Refusal> for FieldError {
    fn from(refusal: Refusal) -> Self {
        let pointer = shortened(&refusal.pointer, MAX_CHARS);
        FieldError::new(format!("/options/schema{pointer}"), refusal.code, shortened(&refusal.detail, MAX_CHARS))
    }
}
