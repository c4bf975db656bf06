//! Builds libFuzzer and the targets.
//!
//! Only the packages of the workspace are instrumented: for them, cargo calls `fuzz/rustc.sh` instead of the
//! compiler. The AWS SDK is shared with the tests. So the targets are built with the whole workspace selected, and
//! libFuzzer separately: otherwise cargo would enable other features of shared crates, and rebuild the SDK.

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use local_cloud::cargo;
use local_cloud::project::Project;

/// Builds the fuzzer's binary. Returns its path.
pub(super) fn binary(project: &Project) -> Result<PathBuf> {
    let engine = ["--package", "fuzz-engine", "--features", "libfuzzer"];
    let messages = cargo_messages(project, &engine, None)?;
    let engine = messages.iter().find(|message| {
        let package = message["package_id"].as_str().unwrap_or_default();
        message["reason"] == "build-script-executed" && package.contains("libfuzzer-sys")
    });
    let folder =
        engine.and_then(|message| message["linked_paths"][0].as_str()).context("cargo did not build libFuzzer")?;
    let targets = ["--workspace", "--example", "libfuzzer", "--features", "fuzz/libfuzzer"];
    let messages = cargo_messages(project, &targets, Some(folder))?;
    let binary = messages.iter().find_map(|message| message["executable"].as_str());
    Ok(binary.context("cargo did not build the fuzzer's binary")?.into())
}

/// Runs `cargo build`. Returns its messages. With the folder of libFuzzer, the code is instrumented, and linked with it.
fn cargo_messages(project: &Project, arguments: &[&str], fuzzer: Option<&str>) -> Result<Vec<Value>> {
    let mut command = cargo::command(project);
    command.arg("build").args(arguments).arg("--message-format=json-render-diagnostics");
    if let Some(folder) = fuzzer {
        command.env("RUSTC_WORKSPACE_WRAPPER", project.root.join("fuzz/rustc.sh")).env("FUZZ_LINK", folder);
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
