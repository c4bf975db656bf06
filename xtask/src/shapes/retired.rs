//! The list of shapes that do not exist any more. Each line has a name and its last version.

use std::collections::{BTreeMap, BTreeSet};

/// Returns the differences between the list and the golden files that are gone, with their last versions.
pub(super) fn differences(list: &str, gone: &[(String, u64)], present: &BTreeSet<&str>) -> Vec<String> {
    let listed = entries(list);
    let mut differences = Vec::new();
    for (name, version) in gone {
        match listed.get(name.as_str()) {
            Some(listed) if *listed == version.to_string() => {}
            Some(listed) => differences.push(format!("the last version of {name} is {version}, not {listed}")),
            None => differences.push(format!("the golden file of {name} is gone: add \"{name} {version}\"")),
        }
    }
    let in_use = listed.keys().filter(|name| present.contains(*name));
    differences.extend(in_use.map(|name| format!("{name} is in use")));
    differences
}

/// Returns the versions in the list by name.
fn entries(list: &str) -> BTreeMap<&str, &str> {
    let lines = list.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(|line| line.split_once(' ').unwrap_or((line, ""))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shape_that_is_gone_is_listed_with_its_last_version() {
        let gone = [("item-a".to_owned(), 2)];
        let count = |list: &str| differences(list, &gone, &BTreeSet::from(["item-b"])).len();
        assert_eq!(count("# name, last version\nitem-a 2\n"), 0);
        assert_eq!(count(""), 1);
        assert_eq!(count("item-a\n"), 1);
        assert_eq!(count("item-a 1\n"), 1);
        assert_eq!(count("item-a 2\nitem-b 1\n"), 1);
    }
}
