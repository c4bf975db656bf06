//! Updates of the jobs table's indexes.

use deployment::finding::Severity;
use deployment::indexes::{self, TableIndexes};
use deployment::settings::Settings;

use super::template;

const INDEXES: [&str; 4] = ["day", "due", "tenant", "unfinished"];

/// Returns the severities of the findings for a stack whose jobs table lacks these indexes.
fn severities(missing: &[&str]) -> Vec<Severity> {
    let names = INDEXES.into_iter().filter(|name| !missing.contains(name)).map(str::to_owned).collect();
    let deployed = TableIndexes::from([("JobsTable".to_owned(), names)]);
    let found = indexes::findings(&template(), &Settings::default(), &deployed);
    found.into_iter().map(|finding| finding.severity).collect()
}

/// A stack of an old release has neither `due` nor `day`, and is updated twice.
#[test]
fn a_stack_without_two_of_the_indexes_is_updated_twice() {
    assert_eq!(severities(&["day", "due"]), [Severity::Error]);
    assert_eq!(severities(&["day"]), []);
    assert_eq!(severities(&[]), []);
}
