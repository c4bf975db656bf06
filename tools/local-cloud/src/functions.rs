//! Builds the Lambda functions and copies them to `.longshore/target/lambda/NAME/bootstrap`, where the deployed copy of
//! template.yaml expects them.
//!
//! Uses `cargo build`. `cargo lambda build` has its own flags and target folder, and would build every crate a second
//! time. No cross-compilation is needed, because the emulator runs on this machine.

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

/// Returns the names of all functions: the folders in `functions/` that contain a `main.rs`.
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

/// Builds the page and all functions, and installs those that changed. Returns the fingerprints of all functions by
/// name.
pub fn build_all(project: &Project) -> Result<BTreeMap<String, String>> {
    page::build(project)?;
    let names = names(project)?;
    progress::note(&format!("  Building {} functions (this takes minutes the first time)...", names.len()));
    let binaries = cargo::build_binaries(project, &names)?;
    let mut fingerprints = BTreeMap::new();
    for name in names {
        let binary = binaries.get(&name);
        let binary = binary.with_context(|| format!("package {name} has no binary named {name}"))?;
        fingerprints.insert(name.clone(), install(project, &name, binary)?);
    }
    Ok(fingerprints)
}

/// Builds a package and installs its binary as the function `name`. Returns the fingerprint.
pub fn build_one(project: &Project, name: &str, package: &str) -> Result<String> {
    if package == PAGE {
        page::build(project)?;
    }
    let binaries = cargo::build_binaries(project, &[package.to_owned()])?;
    let named = [name, package].into_iter().find_map(|key| binaries.get(key));
    let single = binaries.values().next().filter(|_| binaries.len() == 1);
    let binary = named
        .or(single)
        .with_context(|| format!("package {package} must have one binary, or one named {name} or {package}"))?;
    install(project, name, binary)
}

/// Copies `binary` to the path of the function's code, unless it is already there.
///
/// The file is copied and renamed, because a running function must keep the file that it was started from.
fn install(project: &Project, name: &str, binary: &Path) -> Result<String> {
    let fingerprint = fingerprint(binary)?;
    let bootstrap = project.bootstrap(name);
    let stamp = project.functions_dir().join(format!("{name}.stamp"));
    let installed = fs::read_to_string(&stamp).ok();
    if installed.as_ref() == Some(&fingerprint) && bootstrap.exists() {
        return Ok(fingerprint);
    }
    let dir = bootstrap.parent().context("the path of the function has no folder")?;
    fs::create_dir_all(dir)?;
    // The draft is beside the folder, because everything in the folder is packaged.
    let draft = project.functions_dir().join(format!("{name}.new"));
    let bytes = fs::copy(binary, &draft).with_context(|| format!("cannot copy {}", binary.display()))?;
    ensure!(bytes > 0, "{} is empty", binary.display());
    fs::rename(&draft, &bootstrap)?;
    fs::write(&stamp, &fingerprint)?;
    Ok(fingerprint)
}

/// Returns size and modification time, which differ between two builds: cargo writes a new file on every link.
fn fingerprint(binary: &Path) -> Result<String> {
    let data = fs::metadata(binary).with_context(|| format!("cannot read {}", binary.display()))?;
    let modified = data.modified()?.duration_since(UNIX_EPOCH)?.as_nanos();
    Ok(format!("{}-{modified}", data.len()))
}
