//! Builds the Lambda functions and places them where the deployed copy of template.yaml expects them:
//! `.longshore/target/lambda/NAME/bootstrap`.
//!
//! Uses `cargo build`, not `cargo lambda build`, which has its own flags and target folder and would build every
//! crate a second time. The emulator runs on the same machine, so no cross-compilation is needed.

use crate::cargo;
use crate::page;
use crate::project::Project;
use anyhow::{Context, Result, ensure};
use longshore_cli::progress;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

/// The function whose binary embeds the page.
const PAGE: &str = "web";

/// Names of all functions: the folders in `functions/` that contain a `main.rs`.
pub fn names(project: &Project) -> Result<Vec<String>> {
    let dir = project.root.join("functions");
    let mut names = Vec::new();
    for entry in fs::read_dir(&dir).with_context(|| format!("cannot read {}", dir.display()))? {
        let path = entry?.path();
        if path.join("src/main.rs").exists()
            && let Some(name) = path.file_name()
        {
            names.push(name.to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// Builds the page and all functions, and places those that changed. Returns their fingerprints by name.
pub fn build_all(project: &Project) -> Result<BTreeMap<String, String>> {
    page::build(project)?;
    let names = names(project)?;
    progress::note(&format!("  Building {} functions (the first time takes minutes)...", names.len()));
    let binaries = cargo::build_binaries(project, &names)?;
    let mut fingerprints = BTreeMap::new();
    for name in names {
        let binary = binaries.get(&name);
        let binary = binary.with_context(|| format!("package {name} has no binary of that name"))?;
        fingerprints.insert(name.clone(), place(project, &name, binary)?);
    }
    Ok(fingerprints)
}

/// Builds another package and places its binary as function `name`. Returns the fingerprint.
pub fn build_one(project: &Project, name: &str, package: &str) -> Result<String> {
    if package == PAGE {
        page::build(project)?;
    }
    let binaries = cargo::build_binaries(project, &[package.to_owned()])?;
    let by_name = [name, package].into_iter().find_map(|key| binaries.get(key));
    let only = binaries.values().next().filter(|_| binaries.len() == 1);
    let binary = by_name.or(only);
    let binary =
        binary.with_context(|| format!("package {package} must have one binary, or one named {name} or {package}"))?;
    place(project, name, binary)
}

/// Copies `binary` to its place unless that file is already there.
///
/// Copies and renames, never links or writes in place: a running function keeps the file that it was started from.
fn place(project: &Project, name: &str, binary: &Path) -> Result<String> {
    let fingerprint = fingerprint(binary)?;
    let bootstrap = project.bootstrap(name);
    let stamp = project.functions_dir().join(format!("{name}.stamp"));
    let placed = fs::read_to_string(&stamp).ok();
    if placed.as_ref() == Some(&fingerprint) && bootstrap.exists() {
        return Ok(fingerprint);
    }
    let dir = bootstrap.parent().context("no folder for the function")?;
    fs::create_dir_all(dir)?;
    // The draft lies beside the folder, because everything in the folder is packaged.
    let draft = project.functions_dir().join(format!("{name}.new"));
    let copied = fs::copy(binary, &draft).with_context(|| format!("cannot copy {}", binary.display()))?;
    ensure!(copied > 0, "{} is empty", binary.display());
    fs::rename(&draft, &bootstrap)?;
    fs::write(&stamp, &fingerprint)?;
    Ok(fingerprint)
}

/// Distinguishes two builds of one binary: cargo writes a new file on every link.
fn fingerprint(binary: &Path) -> Result<String> {
    let data = fs::metadata(binary).with_context(|| format!("cannot read {}", binary.display()))?;
    let modified = data.modified()?.duration_since(UNIX_EPOCH)?.as_nanos();
    Ok(format!("{}-{modified}", data.len()))
}
