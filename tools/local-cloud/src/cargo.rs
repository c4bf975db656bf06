//! Runs cargo for the workspace with the dev profile and the default flags, so that no crate is built twice. Only the
//! benchmark's functions are built for release.

use crate::project::{Build, Project};
use anyhow::{Context, Result, bail};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Package and binary of the development commands.
const XTASK: &str = "xtask";

/// A cargo command in the workspace root, without the variables that the outer `cargo run` set for this package.
pub fn command(project: &Project) -> Command {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(&project.root);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        if text.starts_with("CARGO_PKG_") || text.starts_with("CARGO_MANIFEST_") {
            cargo.env_remove(&name);
        }
    }
    cargo
}

/// Builds the binaries of packages and returns their paths by name. Cargo shows its own progress.
pub fn build_binaries(project: &Project, packages: &[String]) -> Result<BTreeMap<String, PathBuf>> {
    let mut cargo = command(project);
    cargo.args(["build", "--bins", "--message-format=json-render-diagnostics"]);
    if project.build == Build::Release {
        cargo.arg("--release");
    } else {
        // Its dependencies enable features of crates that the functions use too. Built together they agree with the
        // tests, so that the AWS SDK is built once.
        cargo.args(["--package", XTASK]);
    }
    for package in packages {
        cargo.args(["--package", package]);
    }
    let mut child = cargo.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let mut binaries = BTreeMap::new();
    for line in BufReader::new(output).lines() {
        let line = line?;
        if let Ok(Message { target, executable: Some(path) }) = serde_json::from_str(&line)
            && target.name != XTASK
        {
            binaries.insert(target.name, path);
        }
    }
    if !child.wait()?.success() {
        bail!("the build failed: see the compiler's messages above");
    }
    Ok(binaries)
}

/// The part of cargo's messages that names the built files.
#[derive(Deserialize)]
struct Message {
    target: Target,
    executable: Option<PathBuf>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
}
