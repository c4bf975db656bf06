//! Compares each committed version of the document with the next one, so that no commit breaks clients of the previous
//! version.

use super::document::{parse, refuse_breaking};
use crate::git::{commits_of, file_of};
use anyhow::{Context, Result};
use local_cloud::project::Project;

/// Compares every two consecutive versions in the available history. A shallow clone has a shorter history.
///
/// # Errors
/// If a version breaks clients of the previous one without a version change.
pub(super) fn check(project: &Project, document: &str) -> Result<()> {
    let commits = commits_of(project, document)?;
    let read = |commit: &str| parse(&file_of(project, commit, document)?);
    for pair in commits.windows(2) {
        let (old, new) = (read(&pair[0])?, read(&pair[1])?);
        refuse_breaking(&old, &new).with_context(|| format!("{document} of commit {}", pair[1]))?;
    }
    if let Some(last) = commits.last() {
        let current = std::fs::read_to_string(project.root.join(document))?;
        refuse_breaking(&read(last)?, &parse(&current)?).with_context(|| format!("{document} in the checkout"))?;
    }
    println!("{document} has {} committed versions; none breaks clients of the previous one", commits.len());
    Ok(())
}
