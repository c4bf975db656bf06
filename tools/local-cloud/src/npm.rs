//! npm packages of a folder, installed once per lock file. A stamp file has the content of the installed one.

use crate::emulator::tail;
use crate::project::Project;
use anyhow::{Context, Result, bail};
use longshore_cli::progress;
use std::fs::{self, File};
use std::path::Path;
use std::process::{Command, Stdio};

/// Installs the packages of the lock file in this folder of the project if needed.
pub fn install(project: &Project, folder: &str) -> Result<()> {
    let path = project.root.join(folder);
    let lock_file = path.join("package-lock.json");
    let lock_file = fs::read_to_string(&lock_file).with_context(|| format!("cannot read {}", lock_file.display()))?;
    let stamp = path.join("node_modules/.longshore");
    if has_content(&stamp, &lock_file) {
        return Ok(());
    }
    let step = progress::step(&format!("Installing the packages of {folder}"));
    run(project, folder, &["ci", "--no-audit", "--no-fund"])?;
    fs::write(stamp, lock_file)?;
    step.done();
    Ok(())
}

/// Runs npm in this folder of the project. Its output is in a log, whose end is part of the error.
pub(crate) fn run(project: &Project, folder: &str, arguments: &[&str]) -> Result<()> {
    let log = project.log("npm")?;
    let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let mut npm = Command::new("npm");
    npm.current_dir(project.root.join(folder)).args(arguments);
    npm.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
    if !npm.status().context("cannot run npm, which is part of Node.js")?.success() {
        let (command, end) = (arguments.join(" "), tail(&log, 30));
        bail!("npm {command} failed in {folder}/. The last lines of {}:\n{end}", log.display());
    }
    Ok(())
}

/// Returns true if a stamp file has this content.
pub(crate) fn has_content(stamp: &Path, expected: &str) -> bool {
    fs::read_to_string(stamp).is_ok_and(|content| content == expected)
}
