//! The functions of the previous release, which the part `versions` runs beside those of the checkout.
//!
//! They are built once. The function `web` is left out: it reads and writes nothing, and to build it takes the page of
//! that release.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::git::git;
use crate::previous_release::{self, Ancestors};
use local_cloud::project::{Build, Project};
use local_cloud::{cargo, functions};
use longshore_cli::progress;

/// The function that is left out.
const WITHOUT_STATE: &str = "web";

/// The functions of the previous release.
pub(crate) struct PreviousRelease {
    /// Its tag, or its commit.
    pub(crate) name: String,
    /// Folder with NAME/bootstrap for each function.
    pub(crate) functions: PathBuf,
}

/// Builds the functions of the previous release, unless they are. Build those of the checkout afterwards: this replaces
/// binaries of the same names in the target folder.
pub(super) fn build(project: &Project) -> Result<PreviousRelease> {
    let name = previous_release::name(project, Ancestors::OfCommit)?;
    let commit = previous_release::commit(project, &name)?;
    let folder = project.home_dir().join("versions").join(&commit);
    let functions = folder.join("lambda");
    if !functions.exists() {
        let checkout = folder.join("checkout");
        let draft = folder.join("draft");
        remove(project, &checkout)?;
        let path = checkout.to_string_lossy().into_owned();
        git(project, &["worktree", "add", "--detach", &path, &commit])?;
        progress::note(&format!(
            "  Building the functions of the previous release, {name} (minutes the first time)..."
        ));
        let built = install(project, &checkout, &draft);
        remove(project, &checkout)?;
        built?;
        fs::rename(&draft, &functions).with_context(|| format!("cannot create {}", functions.display()))?;
    }
    Ok(PreviousRelease { name, functions })
}

/// Builds the functions of a checkout, and copies their binaries to `folder`. The dependencies that both versions have
/// are built once, because the target folder is that of this checkout.
fn install(project: &Project, checkout: &Path, folder: &Path) -> Result<()> {
    let other = Project { root: checkout.to_owned(), build: Build::Dev };
    let mut names = functions::names(&other)?;
    names.retain(|name| name != WITHOUT_STATE);
    let binaries = cargo::build_binaries_into(&cargo::target_dir(project), &other, &names)?;
    for name in &names {
        let binary = binaries.get(name).with_context(|| format!("package {name} has no binary named {name}"))?;
        let bootstrap = folder.join(name).join("bootstrap");
        fs::create_dir_all(folder.join(name))?;
        fs::copy(binary, &bootstrap).with_context(|| format!("cannot copy {}", binary.display()))?;
    }
    Ok(())
}

/// Removes a worktree, also one that an interrupted run has left.
fn remove(project: &Project, checkout: &Path) -> Result<()> {
    if checkout.exists() {
        fs::remove_dir_all(checkout).with_context(|| format!("cannot remove {}", checkout.display()))?;
    }
    git(project, &["worktree", "prune"]).map(|_| ())
}
