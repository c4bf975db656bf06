//! Builds libFuzzer and the targets.
//!
//! Only the packages of the workspace are instrumented: for them, cargo calls `fuzz/rustc.sh` instead of the
//! compiler. The AWS SDK is shared with all other builds. libFuzzer is built first and separately, because otherwise
//! the SDK would be rebuilt.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use local_cloud::cargo;
use local_cloud::project::Project;

/// Builds the fuzzer's binary. Returns its path.
pub(super) fn binary(project: &Project) -> Result<PathBuf> {
    let engine = ["build", "--package", "fuzz-engine", "--features", "libfuzzer"];
    let messages = cargo_messages(project, &engine, &[])?;
    let engine = messages.iter().find(|message| {
        let package = message["package_id"].as_str().unwrap_or_default();
        message["reason"] == "build-script-executed" && package.contains("libfuzzer-sys")
    });
    let folder =
        engine.and_then(|message| message["linked_paths"][0].as_str()).context("cargo did not build libFuzzer")?;
    let targets = ["rustc", "--package", "fuzz", "--example", "libfuzzer", "--features", "libfuzzer"];
    let link = ["-L", folder, "-l", "static:+whole-archive=fuzzer", "-l", "stdc++"];
    let messages = cargo_messages(project, &targets, &link)?;
    let binary = messages.iter().find_map(|message| message["executable"].as_str());
    Ok(binary.context("cargo did not build the fuzzer's binary")?.into())
}

/// Runs cargo. Returns its messages. Unless `link` is empty, the code is instrumented and linked with these arguments.
fn cargo_messages(project: &Project, arguments: &[&str], link: &[&str]) -> Result<Vec<Value>> {
    let mut command = cargo::command(project);
    command.args(arguments).arg("--message-format=json-render-diagnostics");
    if !link.is_empty() {
        command.env("RUSTC_WORKSPACE_WRAPPER", project.root.join("fuzz/rustc.sh")).arg("--").args(link);
    }
    let mut child = command.stdout(Stdio::piped()).spawn().context("cannot run cargo")?;
    let output = child.stdout.take().context("cargo has no output")?;
    let lines = BufReader::new(output).lines().map_while(Result::ok);
    let messages = lines.filter_map(|line| serde_json::from_str(&line).ok()).collect();
    if !child.wait()?.success() {
        bail!("the build failed: see above");
    }
    Ok(messages)
}
