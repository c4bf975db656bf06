//! The previous release, whose functions run beside those of the checkout during an update.
//!
//! It is the newest tag of a release among the ancestors of the checkout, or, before the first release, the commit that
//! a file names.

use std::fs;

use anyhow::{Context, Result, ensure};
use local_cloud::project::Project;

use crate::git::git;

/// The file with a commit, for a checkout without a tag of a release.
const COMMIT_FILE: &str = "infra/proof/previous-release";

/// Tags of releases.
const TAGS: &str = "v[0-9]*";

/// Ancestors of the checkout among which the previous release is sought.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Ancestors {
    /// Those of the checked-out commit, without it: it may be a release itself.
    OfCommit,
    /// The checked-out commit, too: the changes of the checkout follow it.
    OfChanges,
}

/// Returns the newest tag of a release among the ancestors, or else the commit in the file.
///
/// # Errors
/// If there is neither.
pub(crate) fn name(project: &Project, ancestors: Ancestors) -> Result<String> {
    let newest = match ancestors {
        Ancestors::OfCommit => "HEAD^",
        Ancestors::OfChanges => "HEAD",
    };
    if let Ok(tag) = git(project, &["describe", "--tags", "--abbrev=0", "--match", TAGS, newest]) {
        return Ok(tag.trim().to_owned());
    }
    let text = fs::read_to_string(project.root.join(COMMIT_FILE));
    let text = text.with_context(|| format!("cannot read {COMMIT_FILE}"))?;
    let commit = text.lines().find(|line| !line.starts_with('#')).unwrap_or_default().trim();
    ensure!(!commit.is_empty(), "{COMMIT_FILE} names no commit");
    Ok(commit.to_owned())
}

/// Returns the commit of a release.
///
/// # Errors
/// If this clone does not have it.
pub(crate) fn commit(project: &Project, name: &str) -> Result<String> {
    let commit = git(project, &["rev-parse", "--verify", &format!("{name}^{{commit}}")])
        .with_context(|| format!("the previous release, {name}, is not in this clone: fetch its history"))?;
    Ok(commit.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::git::testing::Repository;

    #[test]
    fn the_previous_release_is_the_newest_tag_or_the_commit_of_the_file() -> Result<()> {
        let repository = Repository::new()?;
        repository.write(COMMIT_FILE, "")?;
        let first = repository.commit()?;
        repository.write(COMMIT_FILE, &format!("# The previous release.\n{first}\n"))?;
        repository.commit()?;
        let project = &repository.project;
        assert_eq!(name(project, Ancestors::OfCommit)?, first, "no release");
        assert_eq!(commit(project, &first)?, first);
        git(project, &["tag", "v0.6.0"])?;
        assert_eq!(name(project, Ancestors::OfCommit)?, first, "the checkout is the release");
        assert_eq!(name(project, Ancestors::OfChanges)?, "v0.6.0", "the changes follow the release");
        git(project, &["tag", "--force", "v0.6.0", &first])?;
        assert_eq!(name(project, Ancestors::OfCommit)?, "v0.6.0");
        assert_eq!(commit(project, "v0.6.0")?, first);
        assert!(commit(project, "v0.5.0").is_err());
        Ok(())
    }
}
