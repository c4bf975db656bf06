//! The mapping of a file: the properties of its columns, and the values of its texts.

use std::collections::BTreeMap;

use longshore_domain::text::quoted;
use serde_json::Value;

use super::options::ImportOptions;
use crate::field_error::{FieldError, escape};
use crate::handler::Rejection;

impl ImportOptions {
    /// Returns the property of a column; `None` if the column is left out.
    pub(super) fn property<'a>(&'a self, column: &'a str) -> Option<&'a str> {
        self.columns.get(column).map_or(Some(column), |property| property.as_deref())
    }

    /// Returns the column that is mapped to a property, else the column of that name.
    pub(super) fn column_of<'a>(&'a self, property: &'a str) -> &'a str {
        let mapped = self.columns.iter().find(|(_, mapped)| mapped.as_deref() == Some(property));
        mapped.map_or(property, |(column, _)| column)
    }

    /// Returns the errors of the mapping that do not depend on the file.
    pub(super) fn check_mapping(&self) -> Vec<FieldError> {
        let mut mapped = BTreeMap::<&str, &str>::new();
        let mut errors = Vec::new();
        for (column, property) in &self.columns {
            let Some(property) = property.as_deref() else { continue };
            let at = format!("/options/columns/{}", escape(column));
            if property.is_empty() {
                let detail = "a property must have a name; use null to leave the column out";
                errors.push(FieldError::new(at, "invalid_property", detail));
            } else if let Some(first) = mapped.insert(property, column) {
                let detail = format!("the column {} is the property {}, too", quoted(first), quoted(property));
                errors.push(FieldError::new(at, "property_mapped_twice", detail));
            }
        }
        for (property, values) in &self.values {
            // One for each property: the name of a property can be long.
            let structured = values.iter().find(|(_, value)| matches!(value, Value::Array(_) | Value::Object(_)));
            errors.extend(structured.map(|(text, _)| {
                let at = format!("/options/values/{}/{}", escape(property), escape(text));
                FieldError::new(at, "invalid_option", "the value must be text, a number, true, false or null")
            }));
        }
        errors
    }
}

/// Maps the properties of a JSON line, and the values of those that are text.
///
/// # Errors
/// `duplicate_property` if the line has another property of that name.
pub(super) fn mapped(options: &ImportOptions, mut line: Value) -> Result<Value, Rejection> {
    let Value::Object(row) = &mut line else { return Ok(line) };
    // All are removed before any is added, because two properties can change places.
    let renamed: Vec<_> = options.columns.iter().map(|(name, property)| (name, property, row.remove(name))).collect();
    for (name, property, value) in renamed {
        if let (Some(property), Some(value)) = (property, value)
            && row.insert(property.clone(), value).is_some()
        {
            let message = format!("the line has {}, and {} is mapped to it, too", quoted(property), quoted(name));
            return Err(Rejection::new("duplicate_property", Some(property), message));
        }
    }
    for (property, values) in &options.values {
        if let Some(value) = row.get_mut(property)
            && let Some(mapped) = value.as_str().and_then(|text| values.get(text))
        {
            *value = mapped.clone();
        }
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn options(mapping: Value) -> ImportOptions {
        let mut options = json!({ "dataset": "d", "key": "id" });
        options.as_object_mut().unwrap().extend(mapping.as_object().unwrap().clone());
        serde_json::from_value(options).unwrap()
    }

    #[test]
    fn a_line_is_mapped_like_a_row() {
        let options = options(json!({
            "columns": { "a": "b", "b": "a", "c": null },
            "values": { "a": { "Ja": true }, "b": { "Nein": null } }
        }));
        let line = json!({ "a": "Nein", "b": "Ja", "c": 1, "d": "Ja" });
        assert_eq!(mapped(&options, line), Ok(json!({ "a": true, "b": null, "d": "Ja" })));
        let options = self::options(json!({ "columns": { "Nr": "id" } }));
        assert_eq!(mapped(&options, json!({ "Nr": 1 })), Ok(json!({ "id": 1 })));
        assert_eq!(mapped(&options, json!({ "Nr": 1, "id": 2 })).unwrap_err().code, "duplicate_property");
    }

    #[test]
    fn an_invalid_mapping_is_refused() {
        let codes = |mapping| {
            let errors = options(mapping).check_mapping().into_iter();
            errors.map(|error| (error.pointer, error.code)).collect::<Vec<_>>()
        };
        for (mapping, pointer, code) in [
            (json!({ "columns": { "a/b": "" } }), "/options/columns/a~1b", "invalid_property"),
            (json!({ "columns": { "a": "x", "b": "x" } }), "/options/columns/b", "property_mapped_twice"),
            (json!({ "values": { "a": { "b": [] } } }), "/options/values/a/b", "invalid_option"),
        ] {
            assert_eq!(codes(mapping), [(pointer.to_owned(), code.to_owned())]);
        }
        assert_eq!(codes(json!({ "columns": { "a": null, "b": null, "c": "a" } })), []);
    }
}
