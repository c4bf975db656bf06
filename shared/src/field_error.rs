//! Errors of the fields of a request, with JSON pointers.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use utoipa::ToSchema;

/// An error of one field of a request.
#[derive(Clone, Eq, PartialEq, Debug, Serialize, ToSchema)]
pub struct FieldError {
    /// JSON pointer into the request's body, or `/` and the name of a parameter.
    #[schema(examples("/options/dataset"))]
    pub pointer: String,
    /// Stable code in snake case. The page about `invalid-request` lists all codes.
    #[schema(pattern = "^[a-z][a-z0-9_]*$", examples("invalid_dataset"))]
    pub code: String,
    /// The error, and what would be valid.
    pub detail: String,
}

impl FieldError {
    /// Creates an error at a pointer.
    pub fn new(pointer: impl Into<String>, code: &str, detail: impl Into<String>) -> Self {
        Self { pointer: pointer.into(), code: code.to_owned(), detail: detail.into() }
    }

    /// Returns the position and the error as one text.
    pub fn text(&self) -> String {
        format!("{}: {}", self.pointer, self.detail)
    }

    /// Creates an error from serde's error in the options.
    pub fn in_options(path: &serde_path_to_error::Path, detail: &str) -> Self {
        let code = if detail.starts_with("unknown field") { "unknown_option" } else { "invalid_option" };
        Self::at_path("/options", path, code, detail)
    }

    /// Reads the object at this pointer.
    ///
    /// # Errors
    /// `invalid_type`, `unknown_field`, or `code` at the member that serde refuses.
    pub fn read_object<T: DeserializeOwned>(pointer: &str, value: &Value, code: &str) -> Result<T, Vec<Self>> {
        if !value.is_object() {
            let name = pointer.trim_start_matches('/');
            return Err(vec![Self::new(pointer, "invalid_type", format!("{name} must be an object"))]);
        }
        serde_path_to_error::deserialize(value).map_err(|error| {
            let detail = error.inner().to_string();
            let code = if detail.starts_with("unknown field") { "unknown_field" } else { code };
            vec![Self::at_path(pointer, error.path(), code, &detail)]
        })
    }

    /// Creates an error from serde's error in the value at this pointer.
    pub fn at_path(root: &str, path: &serde_path_to_error::Path, code: &str, detail: &str) -> Self {
        let pointer = path.iter().fold(root.to_owned(), |mut pointer, segment| {
            match segment {
                serde_path_to_error::Segment::Seq { index } => pointer.push_str(&format!("/{index}")),
                serde_path_to_error::Segment::Map { key } => pointer.push_str(&format!("/{}", escape(key))),
                _ => {}
            }
            pointer
        });
        Self::new(pointer, code, detail)
    }
}

/// Escapes a key as one segment of a JSON pointer.
pub fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
