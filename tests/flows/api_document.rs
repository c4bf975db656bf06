//! Conformance of the API to its OpenAPI 3.1 document, tested by schemathesis with every check, for valid and invalid
//! requests. It takes longest of all flow tests, and starts among the first: they run in the order of their names.

use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};
use longshore_tests::harness::client::Client;
use serde_json::json;

use crate::shared::{Story, dataset, stack};

/// Fixed seed, so that every run makes the same calls.
const SEED: &str = "20260701";

#[test]
fn the_api_conforms_to_its_document() -> Story {
    let stack = stack();
    let user = stack.users.add("fuzz")?;
    let client = stack.client.clone().with_token(&user.token);
    let folder = tempfile::tempdir()?;
    let config = folder.path().join("schemathesis.toml");
    std::fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../fuzz/schemathesis.toml"), &config)?;
    for (name, ids) in [("jobs.txt", jobs(&client)?), ("files.txt", files(&client)?)] {
        std::fs::write(folder.path().join(name), ids.iter().map(|id| format!("\"{id}\"\n")).collect::<String>())?;
    }
    let venv = std::env::var_os("LONGSHORE_VENV").context("LONGSHORE_VENV is not set; `cargo xtask test` sets it")?;
    let run = Command::new(Path::new(&venv).join("bin/schemathesis"))
        .args(["--config-file".as_ref(), config.as_os_str(), "run".as_ref()])
        .args([&format!("{}/api/openapi.json", client.base()), "--url", client.base()])
        .args(["--checks", "all", "--seed", SEED, "--no-color"])
        .env("LONGSHORE_FUZZ_TOKEN", &user.token)
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .current_dir(folder.path())
        .output()?;
    let output = String::from_utf8_lossy(&run.stdout);
    ensure!(run.status.success(), "{output}\n{}", String::from_utf8_lossy(&run.stderr));
    eprintln!("{output}");
    Ok(())
}

/// Jobs for the generated requests: without a file, imports, and validations.
fn jobs(client: &Client) -> Result<Vec<String>> {
    let id = |job: serde_json::Value| Ok(job["jobId"].as_str().context("the job has no id")?.to_owned());
    let once = json!({ "jobType": "probe-once", "options": { "action": "ok" } });
    let mut jobs = (0..10).map(|_| id(client.post("/api/jobs", &once)?.expect(202)?)).collect::<Result<Vec<_>>>()?;
    let options = json!({ "dataset": dataset("fuzzed"), "key": "id" });
    let validate = json!({ "dataset": dataset("fuzzed"), "key": "id", "mode": "validate" });
    for _ in 0..10 {
        jobs.push(client.start("import", "file.csv", b"id\n1\n,\n", &options)?);
        jobs.push(client.start("import", "file.csv", b"id\n1\n,\n", &validate)?);
    }
    Ok(jobs)
}

/// Uploads, half of them without a file.
fn files(client: &Client) -> Result<Vec<String>> {
    let missing = |_| {
        Ok(client.create_upload("file.csv", 5, None)?["fileGuid"].as_str().context("the upload has no id")?.to_owned())
    };
    let received = (0..5).map(|_| client.upload("file.csv", b"id\n1\n"));
    (0..5).map(missing).chain(received).collect()
}
