//! The API tested by schemathesis against its own OpenAPI 3.1 document, with every check enabled: the running stack
//! conforms for valid and for invalid requests.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::client::Client;
use serde_json::json;

use crate::shared::{Story, dataset, stack};

/// Fixed seed: every run makes the same calls, so that a failure can be repeated.
const SEED: &str = "20260701";

#[test]
fn the_api_conforms_to_its_document() -> Story {
    let stack = stack();
    let user = stack.users.add("fuzz")?;
    let client = stack.client.clone().with_token(&user.token);
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("schemathesis.toml");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/schemathesis.toml"), &config)?;
    for (name, ids) in [("jobs.txt", jobs(&client)?), ("files.txt", files(&client)?)] {
        std::fs::write(folder.path().join(name), ids.iter().map(|id| format!("\"{id}\"\n")).collect::<String>())?;
    }
    let venv = std::env::var_os("LONGSHORE_VENV").context("LONGSHORE_VENV is not set; `cargo xtask test` sets it")?;
    let done = Command::new(Path::new(&venv).join("bin/schemathesis"))
        .args(["--config-file".as_ref(), config.as_os_str(), "run".as_ref()])
        .args([&format!("{}/api/openapi.json", client.base()), "--url", client.base()])
        .args(["--checks", "all", "--seed", SEED, "--no-color"])
        .env("LONGSHORE_FUZZ_TOKEN", &user.token)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder.path())
        .output()?;
    let reported = String::from_utf8_lossy(&done.stdout);
    ensure!(done.status.success(), "{reported}\n{}", String::from_utf8_lossy(&done.stderr));
    eprintln!("{reported}");
    Ok(())
}

/// Jobs for the generated requests to read, cancel, retry and delete, some of them over a file.
fn jobs(client: &Client) -> Result<Vec<String>> {
    let id = |job: serde_json::Value| Ok(job["jobId"].as_str().context("a job without id")?.to_owned());
    let once = json!({ "jobType": "probe-once", "options": { "action": "ok" } });
    let mut jobs = (0..10).map(|_| id(client.post("/api/jobs", &once)?.expect(202)?)).collect::<Result<Vec<_>>>()?;
    let options = json!({ "dataset": dataset("fuzzed"), "key": "id" });
    let check = json!({ "dataset": dataset("fuzzed"), "key": "id", "mode": "validate" });
    for _ in 0..10 {
        jobs.push(client.start("import", "file.csv", b"id\n1\n,\n", &options)?);
        jobs.push(client.start("import", "file.csv", b"id\n1\n,\n", &check)?);
    }
    Ok(jobs)
}

/// Uploads, half of them with an uploaded file.
fn files(client: &Client) -> Result<Vec<String>> {
    let promised = |_| Ok(client.promise("file.csv", 5, None)?["fileGuid"].as_str().context("no fileGuid")?.to_owned());
    let there = (0..5).map(|_| client.upload("file.csv", b"id\n1\n"));
    (0..5).map(promised).chain(there).collect()
}
