//! A release binary, built as the README describes for AWS, but for this machine: cargo-lambda has flags of its own,
//! such as the panic strategy, that plain cargo does not set.

use std::fs;
use std::path::PathBuf;

use anyhow::{Context, Result, bail, ensure};
use deployment::binary::Binary;

use local_cloud::project::Project;
use local_cloud::{cargo, tools};
use longshore_cli::progress;

/// Builds the probe by `cargo lambda build --release`, and checks it as `deploy-check` does. For another machine, zig
/// would link it; the profile and the code are the same.
pub(super) fn build_probe(project: &Project) -> Result<PathBuf> {
    let tools = tools::ensure(project)?;
    let folder = project.home_dir().join("release");
    let step = progress::step("Building a release by cargo lambda (the first time takes ten minutes)");
    let mut build = cargo::command(project);
    build.env("PATH", tools.path());
    build
        .args(["lambda", "build", "--release", "--compiler", "cargo", "--package", "probe", "--lambda-dir"])
        .arg(&folder);
    if !build.status().context("cannot run cargo")?.success() {
        bail!("cargo lambda build --release failed: see above");
    }
    step.done();
    let made = folder.join("probe/bootstrap");
    let bytes = fs::read(&made).with_context(|| format!("cannot read {}", made.display()))?;
    let binary = Binary::read(&bytes).context("cargo lambda built no program")?;
    let architecture = if cfg!(target_arch = "aarch64") { "arm64" } else { "x86_64" };
    let findings = binary.findings("the release", architecture);
    ensure!(findings.is_empty(), "the release is not fit to be deployed: {findings:?}");
    Ok(made)
}
