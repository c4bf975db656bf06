//! Calls of git in the checkout.

use std::collections::BTreeSet;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use local_cloud::project::Project;

/// Runs git. Returns its output.
///
/// # Errors
/// If it fails. The error has its messages.
pub(crate) fn git(project: &Project, arguments: &[&str]) -> Result<String> {
    let output = Command::new("git").current_dir(&project.root).args(arguments).output().context("cannot run git")?;
    let error = String::from_utf8_lossy(&output.stderr);
    ensure!(output.status.success(), "git {}: {}", arguments.join(" "), error.trim());
    String::from_utf8(output.stdout).context("the output of git is not UTF-8")
}

/// Returns the commits that have changed a file, oldest first. A shallow clone has a shorter history.
///
/// # Errors
/// If git fails.
pub(crate) fn commits_of(project: &Project, file: &str) -> Result<Vec<String>> {
    let arguments = ["log", "--first-parent", "--reverse", "--format=%h", "--diff-filter=AM", "--", file];
    Ok(git(project, &arguments)?.lines().map(str::to_owned).collect())
}

/// Returns the files that a folder has or had, as paths in the checkout: all that a commit has added.
///
/// # Errors
/// If git fails.
pub(crate) fn files_ever_in(project: &Project, folder: &str) -> Result<BTreeSet<String>> {
    let arguments =
        ["log", "--first-parent", "--no-renames", "--diff-filter=A", "--name-only", "--format=", "--", folder];
    Ok(git(project, &arguments)?.lines().filter(|line| !line.is_empty()).map(str::to_owned).collect())
}

/// Returns a file of a commit.
///
/// # Errors
/// If the commit does not have it.
pub(crate) fn file_of(project: &Project, commit: &str, file: &str) -> Result<String> {
    git(project, &["show", &format!("{commit}:{file}")])
}

/// Returns a file of a commit, or `None` if the commit does not have it.
///
/// # Errors
/// If git fails.
pub(crate) fn file_if_in(project: &Project, commit: &str, file: &str) -> Result<Option<String>> {
    let is_listed = !git(project, &["ls-tree", "--name-only", commit, "--", file])?.trim().is_empty();
    is_listed.then(|| file_of(project, commit, file)).transpose()
}

#[cfg(test)]
pub(crate) mod testing {
    //! A repository for tests.

    use std::fs;

    use local_cloud::project::Build;
    use tempfile::TempDir;

    use super::*;

    /// A repository in a temporary folder.
    pub(crate) struct Repository {
        _folder: TempDir,
        pub(crate) project: Project,
    }

    impl Repository {
        /// Creates an empty repository.
        pub(crate) fn new() -> Result<Self> {
            let folder = tempfile::tempdir()?;
            let project = Project { root: folder.path().to_owned(), build: Build::Dev };
            git(&project, &["init", "--quiet"])?;
            Ok(Self { _folder: folder, project })
        }

        /// Writes a file of the checkout.
        pub(crate) fn write(&self, file: &str, text: &str) -> Result<()> {
            let path = self.project.root.join(file);
            fs::create_dir_all(path.parent().context("the file has no folder")?)?;
            Ok(fs::write(path, text)?)
        }

        /// Removes a file of the checkout.
        pub(crate) fn remove(&self, file: &str) -> Result<()> {
            Ok(fs::remove_file(self.project.root.join(file))?)
        }

        /// Commits all changes. Returns the commit.
        pub(crate) fn commit(&self) -> Result<String> {
            let author = ["-c", "user.name=a", "-c", "user.email=a@b.example", "-c", "commit.gpgsign=false"];
            git(&self.project, &["add", "--all"])?;
            git(&self.project, &[&author[..], &["commit", "--quiet", "--message", "a commit"]].concat())?;
            Ok(git(&self.project, &["rev-parse", "HEAD"])?.trim().to_owned())
        }
    }
}
