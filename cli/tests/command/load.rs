//! `load` on a server that imitates the API.

use std::process::{Command, Output, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::server::{Call, Response, Server};

/// Rows of a job, and those of them that fail.
const ROWS: u64 = 10;
const FAILED: u64 = 2;

/// An API whose jobs end with these counts at once, or run until they are canceled.
#[derive(Default)]
struct Api {
    url: String,
    jobs: u64,
    canceled: Vec<String>,
    runs: bool,
    failed: u64,
    /// Number of creates that are refused.
    refuses: u64,
    /// True if jobs are created, although the answer is an error. Only the list has them, on its second page.
    loses: bool,
    /// Number of pages of the list that were read.
    pages: u64,
    /// True if the records cannot be removed.
    keeps_records: bool,
}

impl Api {
    fn respond(&mut self, call: &Call) -> Response {
        let job = call.name.rsplit('/').find(|part| part.starts_with('j') && *part != "jobs").unwrap_or_default();
        match call.name.as_str() {
            "POST /api/uploads" => (201, json!({ "fileGuid": "g", "url": format!("{}/put", self.url), "headers": {} })),
            "POST /api/jobs" if self.refuses > 0 => {
                self.refuses -= 1;
                (429, json!({ "type": "/api/problems/rate-limited", "detail": "too many calls" }))
            }
            "POST /api/jobs" => {
                self.jobs += 1;
                if self.loses {
                    return (403, json!({ "detail": "the answer is lost" }));
                }
                let path = format!("/api/jobs/j{}", self.jobs);
                (202, json!({ "links": { "self": path } }))
            }
            "GET /api/jobs" => {
                self.pages += 1;
                if self.pages % 2 == 1 {
                    return (200, json!({ "jobs": [], "nextCursor": "c" }));
                }
                let jobs = (1..=self.jobs).filter(|_| self.loses);
                let jobs: Vec<_> = jobs.map(|n| json!({ "jobId": format!("j{n}"), "status": "running" })).collect();
                (200, json!({ "jobs": jobs, "nextCursor": null }))
            }
            name if name.ends_with("/cancel") => {
                self.canceled.push(job.to_owned());
                (202, json!({}))
            }
            name if name.starts_with("DELETE /api/datasets/") => (202, json!({ "jobId": "j-records" })),
            name if name.starts_with("DELETE ") => (202, json!({})),
            _ if job == "j-records" && self.keeps_records => (200, json!({ "status": "failed" })),
            _ if job == "j-records" => (200, json!({ "status": "completed" })),
            _ if self.canceled.iter().any(|canceled| canceled == job) => (200, json!({ "status": "canceled" })),
            _ if self.runs => (200, json!({ "jobId": job, "status": "running", "itemProgress": 1 })),
            _ => {
                let counts = json!({ "succeeded": ROWS - self.failed, "failed": self.failed, "skipped": 0 });
                let times = ("2026-07-01T00:00:00.000Z", "2026-07-01T00:00:00.250Z");
                (
                    200,
                    json!({ "jobId": job, "status": "completed", "itemCount": ROWS, "itemProgress": ROWS,
                    "counts": counts, "createdAt": times.0, "finishedAt": times.1 }),
                )
            }
        }
    }
}

/// Starts the API. Uploads go to a second server, because the URL of the first one is known only after its start.
fn start(api: Api) -> Server {
    let storage = Server::start(|_: &Call| (200, json!({})));
    let mut api = Api { url: storage.url, ..api };
    Server::start(move |call: &Call| api.respond(call))
}

fn load(server: &Server, arguments: &[&str]) -> Command {
    let mut load = Command::new(env!("CARGO_BIN_EXE_longshore"));
    load.args(["load", "--rows", "10", "--invalid-every", "5", "--api-url", &server.url]).args(arguments);
    load.env_remove("LONGSHORE_TOKEN").stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    load
}

fn run(server: &Server, arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = load(server, arguments).output().unwrap();
    (status.code(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn names(server: &Server) -> Vec<String> {
    server.calls(|call| call.name.clone())
}

fn position(names: &[String], start: &str) -> usize {
    names.iter().position(|name| name.starts_with(start)).unwrap_or_else(|| panic!("no {start}: {names:?}"))
}

#[test]
fn every_job_is_counted_and_everything_is_removed_in_order() {
    let server = start(Api { failed: FAILED, ..Api::default() });
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("load.hgrm");
    let files = ["--hgrm", file.to_str().unwrap()];
    let arguments = ["--jobs", "3", "--concurrency", "2", "--json"];
    let (code, stdout, stderr) = run(&server, &[&arguments[..], &files].concat());
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!((&document["jobs"]["all"], &document["jobs"]["exact"]), (&json!(3), &json!(3)), "{document}");
    assert_eq!(document["rows"], 3 * ROWS);
    assert_eq!(document["latenciesMs"]["end"]["count"], 3);
    assert!(document["latenciesMs"]["accepted"]["p99"].is_f64(), "{document}");
    assert!(folder.path().join("load-end.hgrm").exists());
    let names = names(&server);
    assert_eq!(names.iter().filter(|name| *name == "POST /api/jobs").count(), 3);
    let records = position(&names, "DELETE /api/datasets/load-");
    assert!(records < position(&names, "DELETE /api/jobs/j1"), "{names:?}");
    for job in ["j1", "j2", "j3", "j-records"] {
        position(&names, &format!("DELETE /api/jobs/{job}"));
    }
    assert!(!names.iter().any(|name| name.ends_with("/cancel")), "all jobs had ended: {names:?}");
    assert!(stderr.contains("removed 3 jobs, and the records of load-"), "{stderr}");
}

#[test]
fn a_request_has_the_file_and_the_name_of_the_run() {
    let server = start(Api { failed: FAILED, ..Api::default() });
    run(&server, &["--jobs", "1", "--priority", "low"]);
    let requests =
        server.calls(|call| if call.name == "POST /api/jobs" { call.body.to_string() } else { String::new() });
    let request: Value =
        serde_json::from_str(&requests.into_iter().find(|request| !request.is_empty()).unwrap()).unwrap();
    let (options, run) = (&request["options"], &request["metadata"]["load"]);
    assert_eq!((&request["fileGuid"], &request["priority"]), (&json!("g"), &json!("low")));
    assert_eq!((&options["dataset"], &options["key"], &options["mode"]), (run, &json!("id"), &json!("upsert")));
}

#[test]
fn a_wrong_count_is_a_failure_and_is_described() {
    let server = start(Api { failed: FAILED + 1, ..Api::default() });
    let (code, stdout, stderr) = run(&server, &["--jobs", "2"]);
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("2 completed, with wrong counts"), "{stdout}");
    assert!(stdout.contains("job j1: 10 items, 7 succeeded, 3 failed"), "{stdout}");
    assert!(stdout.contains("\ntime until ") && stdout.contains("\nend "), "{stdout}");
}

#[test]
fn a_refusal_is_counted_and_the_job_is_tried_again() {
    let server = start(Api { failed: FAILED, refuses: 1, ..Api::default() });
    let (code, stdout, stderr) = run(&server, &["--jobs", "1", "--json"]);
    assert_eq!(code, Some(0), "{stdout}{stderr}");
    let document: Value = serde_json::from_str(&stdout).unwrap();
    assert_eq!(document["errors"], json!({ "rate-limited": 1 }));
    assert!(document["latenciesMs"]["accepted"]["max"].as_f64() >= Some(1_000.0), "with the wait: {document}");
}

#[test]
fn an_open_loop_begins_jobs_although_the_earlier_ones_run() {
    let server = start(Api { runs: true, ..Api::default() });
    let child = load(&server, &["--rate", "10/s", "--jobs", "4"]).spawn().unwrap();
    wait_for(&server, "POST /api/jobs", 4);
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert_eq!(output.status.code(), Some(130), "{stdout}{stderr}");
    assert!(stdout.contains("4 not finished"), "{stdout}");
    let names = names(&server);
    for job in ["j1", "j2", "j3", "j4"] {
        let canceled = position(&names, &format!("POST /api/jobs/{job}/cancel"));
        assert!(canceled < position(&names, &format!("DELETE /api/jobs/{job}")), "{names:?}");
    }
}

#[test]
fn a_killed_run_is_removed_too() {
    let server = start(Api { runs: true, ..Api::default() });
    let mut child = load(&server, &["--jobs", "1", "--mode", "validate"]).spawn().unwrap();
    wait_for(&server, "GET /api/jobs/j1", 1);
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for(&server, "DELETE /api/jobs/j1", 1);
    assert!(!names(&server).iter().any(|name| name.contains("/api/datasets/")), "a validation has no records");
}

#[test]
fn a_job_whose_creation_has_no_answer_is_removed() {
    let server = start(Api { loses: true, ..Api::default() });
    let (code, stdout, stderr) = run(&server, &["--jobs", "1"]);
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stdout.contains("1 not created, or its status could not be read"), "{stdout}");
    assert!(stderr.contains("removed 1 jobs, and the records of load-"), "{stderr}");
    let names = names(&server);
    let steps = ["POST /api/jobs/j1/cancel", "GET /api/jobs/j1", "DELETE /api/datasets/load-", "DELETE /api/jobs/j1"];
    let positions = steps.map(|step| position(&names, step));
    assert!(positions.is_sorted(), "{names:?}");
}

#[test]
fn records_that_stay_are_not_reported_as_removed() {
    let server = start(Api { failed: FAILED, keeps_records: true, ..Api::default() });
    let (code, stdout, stderr) = run(&server, &["--jobs", "1"]);
    assert_eq!(code, Some(1), "{stdout}{stderr}");
    assert!(stderr.contains("records are left: job j-records, which removes them, is failed"), "{stderr}");
    assert!(!stderr.contains("  removed"), "{stderr}");
    position(&names(&server), "DELETE /api/jobs/j1");
}

/// Waits until a call was made this number of times.
fn wait_for(server: &Server, call: &str, times: usize) {
    for _ in 0..1_000 {
        if names(server).iter().filter(|name| *name == call).count() >= times {
            return;
        }
        sleep(Duration::from_millis(20));
    }
    panic!("{call} was not called {times} times: {:?}", names(server));
}
