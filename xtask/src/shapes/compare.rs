//! The changes of a golden file that break an earlier version of the program.
//!
//! | change | permitted |
//! | --- | --- |
//! | a new value in `written` | if the earlier version reads it: see `reads` |
//! | a value that is written no more | if it stays readable; with the next version, unless a value extends it |
//! | a value of an earlier version is removed | with the next version of the shape |
//! | unknown members are refused | with the next version of the shape |
//! | a new value in `read` | always |

use serde_json::Value;

use super::reads::is_read;

/// The lists of values that a version reads.
const LISTS: [&str; 3] = ["written", "read", "earlier"];

/// Returns the version of a shape.
pub(super) fn version(golden: &Value) -> u64 {
    golden["version"].as_u64().unwrap_or_default()
}

/// Returns a description of each change that breaks the earlier version.
pub(super) fn incompatible(old: &Value, new: &Value) -> Vec<String> {
    let is_raised = version(new) > version(old);
    let mut changes = Vec::new();
    if version(new) < version(old) || version(new) > version(old) + 1 {
        changes.push(format!("version {} follows version {}", version(new), version(old)));
    }
    if !is_raised && ignores_unknown(old) && !ignores_unknown(new) {
        changes.push("members of later versions are refused: raise the version".to_owned());
    }
    changes.extend(unread(old, new));
    changes.extend(dropped(old, new, is_raised));
    changes
}

/// Returns the values that are written, but that the earlier version does not read. The next version of a shape has the
/// same rule: reader and writer do not change in one release.
fn unread(old: &Value, new: &Value) -> Vec<String> {
    let known: Vec<_> = readable(old).collect();
    let unread = values(new, "written").filter(|value| !is_read(value, &known, ignores_unknown(old)));
    unread
        .map(|value| format!("the earlier version does not read {value}: list it in \"read\" for one release"))
        .collect()
}

/// Returns the values that the earlier version has, and that are not written or not read any more.
fn dropped(old: &Value, new: &Value, is_raised: bool) -> Vec<String> {
    let is_readable = |value: &Value| readable(new).any(|other| other == value);
    let mut changes = Vec::new();
    for written in values(old, "written") {
        if !is_raised && !values(new, "written").any(|value| contains(value, written)) {
            changes.push(format!("{written} is written no more: raise the version"));
        }
        if !is_readable(written) {
            changes.push(format!("keep {written} in \"earlier\", because the earlier version writes it"));
        }
    }
    for earlier in values(old, "earlier").filter(|value| !is_raised && !is_readable(value)) {
        changes.push(format!("{earlier} of an earlier version is not read any more: raise the version"));
    }
    changes
}

fn ignores_unknown(golden: &Value) -> bool {
    golden["unknownMembers"] == "ignored"
}

fn readable(golden: &Value) -> impl Iterator<Item = &Value> {
    LISTS.into_iter().flat_map(move |name| values(golden, name))
}

/// Returns the values of a list. Golden files of earlier commits have no list `read`.
fn values<'a>(golden: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    golden[name].as_array().into_iter().flatten()
}

/// Returns true if a value has all that another one has, and perhaps more members.
fn contains(value: &Value, part: &Value) -> bool {
    match (value, part) {
        (Value::Object(value), Value::Object(part)) => {
            part.iter().all(|(name, part)| value.get(name).is_some_and(|value| contains(value, part)))
        }
        (Value::Array(value), Value::Array(part)) => {
            value.len() == part.len() && value.iter().zip(part).all(|(value, part)| contains(value, part))
        }
        _ => value == part,
    }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
mod tests;
