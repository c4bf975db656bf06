//! Compares each committed version of the document with the next one, so that no commit breaks clients of the previous
//! version.

use super::document::{parse, refuse_breaking};
use anyhow::{Context, Result, ensure};
use local_cloud::project::Project;
use std::process::Command;

/// Compares every two consecutive versions in the available history. A shallow clone has a shorter history.
///
/// # Errors
/// If a version breaks clients of the previous one without a version change.
pub(super) fn check(project: &Project, document: &str) -> Result<()> {
    let log = git(project, &["log", "--first-parent", "--reverse", "--format=%h", "--diff-filter=AM", "--", document])?;
    let commits: Vec<_> = log.lines().collect();
    let read = |commit: &str| parse(&git(project, &["show", &format!("{commit}:{document}")])?);
    for pair in commits.windows(2) {
        let (old, new) = (read(pair[0])?, read(pair[1])?);
        refuse_breaking(&old, &new).with_context(|| format!("{document} of commit {}", pair[1]))?;
    }
    if let Some(last) = commits.last() {
        let current = std::fs::read_to_string(project.root.join(document))?;
        refuse_breaking(&read(last)?, &parse(&current)?).with_context(|| format!("{document} in the checkout"))?;
    }
    println!("{document} has {} committed versions; none breaks clients of the previous one", commits.len());
    Ok(())
}

fn git(project: &Project, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").current_dir(&project.root).args(arguments).output().context("cannot run git")?;
    ensure!(output.status.success(), "git {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).context("the output of git is not UTF-8")
}
