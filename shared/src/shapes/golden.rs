//! Golden files.

use std::collections::BTreeSet;
use std::fs;

use serde::Deserialize;
use serde_json::Value;

/// Folder of the golden files.
const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/shapes");

/// Name of a member that no version has.
const UNKNOWN: &str = "memberOfALaterVersion";

/// Reads a value of a shape and writes it again.
pub(crate) type RoundTrip = fn(&Value) -> Result<Value, String>;

/// A golden file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct Golden {
    /// Version of the shape.
    pub(crate) version: u32,
    /// Treatment of members that the reader does not know.
    unknown_members: UnknownMembers,
    /// Values as they are written: the first one has every member that it can have, the others have the other variants
    /// and the fewest members.
    written: Vec<Value>,
    /// Values that this version reads, and that it does not write yet: the next release can write them.
    read: Vec<Value>,
    /// Values that an earlier version has written.
    earlier: Vec<Value>,
}

/// Treatment of members that a reader does not know.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum UnknownMembers {
    /// They are dropped.
    Ignored,
    /// The value cannot be read.
    Refused,
}

impl Golden {
    /// Reads a golden file.
    pub(crate) fn read(name: &str) -> Self {
        let path = format!("{FOLDER}/{name}.json");
        let text = fs::read_to_string(&path).unwrap_or_else(|error| panic!("{path}: {error}"));
        serde_json::from_str(&text).unwrap_or_else(|error| panic!("{path}: {error}"))
    }

    /// Returns true if a value with a member that the reader does not know cannot be read.
    pub(crate) fn refuses_unknown_members(&self) -> bool {
        self.unknown_members == UnknownMembers::Refused
    }
}

/// Returns the names of all golden files. The folder also has a list of retired shapes.
pub(crate) fn names() -> BTreeSet<String> {
    let files = fs::read_dir(FOLDER).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap());
    files.filter_map(|file| file.strip_suffix(".json").map(str::to_owned)).collect()
}

/// Checks that values of all versions are read, and that those of this version are written as they are in the file.
/// Panics with all differences.
pub(crate) fn check(shapes: &[(&str, RoundTrip)]) {
    let differences: Vec<_> = shapes.iter().flat_map(|(name, round_trip)| differences(name, *round_trip)).collect();
    assert!(differences.is_empty(), "{}\nSee docs/design/versions.md.", differences.join("\n"));
}

fn differences(name: &str, round_trip: RoundTrip) -> Vec<String> {
    let Golden { unknown_members, written, read, earlier, .. } = Golden::read(name);
    let mut differences = Vec::new();
    for value in &written {
        match round_trip(value) {
            Ok(again) if again == *value => {}
            Ok(again) => differences.push(format!("{name}: {value}\n  is written as {again}")),
            Err(error) => differences.push(format!("{name}: {value}\n  cannot be read: {error}")),
        }
    }
    let of_others =
        earlier.iter().map(|value| ("an earlier", value)).chain(read.iter().map(|value| ("a later", value)));
    for (version, value) in of_others {
        if let Err(error) = round_trip(value) {
            differences.push(format!("{name} of {version} version: {value}\n  cannot be read: {error}"));
        }
    }
    let mut later = written.first().cloned().unwrap_or_default();
    later[UNKNOWN] = serde_json::json!({ "N": "1" });
    let treatment = if round_trip(&later).is_ok() { UnknownMembers::Ignored } else { UnknownMembers::Refused };
    if treatment != unknown_members {
        differences.push(format!("{name}: unknown members are {treatment:?}, not {unknown_members:?}"));
    }
    differences
}
