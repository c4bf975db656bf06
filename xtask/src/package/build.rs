//! The build of release binaries with cargo-lambda, whose flags plain cargo does not set, such as the panic strategy.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use deployment::binary::Binary;
use local_cloud::project::Project;
use local_cloud::{cargo, page, tools};
use longshore_cli::progress;

use super::Architecture;
use crate::git::git;

/// The linker of a build, which determines where its binaries run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Linker {
    /// Zig: the binaries run on Lambda, and can be built on any machine.
    Zig,
    /// That of this machine: the binaries run here, and on Lambda only if this system is not newer.
    Host,
}

/// Builds packages in release into `folder`, as NAME/bootstrap, and checks the binaries as `longshore deploy-check`
/// does. Returns them by name.
pub(crate) fn build(
    project: &Project,
    names: &[String],
    architecture: Architecture,
    linker: Linker,
    folder: &Path,
) -> Result<BTreeMap<String, Vec<u8>>> {
    let mut build = command(project, names, architecture, linker)?;
    build.arg("--lambda-dir").arg(folder);
    page::build(project)?;
    progress::note(&format!(
        "  Building {} binaries for {} (half an hour the first time)...",
        names.len(),
        architecture.name()
    ));
    if !build.status().context("cannot run cargo")?.success() {
        bail!("cargo lambda build --release failed: see above");
    }
    let mut binaries = BTreeMap::new();
    for name in names {
        binaries.insert(name.clone(), binary(&folder.join(name).join("bootstrap"), architecture, linker)?);
    }
    Ok(binaries)
}

/// Returns the command that builds these packages, without its folder.
fn command(project: &Project, names: &[String], architecture: Architecture, linker: Linker) -> Result<Command> {
    let tools = tools::ensure(project)?;
    let mut path = tools.path();
    let mut build = cargo::command(project);
    build.args(["lambda", "build", "--release", "--locked"]);
    match linker {
        Linker::Zig => {
            let mut zig = tools::ensure_zig(project, &tools)?.into_os_string();
            zig.push(":");
            zig.push(path);
            path = zig;
            build.arg(architecture.option());
        }
        Linker::Host => {
            build.args(["--compiler", "cargo"]);
        }
    }
    for name in names {
        build.args(["--package", name]);
    }
    build.env("PATH", path);
    if let Some(commit) = commit(project) {
        build.env("LONGSHORE_COMMIT", commit);
    }
    Ok(build)
}

/// Reads a binary, and fails if it cannot be deployed.
fn binary(path: &Path, architecture: Architecture, linker: Linker) -> Result<Vec<u8>> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let binary = Binary::read(&bytes).with_context(|| format!("{} is not a program", path.display()))?;
    let location = path.display().to_string();
    let mut findings = binary.findings(&location, architecture.name());
    if linker == Linker::Zig {
        findings.extend(binary.system_finding(&location, architecture.name()));
    }
    ensure!(findings.is_empty(), "the release cannot be deployed: {findings:?}");
    Ok(bytes)
}

/// Returns the checked-out commit, or `None` if the checkout is modified or has no history.
pub(super) fn commit(project: &Project) -> Option<String> {
    let changes = git(project, &["status", "--porcelain", "--untracked-files=no"]).ok()?;
    let commit = git(project, &["rev-parse", "HEAD"]).ok()?;
    changes.trim().is_empty().then(|| commit.trim().to_owned())
}
