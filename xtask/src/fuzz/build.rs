//! Builds libFuzzer and the targets.
//!
//! Only the packages of the workspace are instrumented: cargo calls `tests/fuzz/rustc.sh` instead of the compiler for
//! these packages, so the AWS SDK is shared with all other builds. libFuzzer is built separately first, because a
//! common build with the SDK would rebuild the SDK.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use local_cloud::cargo;
use local_cloud::project::Project;

/// Builds the fuzzer's binary and returns its path.
pub(super) fn binary(project: &Project) -> Result<PathBuf> {
    let engine = ["build", "--package", "fuzz-engine", "--features", "libfuzzer"];
    let built = messages(project, &engine, &[])?;
    let engine = built.iter().find(|message| {
        let package = message["package_id"].as_str().unwrap_or_default();
        message["reason"] == "build-script-executed" && package.contains("libfuzzer-sys")
    });
    let folder = engine.and_then(|message| message["linked_paths"][0].as_str()).context("cargo built no libFuzzer")?;
    let targets = ["rustc", "--package", "fuzz", "--example", "libfuzzer", "--features", "libfuzzer"];
    let link = ["-L", folder, "-l", "static:+whole-archive=fuzzer", "-l", "stdc++"];
    let built = messages(project, &targets, &link)?;
    let binary = built.iter().find_map(|message| message["executable"].as_str());
    Ok(binary.context("cargo built no binary for libFuzzer")?.into())
}

/// Runs cargo and returns its messages. If `link` is not empty, the code is instrumented and linked with these
/// arguments.
fn messages(project: &Project, cargo: &[&str], link: &[&str]) -> Result<Vec<Value>> {
    let mut command = cargo::command(project);
    command.args(cargo).arg("--message-format=json-render-diagnostics");
    if !link.is_empty() {
        command.env("RUSTC_WORKSPACE_WRAPPER", project.root.join("tests/fuzz/rustc.sh")).arg("--").args(link);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let messages = lines.filter_map(|line| serde_json::from_str(&line).ok()).collect();
    if !child.wait()?.success() {
        bail!("the build failed: see the compiler's messages above");
    }
    Ok(messages)
}
