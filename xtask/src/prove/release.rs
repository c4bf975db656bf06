//! A release binary, built as for AWS, but for this machine. cargo-lambda sets flags that plain cargo does not set,
//! such as the panic strategy.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use deployment::binary::Binary;

use local_cloud::project::Project;
use local_cloud::{cargo, tools};
use longshore_cli::progress;

/// Builds the probe with `cargo lambda build --release`, and checks it as `deploy-check` does. Returns its path.
pub(super) fn build_probe(project: &Project) -> Result<PathBuf> {
    let tools = tools::ensure(project)?;
    let folder = project.home_dir().join("release");
    let step = progress::step("Building a release with cargo lambda (ten minutes the first time)");
    let mut build = cargo::command(project);
    build.env("PATH", tools.path());
    build
        .args(["lambda", "build", "--release", "--compiler", "cargo", "--package", "probe", "--lambda-dir"])
        .arg(&folder);
    if !build.status().context("cannot run cargo")?.success() {
        bail!("cargo lambda build --release failed: see above");
    }
    step.done();
    let path = folder.join("probe/bootstrap");
    let bytes = fs::read(&path).with_context(|| format!("cannot read {}", path.display()))?;
    let binary = Binary::read(&bytes).with_context(|| format!("{} is not a program", path.display()))?;
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x86_64" };
    let findings = binary.findings("the release", architecture);
    ensure!(findings.is_empty(), "the release cannot be deployed: {findings:?}");
    Ok(path)
}
