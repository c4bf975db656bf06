//! Runs cargo in the workspace, with the dev profile and the default flags, so that no crate is built twice. Only the
//! functions of the benchmark are built for release.

use crate::project::{Build, Project};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Package and binary of the development commands.
const XTASK: &str = "xtask";

/// Returns a cargo command in the workspace root.
pub fn command(project: &Project) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&project.root);
    remove_package_variables(&mut cargo);
    cargo
}

/// Removes the variables that the outer `cargo run` set for its package from the environment of a command that runs
/// cargo. Build scripts depend on them, such as ring's, so cargo would build ring and all that depends on it again.
pub fn remove_package_variables(command: &mut Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            command.env_remove(&name);
        }
    }
}

/// Builds the binaries of packages. Returns their paths by name. Cargo shows its own progress.
pub fn build_binaries(project: &Project, packages: &[String]) -> Result<BTreeMap<String, PathBuf>> {
    build_with(command(project), project, packages)
}

/// Builds the binaries of packages of another checkout into this target folder, which can be that of this checkout: its
/// dependencies are not built again. The next build of this checkout replaces the binaries of the same names.
pub fn build_binaries_into(target: &Path, other: &Project, packages: &[String]) -> Result<BTreeMap<String, PathBuf>> {
    let mut cargo = command(other);
    cargo.env("CARGO_TARGET_DIR", target);
    build_with(cargo, other, packages)
}

fn build_with(mut cargo: Command, project: &Project, packages: &[String]) -> Result<BTreeMap<String, PathBuf>> {
    cargo.args(["build", "--bins", "--message-format=json-render-diagnostics"]);
    if project.build == Build::Release {
        cargo.arg("--release");
    } else {
        // xtask enables features of crates that the functions also use. If they are built together, the features are
        // the same as for the tests, and the AWS SDK is built once.
        cargo.args(["--package", XTASK]);
    }
    for package in packages {
        cargo.args(["--package", package]);
    }
    let mut binaries = build(cargo)?;
    binaries.remove(XTASK);
    Ok(binaries)
}

/// Returns the target folder of the workspace.
pub fn target_dir(project: &Project) -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    project.root.join(target)
}

/// Builds an example. Returns its path.
pub fn build_example(project: &Project, name: &str) -> Result<PathBuf> {
    let mut cargo = command(project);
    // The features are those of the tests, as the whole workspace is selected.
    cargo.args(["build", "--workspace", "--example", name, "--message-format=json-render-diagnostics"]);
    build(cargo)?.remove(name).with_context(|| format!("cargo has not built the example {name}"))
}

/// Runs a build. Returns the paths of the executables by name.
fn build(mut cargo: Command) -> Result<BTreeMap<String, PathBuf>> {
    let mut child = cargo.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let mut executables = BTreeMap::new();
    for line in BufReader::new(output).lines() {
        if let Ok(Message { target, executable: Some(path) }) = serde_json::from_str(&line?) {
            executables.insert(target.name, path);
        }
    }
    if !child.wait()?.success() {
        bail!("the build failed: see above");
    }
    Ok(executables)
}

/// A message of cargo, limited to the fields that name a built file.
#[derive(Deserialize)]
struct Message {
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}
