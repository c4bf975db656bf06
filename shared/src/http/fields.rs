//! Reads a request's object member by member and collects every error, so that the client gets all errors at once.

use serde_json::{Map, Value};

use crate::field_error::{FieldError, escape};
use crate::problem::Problem;

/// Error of a value: a stable code, and a sentence that describes a valid value.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Bad {
    /// Stable code, in snake case.
    pub code: &'static str,
    /// Text for people.
    pub detail: String,
}

impl Bad {
    /// Creates an error from its two parts.
    pub fn new(code: &'static str, detail: impl Into<String>) -> Self {
        Self { code, detail: detail.into() }
    }
}

/// A value that was read, or its error.
pub type Checked<T> = Result<T, Bad>;

/// The members of an object that are not yet read, and the errors of those that are.
#[derive(Debug)]
pub struct Fields {
    members: Map<String, Value>,
    known: Vec<&'static str>,
    errors: Vec<FieldError>,
}

impl Fields {
    /// Creates a reader of these members.
    pub fn new(members: Map<String, Value>) -> Self {
        Self { members, known: Vec::new(), errors: Vec::new() }
    }

    /// Reads a required member.
    pub fn required<T>(&mut self, name: &'static str, read: impl FnOnce(&Value) -> Checked<T>) -> Option<T> {
        self.known.push(name);
        let Some(value) = self.members.remove(name) else {
            self.refuse(name, &Bad::new("required", format!("{name} is required")));
            return None;
        };
        self.checked(name, read(&value))
    }

    /// Reads an optional member; `null` counts as missing.
    pub fn optional<T>(&mut self, name: &'static str, read: impl FnOnce(&Value) -> Checked<T>) -> Option<T> {
        self.known.push(name);
        let value = self.members.remove(name).filter(|value| !value.is_null())?;
        self.checked(name, read(&value))
    }

    /// Records an error of a member that was found after reading it.
    pub fn refuse(&mut self, name: &str, bad: &Bad) {
        self.errors.push(FieldError::new(format!("/{}", escape(name)), bad.code, &*bad.detail));
    }

    /// Records errors that have their own pointers.
    pub fn refuse_all(&mut self, errors: Vec<FieldError>) {
        self.errors.extend(errors);
    }

    /// Returns true if and only if every member was read and none has an error.
    pub fn is_valid(&self) -> bool {
        self.errors.is_empty() && self.members.is_empty()
    }

    /// Finishes reading: every member that was not read is unknown.
    ///
    /// # Errors
    /// 422 with every recorded error.
    pub fn finish(self) -> Result<(), Problem> {
        let errors = self.all_errors();
        if errors.is_empty() { Ok(()) } else { Err(Problem::invalid(errors)) }
    }

    /// Returns the problem with every recorded error. Only if there is an error.
    pub fn into_problem(self) -> Problem {
        Problem::invalid(self.all_errors())
    }

    fn all_errors(self) -> Vec<FieldError> {
        let known = self.known.join(", ");
        let unknown = self.members.keys().map(|name| {
            let detail = format!("unknown field; the fields are {known}");
            FieldError::new(format!("/{}", escape(name)), "unknown_field", detail)
        });
        self.errors.into_iter().chain(unknown).collect()
    }

    fn checked<T>(&mut self, name: &'static str, checked: Checked<T>) -> Option<T> {
        checked.map_err(|bad| self.refuse(name, &bad)).ok()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn fields(body: Value) -> Fields {
        Fields::new(body.as_object().cloned().unwrap())
    }

    fn number(value: &Value) -> Checked<u64> {
        value.as_u64().ok_or_else(|| Bad::new("invalid_type", "a number"))
    }

    #[test]
    fn all_errors_are_reported_at_once() {
        let mut fields = fields(json!({"a": "x", "c": null, "e/f": 1}));
        assert_eq!(fields.required("a", number), None);
        assert_eq!(fields.required("b", number), None);
        assert_eq!(fields.optional("c", number), None);
        assert!(!fields.is_valid());
        let problem = fields.finish().unwrap_err();
        let errors: Vec<_> = problem.errors.iter().map(|e| (e.pointer.as_str(), e.code.as_str())).collect();
        assert_eq!(errors, [("/a", "invalid_type"), ("/b", "required"), ("/e~1f", "unknown_field")]);
    }

    #[test]
    fn valid_members_are_read() {
        let mut fields = fields(json!({"a": 1, "b": 2}));
        assert_eq!(fields.required("a", number), Some(1));
        assert!(!fields.is_valid(), "b is not read");
        assert_eq!(fields.optional("b", number), Some(2));
        assert!(fields.is_valid());
        assert_eq!(fields.optional("c", number), None);
        assert_eq!(fields.finish(), Ok(()));
    }
}
