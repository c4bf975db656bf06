//! Steps of `shapes`.

use std::collections::BTreeSet;
use std::fs;

use anyhow::{Context, Result, bail};
use local_cloud::project::Project;
use serde_json::Value;

use super::{compare, retired};
use crate::git::{commits_of, file_if_in, file_of, files_ever_in, git};
use crate::previous_release::{self, Ancestors};

/// Folder of the golden files.
const FOLDER: &str = "shared/shapes";

/// The list of shapes that do not exist any more.
const RETIRED: &str = "shared/shapes/retired";

/// Extension of golden files.
const EXTENSION: &str = ".json";

/// Runs the command.
pub(crate) fn run(project: &Project) -> Result<()> {
    let files = golden_files(project)?;
    let broken = broken(project, &files)?;
    if !broken.is_empty() {
        bail!("{}\nSee docs/design/versions.md.", broken.join("\n"));
    }
    println!("{} shapes: no change breaks the previous release", files.len());
    Ok(())
}

/// Returns a description of each change that is not permitted.
fn broken(project: &Project, files: &BTreeSet<String>) -> Result<Vec<String>> {
    let release = release(project)?;
    let mut broken = BTreeSet::new();
    for file in files {
        broken.extend(check_commits(project, file)?);
        broken.extend(check_release(project, file, &release)?);
    }
    let mut gone = Vec::new();
    for file in files_ever_in(project, FOLDER)?.iter().filter(|file| is_golden(file) && !files.contains(*file)) {
        gone.push((name_of(file).to_owned(), last_version(project, file)?));
    }
    let path = project.root.join(RETIRED);
    let list = fs::read_to_string(&path).with_context(|| format!("cannot read {RETIRED}"))?;
    let present: BTreeSet<_> = files.iter().map(|file| name_of(file)).collect();
    broken.extend(retired::differences(&list, &gone, &present).into_iter().map(|text| format!("{RETIRED}: {text}")));
    Ok(broken.into_iter().collect())
}

/// Returns the golden files of the checkout.
fn golden_files(project: &Project) -> Result<BTreeSet<String>> {
    let folder = project.root.join(FOLDER);
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(&folder).with_context(|| format!("cannot read {}", folder.display()))? {
        files.insert(format!("{FOLDER}/{}", entry?.file_name().to_string_lossy()));
    }
    files.retain(|file| is_golden(file));
    Ok(files)
}

fn is_golden(file: &str) -> bool {
    file.ends_with(EXTENSION)
}

/// Returns the name of the shape of a golden file.
fn name_of(file: &str) -> &str {
    file.trim_start_matches(FOLDER).trim_start_matches('/').trim_end_matches(EXTENSION)
}

/// Returns the commit of the previous release.
fn release(project: &Project) -> Result<String> {
    let is_changed = !git(project, &["status", "--porcelain", "--", FOLDER])?.trim().is_empty();
    let ancestors = if is_changed { Ancestors::OfChanges } else { Ancestors::OfCommit };
    previous_release::commit(project, &previous_release::name(project, ancestors)?)
}

/// Compares every two consecutive contents of a golden file, and the last one with the checkout.
fn check_commits(project: &Project, file: &str) -> Result<Vec<String>> {
    let mut contents = Vec::new();
    for commit in commits_of(project, file)? {
        contents.push((format!("commit {commit}"), parse(file, &file_of(project, &commit, file)?)?));
    }
    contents.push(("the checkout".to_owned(), read(project, file)?));
    let mut broken = Vec::new();
    for pair in contents.windows(2) {
        let [(_, old), (place, new)] = pair else { continue };
        broken.extend(described(file, &format!("in {place}"), compare::incompatible(old, new)));
    }
    Ok(broken)
}

/// Compares a golden file of the checkout with that of the previous release, which lacks those of newer shapes.
fn check_release(project: &Project, file: &str, release: &str) -> Result<Vec<String>> {
    let Some(text) = file_if_in(project, release, file)? else { return Ok(Vec::new()) };
    let changes = compare::incompatible(&parse(file, &text)?, &read(project, file)?);
    Ok(described(file, "since the previous release", changes).collect())
}

fn described(file: &str, place: &str, changes: Vec<String>) -> impl Iterator<Item = String> {
    changes.into_iter().map(move |change| format!("{file} {place}: {change}"))
}

fn read(project: &Project, file: &str) -> Result<Value> {
    parse(file, &fs::read_to_string(project.root.join(file)).with_context(|| format!("cannot read {file}"))?)
}

fn parse(file: &str, text: &str) -> Result<Value> {
    serde_json::from_str(text).with_context(|| format!("{file} is not JSON"))
}

/// Returns the last version of a shape whose golden file was deleted.
fn last_version(project: &Project, file: &str) -> Result<u64> {
    let commits = commits_of(project, file)?;
    let commit = commits.last().with_context(|| format!("{file} is in no commit"))?;
    Ok(compare::version(&parse(file, &file_of(project, commit, file)?)?))
}

#[cfg(test)]
#[path = "command_tests.rs"]
mod tests;
