//! Calls that a server throttles, or does not answer.

use std::net::TcpListener;
use std::process::Command;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::jobs::{longshore, run};
use super::server::{Call, Response, Server};

/// Starts an API that gives these answers in order.
fn answers(answers: impl IntoIterator<Item = Response>) -> Server {
    let mut answers = answers.into_iter().collect::<Vec<_>>().into_iter();
    Server::start(move |_: &Call| answers.next().unwrap_or((410, json!({ "detail": "no more answers" }))))
}

fn calls(server: &Server) -> usize {
    server.calls(|call| call.name.clone()).len()
}

#[test]
fn an_import_above_the_quota_of_the_day_is_refused_at_once() {
    let detail = "7 bytes of today's upload quota are left; upload a smaller file, or retry after 2026-07-02T00:00:00Z";
    let server = answers([(429, json!({ "detail": detail, "retryAfter": 39_600 }))]);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.csv"), "id\n1\n").unwrap();
    let mut import = longshore(&folder, &server, &["import", "a.csv", "--dataset", "d", "--key", "id"]);
    let output = import.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), calls(&server)), (Some(1), 1), "{error}");
    assert!(error.contains(detail), "{error}");
}

#[test]
fn a_wait_is_printed_and_standard_output_stays_json() {
    let server = answers([(429, json!({ "retryAfter": 3 })), (200, json!({ "jobId": "j" }))]);
    let (code, stdout, stderr) = run(&server, &["jobs", "get", "j"]);
    assert_eq!((code, calls(&server)), (Some(0), 2), "{stderr}");
    assert_eq!(serde_json::from_str::<Value>(&stdout).unwrap(), json!({ "jobId": "j" }));
    assert_eq!(stderr, "  throttled, next try in 3 s\n");
}

#[test]
fn a_change_is_tried_again_only_if_nothing_was_done() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("a.json");
    std::fs::write(&file, "{}").unwrap();
    let file = file.to_str().unwrap();
    let job = json!({ "jobId": "j", "links": { "self": "/api/jobs/j" } });
    for arguments in [
        &["webhooks", "replay", "w", "--since", "2026-02-13T18:30:00Z"][..],
        &["webhooks", "test", "w"],
        &["webhooks", "apply", file],
        &["schedules", "trigger", "s"],
        &["schedules", "delete", "s"],
        &["jobs", "delete", "j"],
        &["jobs", "retry", "j", "--no-wait"],
        &["dead-letters", "replay", "--job", "j"],
    ] {
        let replay = json!({ "replayed": ["1-a"], "left": [], "effect": "nothing", "jobId": "j", "generation": 0 });
        let done = if arguments[0] == "dead-letters" { replay } else { job.clone() };
        let server = answers([(429, json!({})), (202, done)]);
        let (code, _, stderr) = run(&server, arguments);
        assert_eq!((code, calls(&server)), (Some(0), 2), "{arguments:?}: {stderr}");
        let server = answers([(503, json!({ "detail": "unavailable" }))]);
        let (code, _, stderr) = run(&server, arguments);
        assert_eq!((code, calls(&server)), (Some(1), 1), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_call_that_is_harmless_twice_is_tried_again_after_any_fault() {
    let replay = json!({ "replayed": ["1-a"], "left": [], "effect": "message", "jobId": "j", "generation": 0 });
    for (arguments, done) in [
        (&["jobs", "cancel", "j"][..], json!({})),
        (&["dead-letters", "replay", "1-a"], replay),
        (&["dead-letters", "discard", "1-a"], json!({})),
    ] {
        let server = answers([(503, json!({})), (202, done)]);
        let (code, _, stderr) = run(&server, arguments);
        assert_eq!((code, calls(&server)), (Some(0), 2), "{arguments:?}: {stderr}");
    }
}

#[test]
fn a_call_without_an_answer_ends_with_the_timeout_and_is_named() {
    // It accepts connections, and does not answer.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", silent.local_addr().unwrap());
    let folder = tempfile::tempdir().unwrap();
    let mut watch = Command::new(env!("CARGO_BIN_EXE_longshore"));
    watch.args(["jobs", "watch", "j", "--timeout", "1", "--api-url", &url]).current_dir(folder.path());
    let start = Instant::now();
    let output = watch.env_remove("LONGSHORE_TOKEN").env("XDG_CONFIG_HOME", folder.path()).output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(6), "{error}");
    assert!(start.elapsed() < Duration::from_secs(40), "the limit of a call is 60 s: {:?}", start.elapsed());
    assert!(error.contains(&format!("whether the job has ended: {url} does not answer")), "{error}");
    assert!(!error.contains("the job has not ended"), "{error}");
}
