//! Commands that wait for a job, on a server that imitates the API.

use std::process::{Command, Output};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::{Call, Server};

pub(crate) fn longshore(folder: &TempDir, server: &Server, arguments: &[&str]) -> Command {
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(arguments).args(["--api-url", &server.url]).current_dir(folder.path());
    longshore.env_remove("LONGSHORE_TOKEN").env("XDG_CONFIG_HOME", folder.path());
    longshore
}

pub(crate) fn run(server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let Output { status, stdout, stderr } = longshore(&folder, server, arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

pub(crate) fn job(status: &str, failed: u64) -> Value {
    json!({ "jobId": "j", "status": status, "message": "Job running", "itemCount": 5, "itemCountFinal": true, "itemProgress": 5,
        "percent": 100, "counts": { "succeeded": 5 - failed, "failed": failed, "skipped": 0, "pending": 0 }, "issues": [],
        "error": if status == "failed" { json!({ "code": "c", "message": "no header" }) } else { Value::Null } })
}

#[test]
fn the_exit_code_tells_how_the_job_ended() {
    let unauthorized = json!({ "message": "Unauthorized" });
    for (answer, arguments, code, output, error) in [
        ((200, job("completed", 0)), &[][..], 0, "completed: 5 items succeeded\n", "Job running"),
        ((200, job("completed", 2)), &[], 3, "completed: 3 items succeeded, 2 failed\n", "`longshore jobs failures j "),
        ((200, job("failed", 0)), &[], 5, "failed: 5 items succeeded\n", "error: the job failed: no header"),
        ((200, job("canceled", 0)), &[], 5, "canceled: 5 items succeeded\n", "error: the job was canceled"),
        (
            (200, job("running", 0)),
            &["--timeout", "0"],
            6,
            "",
            "the job has not ended within 0 s, and goes on: `longshore jobs watch j`",
        ),
        ((401, unauthorized), &[], 4, "", "sign in with `longshore login`"),
        ((404, json!({ "detail": "there is no such job" })), &[], 1, "", "reading the job: there is no such job"),
    ] {
        let server = Server::start(move |_: &Call| answer.clone());
        let (found, stdout, stderr) = run(&server, &[&["jobs", "watch", "j"], arguments].concat());
        assert_eq!((found, stdout.as_str()), (Some(code), output), "{stderr}");
        assert!(stderr.contains(error), "{stderr}");
    }
}

#[test]
fn an_outage_of_the_api_is_waited_for_and_json_is_the_document() {
    let mut answers = vec![(200, job("completed", 1)), (503, json!({})), (200, job("running", 1)), (429, json!({}))];
    let server = Server::start(move |_: &Call| answers.pop().unwrap());
    let (code, stdout, stderr) = run(&server, &["jobs", "watch", "j", "--json"]);
    assert_eq!(code, Some(3), "{stderr}");
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap(), job("completed", 1));
}

#[test]
fn a_list_ends_at_its_limit_and_one_without_an_end_is_an_error() {
    let server = Server::start(|call: &Call| {
        let member = if call.name == "GET /api/jobs" { "jobs" } else { "webhooks" };
        let mut page = json!({ "nextCursor": "c" });
        page[member] = json!([{ "jobId": "j" }, { "jobId": "k" }]);
        (200, page)
    });
    let (code, stdout, stderr) = run(&server, &["jobs", "list", "--limit", "3", "--json"]);
    assert_eq!(code, Some(0), "{stderr}");
    let listed = json!({ "jobs": [{ "jobId": "j" }, { "jobId": "k" }, { "jobId": "j" }] });
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap(), listed);
    let (code, stdout, stderr) = run(&server, &["webhooks", "list"]);
    assert_eq!((code, stdout.as_str()), (Some(1), ""), "{stderr}");
    assert!(stderr.contains("listing the webhooks: stopped after 1000 pages, and more follow"), "{stderr}");
}
