//! The shapes of messages, items and files: what one version of the program writes, and the others read.
//!
//! Each shape has a golden file in `shared/shapes`. It has the version of the shape, values as they are written now,
//! values that are read and not written yet, and values of earlier versions, which must stay readable.
//! `docs/design/versions.md` has the rule for changes, and `cargo xtask shapes` compares the files with those of
//! earlier commits and of the previous release.
//!
//! | module | contents |
//! | --- | --- |
//! | `golden` | golden files, and the check of a shape |
//! | `json` | the shapes that serde defines |
//! | `members` | the members of these shapes: without a change here, none can be added |
//! | `variants` | the variants of their enumerations, likewise |
//!
//! `store::dynamo::shape_tests` has the items that are made of attributes.

pub(crate) mod golden;
mod json;
mod members;
mod variants;

use std::collections::BTreeSet;

use crate::store::dynamo::shape_tests;

/// The document with a row for each shape.
const DOCUMENT: &str = include_str!("../../../docs/design/versions.md");

/// Words of its column "unknown members". The first one is that of shapes whose reader refuses them.
const TREATMENTS: [&str; 4] = ["refused", "kept", "dropped", "ignored"];

#[test]
fn every_golden_file_is_checked() {
    let checked = json::SHAPES.iter().chain(&shape_tests::SHAPES).map(|(name, _)| (*name).to_owned());
    assert_eq!(checked.collect::<BTreeSet<_>>(), golden::names());
}

#[test]
fn every_golden_file_is_documented_with_its_version_and_the_treatment_of_unknown_members() {
    for name in golden::names() {
        let golden = golden::Golden::read(&name);
        let start = format!("| `{name}` | {} | ", golden.version);
        let rest = DOCUMENT.lines().find_map(|line| line.strip_prefix(&start));
        let (treatment, _) = rest.and_then(|rest| rest.split_once(" | ")).unwrap_or_else(|| panic!("no row: {start}"));
        assert!(TREATMENTS.contains(&treatment), "{name}: {treatment} is not explained");
        assert_eq!(treatment == TREATMENTS[0], golden.refuses_unknown_members(), "{name}: {treatment}");
    }
}
