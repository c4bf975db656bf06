//! The command on repositories with a few commits.

use serde_json::json;

use super::*;
use crate::git::testing::Repository;

const FILE: &str = "shared/shapes/item-a.json";

fn golden(version: u32, written: &Value, read: &Value) -> String {
    json!({ "version": version, "unknownMembers": "ignored", "written": written, "read": read, "earlier": [] })
        .to_string()
}

/// A repository whose first commit, with this golden file, is the previous release.
fn released(golden: &str) -> Result<Repository> {
    let repository = Repository::new()?;
    repository.write(FILE, golden)?;
    repository.write(RETIRED, "# name, last version\n")?;
    let release = repository.commit()?;
    repository.write("infra/proof/previous-release", &release)?;
    repository.commit()?;
    Ok(repository)
}

fn changes(repository: &Repository) -> Result<Vec<String>> {
    broken(&repository.project, &golden_files(&repository.project)?)
}

#[test]
fn two_commits_of_one_release_are_not_two_releases() -> Result<()> {
    let (one, both) = (json!([{ "word": "old" }]), json!([{ "word": "old" }, { "word": "new" }]));
    let new = json!([{ "word": "new" }]);
    let repository = released(&golden(1, &one, &json!([])))?;
    assert_eq!(changes(&repository)?, Vec::<String>::new());
    repository.write(FILE, &golden(1, &one, &new))?;
    repository.commit()?;
    assert_eq!(changes(&repository)?, Vec::<String>::new(), "the first release reads the word");
    repository.write(FILE, &golden(1, &both, &json!([])))?;
    assert_eq!(changes(&repository)?.len(), 1, "the same release writes it");
    repository.commit()?;
    let found = changes(&repository)?;
    assert_eq!(found.len(), 1, "{found:?}");
    assert!(found[0].contains("since the previous release"), "{found:?}");
    git(&repository.project, &["tag", "v1.0.0", "HEAD^"])?;
    assert_eq!(changes(&repository)?, Vec::<String>::new(), "the next release writes it");
    Ok(())
}

#[test]
fn a_change_that_follows_a_tagged_commit_is_compared_with_that_release() -> Result<()> {
    let (one, new) = (json!([{ "word": "old" }]), json!([{ "word": "new" }]));
    let repository = released(&golden(1, &one, &json!([])))?;
    repository.write(FILE, &golden(1, &one, &new))?;
    repository.commit()?;
    git(&repository.project, &["tag", "v1.0.0"])?;
    repository.write(FILE, &golden(1, &json!([{ "word": "old" }, { "word": "new" }]), &json!([])))?;
    assert_eq!(changes(&repository)?, Vec::<String>::new());
    Ok(())
}

#[test]
fn a_golden_file_that_is_gone_is_listed_with_its_last_version() -> Result<()> {
    let repository = released(&golden(2, &json!([{ "a": 1 }]), &json!([])))?;
    repository.remove(FILE)?;
    assert_eq!(changes(&repository)?.len(), 1, "deleted in the checkout");
    repository.commit()?;
    assert_eq!(changes(&repository)?.len(), 1, "deleted in a commit");
    repository.write(RETIRED, "item-a 1\n")?;
    assert_eq!(changes(&repository)?.len(), 1, "another version");
    repository.write(RETIRED, "# name, last version\nitem-a 2\n")?;
    assert_eq!(changes(&repository)?, Vec::<String>::new());
    repository.write(FILE, &golden(2, &json!([{ "a": 1 }]), &json!([])))?;
    assert_eq!(changes(&repository)?.len(), 1, "listed, but in use");
    Ok(())
}
