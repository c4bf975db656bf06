//! Parses a job's options and reports every error at once.
//!
//! serde stops at the first error. So each member that serde refuses is recorded and replaced by a value that serde
//! accepts, and the options are parsed again, which finds the next error. The replacements are never used: options with
//! an error create no job.

use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::field_error::{FieldError, escape};

/// Maximum number of errors that are reported at once.
const MAX_ERRORS: usize = 32;

/// Bytes of options that are parsed again for further errors. Bounds the work: for large options, fewer errors are
/// reported at once.
const READ_BYTES: usize = 256 * 1024;

/// Beginning of serde's message about a missing member; the member's name follows, and another backtick.
const MISSING: &str = "missing field `";

/// Returns the options, if they could be parsed, and their errors.
pub(super) fn read<T: DeserializeOwned>(options: &Value) -> (Option<T>, Vec<FieldError>) {
    let max_errors = (READ_BYTES / options.to_string().len().max(1)).clamp(2, MAX_ERRORS);
    let (mut options, mut errors) = (options.clone(), Vec::new());
    for _ in 0..max_errors {
        let error = match parse::<T>(&options) {
            Ok(parsed) => return (Some(parsed), errors),
            Err(error) => error,
        };
        let repaired = repair::<T>(&options, &error.pointer);
        if !is_reported(&errors, &error.pointer) {
            errors.push(error);
        }
        match repaired {
            Some(repaired) => options = repaired,
            None => break,
        }
    }
    (None, errors)
}

/// Returns true if an error is already reported for the value at a pointer, or for a value that contains it.
pub(super) fn is_reported(errors: &[FieldError], pointer: &str) -> bool {
    errors
        .iter()
        .any(|error| pointer.strip_prefix(&*error.pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
}

fn parse<T: DeserializeOwned>(options: &Value) -> Result<T, FieldError> {
    serde_path_to_error::deserialize(options).map_err(|error| {
        let detail = error.inner().to_string();
        let error = FieldError::in_options(error.path(), &detail);
        match detail.strip_prefix(MISSING).and_then(|rest| rest.split('`').next()) {
            Some(name) => FieldError::new(
                format!("{}/{}", error.pointer, escape(name)),
                "required",
                format!("{name} is required"),
            ),
            None => error,
        }
    })
}

/// Returns the options with another value at the pointer, or without the member, so that parsing finds the next error.
/// Removal is tried last: a removed required member would be reported as missing only after all others were read.
fn repair<T: DeserializeOwned>(options: &Value, pointer: &str) -> Option<Value> {
    let path = pointer.strip_prefix("/options").filter(|path| !path.is_empty())?;
    let empty =
        [Value::from(""), Value::from(0), Value::from(false), Value::Array(Vec::new()), Value::Object(Map::new())];
    let mut tries = empty.into_iter().map(Some).chain([None]).filter_map(|stand_in| put(options, path, stand_in));
    tries.find(|repaired| parse::<T>(repaired).map_or_else(|error| error.pointer != pointer, |_| true))
}

/// Returns the options with this value at the path, or without the member; `None` if there is no such path.
/// An element of an array is never removed, because the later elements would be reported under another index.
fn put(options: &Value, path: &str, value: Option<Value>) -> Option<Value> {
    let mut options = options.clone();
    let (parent, name) = path.rsplit_once('/')?;
    let name = name.replace("~1", "/").replace("~0", "~");
    match (options.pointer_mut(parent)?, value) {
        (Value::Object(members), Some(value)) => drop(members.insert(name, value)),
        (Value::Object(members), None) => drop(members.remove(&name)?),
        (Value::Array(items), Some(value)) => *items.get_mut(name.parse::<usize>().ok()?)? = value,
        _ => return None,
    }
    Some(options)
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::json;

    use super::*;

    #[derive(Deserialize, Debug)]
    #[serde(rename_all = "camelCase", deny_unknown_fields)]
    #[allow(dead_code)]
    struct Options {
        name: String,
        count: u8,
        #[serde(default)]
        kind: Kind,
        #[serde(default)]
        places: Vec<Position>,
    }

    #[derive(Deserialize, Debug, Default)]
    #[serde(rename_all = "camelCase")]
    enum Kind {
        #[default]
        Large,
    }

    #[derive(Deserialize, Debug)]
    #[allow(dead_code)]
    struct Strict {
        kind: Kind,
        name: String,
    }

    #[derive(Deserialize, Debug)]
    #[serde(deny_unknown_fields)]
    #[allow(dead_code)]
    struct Position {
        x: f64,
        up: bool,
    }

    fn codes<T: DeserializeOwned>(options: Value) -> Vec<(String, String)> {
        let (parsed, errors) = read::<T>(&options);
        assert!(parsed.is_some() || !errors.is_empty());
        let mut codes: Vec<_> = errors.into_iter().map(|error| (error.pointer, error.code)).collect();
        codes.sort();
        codes
    }

    fn owned(codes: &[(&str, &str)]) -> Vec<(String, String)> {
        codes.iter().map(|(pointer, code)| ((*pointer).to_owned(), (*code).to_owned())).collect()
    }

    #[test]
    fn all_errors_are_reported_at_once_with_their_pointers() {
        for (options, expected) in [
            (json!({"name": "n", "count": 1}), vec![]),
            (json!({}), vec![("/options/count", "required"), ("/options/name", "required")]),
            (
                json!({"name": 1, "count": "x"}),
                vec![("/options/count", "invalid_option"), ("/options/name", "invalid_option")],
            ),
            (json!({"name": 1}), vec![("/options/count", "required"), ("/options/name", "invalid_option")]),
            (
                json!({"name": "n", "count": 256, "kind": "small"}),
                vec![("/options/count", "invalid_option"), ("/options/kind", "invalid_option")],
            ),
            (
                json!({"a/b": 1, "c~d": 2}),
                vec![
                    ("/options/a~1b", "unknown_option"),
                    ("/options/count", "required"),
                    ("/options/c~0d", "unknown_option"),
                    ("/options/name", "required"),
                ],
            ),
            (
                json!({"name": "n", "count": 1, "places": [{"x": 1, "up": 0}, {"up": true, "z": 1}, 7]}),
                vec![
                    ("/options/places/0/up", "invalid_option"),
                    ("/options/places/1/x", "required"),
                    ("/options/places/1/z", "unknown_option"),
                    ("/options/places/2", "invalid_option"),
                ],
            ),
        ] {
            assert_eq!(codes::<Options>(options.clone()), owned(&expected), "{options}");
        }
    }

    #[test]
    fn a_member_without_a_valid_replacement_is_reported_once() {
        let expected = owned(&[("/options/kind", "invalid_option"), ("/options/name", "invalid_option")]);
        assert_eq!(codes::<Strict>(json!({"kind": "small", "name": 1})), expected);
    }

    #[test]
    fn the_number_of_reported_errors_is_bounded() {
        let options: Map<_, _> = (0..10_000).map(|n| (format!("x{n}"), json!(n))).collect();
        assert_eq!(codes::<Options>(Value::Object(options)).len(), 2);
        let options: Map<_, _> = (0..100).map(|n| (format!("x{n}"), json!(n))).collect();
        assert_eq!(codes::<Options>(Value::Object(options)).len(), MAX_ERRORS);
    }

    #[test]
    fn an_error_within_a_reported_value_is_not_reported_again() {
        let errors = [FieldError::new("/options/a", "invalid_option", "")];
        for (pointer, expected) in
            [("/options/a", true), ("/options/a/b", true), ("/options/ab", false), ("/options", false)]
        {
            assert_eq!(is_reported(&errors, pointer), expected, "{pointer}");
        }
    }
}
