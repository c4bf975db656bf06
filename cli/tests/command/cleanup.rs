//! The process that removes the test data of `smoke`.

use std::fs::{self, File, OpenOptions};
use std::io::{Write, pipe};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use longshore_cli::operators::smoke::cleanup::{Deployment, Kind, Message, command};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use serde_json::json;

use super::server::{Call, Response, Server};

const EVERYTHING: [(Kind, &str); 3] = [(Kind::User, "smoke"), (Kind::Upload, "u"), (Kind::Dataset, "d")];

/// Responds as AWS does for resources that exist. The user `nobody` does not exist.
fn aws(call: &Call) -> Response {
    match call.name.as_str() {
        "Query" => (200, json!({ "Items": [], "Count": 0, "ScannedCount": 0 })),
        "AdminDeleteUser" if call.body["Username"] == "nobody" => {
            (400, json!({ "__type": "UserNotFoundException", "message": "User does not exist." }))
        }
        name if name.starts_with("DELETE ") => (204, json!("")),
        _ => (200, json!({})),
    }
}

/// Lists the calls that remove something.
fn removals(server: &Server) -> Vec<String> {
    let removals = server.calls(|call| match call.name.as_str() {
        "Query" => String::new(),
        "DeleteItem" => format!("DeleteItem {}", call.body["Key"]["PK"]["S"].as_str().unwrap_or_default()),
        "AdminDeleteUser" => format!("AdminDeleteUser {}", call.body["Username"].as_str().unwrap_or_default()),
        name => name.to_owned(),
    });
    removals.into_iter().filter(|call| !call.is_empty()).collect()
}

fn assert_all_removed(server: &Server, status: Option<i32>) {
    let expected =
        ["DELETE /b/uploads/default/u", "DeleteItem UPLOAD#u", "DeleteItem DATASETS#default", "AdminDeleteUser smoke"];
    assert_eq!(removals(server), expected);
    assert_eq!(status, Some(0));
}

fn deployment(server: &Server) -> Deployment {
    let outputs = [("BucketName", "b"), ("JobsTableName", "j"), ("RecordsTableName", "r"), ("UserPoolId", "p")];
    Deployment {
        api: "http://127.0.0.1:9".into(),
        tenant_claim: "sub".into(),
        outputs: outputs.map(|(name, value)| (name.to_owned(), value.to_owned())).into(),
        endpoint: Some(server.url.clone()),
        ..Deployment::default()
    }
}

fn cleanup() -> Command {
    command(Path::new(env!("CARGO_BIN_EXE_longshore")))
}

/// Starts the process and sends it the deployment and the resources. The pipe stays open.
fn start(mut cleanup: Command, deployment: Deployment, resources: &[(Kind, &str)]) -> Child {
    let mut child = cleanup.spawn().unwrap();
    let resources = resources.iter().map(|(kind, id)| Message::Resource(*kind, (*id).to_owned()));
    let pipe = child.stdin.as_mut().unwrap();
    for message in std::iter::once(Message::Deployment(deployment)).chain(resources) {
        writeln!(pipe, "{}", serde_json::to_string(&message).unwrap()).unwrap();
    }
    child
}

/// Runs the process. Returns its exit code, standard output and standard error.
fn run(deployment: Deployment, resources: &[(Kind, &str)]) -> (Option<i32>, String, String) {
    let mut cleanup = cleanup();
    cleanup.stdout(Stdio::piped()).stderr(Stdio::piped());
    let output = start(cleanup, deployment, resources).wait_with_output().unwrap();
    let [stdout, stderr] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    (output.status.code(), stdout, stderr)
}

#[test]
fn each_removal_is_printed_below_a_heading() {
    let server = Server::start(aws);
    let (code, stdout, stderr) = run(deployment(&server), &[(Kind::User, "smoke"), (Kind::Dataset, "d")]);
    assert_eq!(stdout, "\nRemoving the test data:\n  removed dataset d\n  removed user smoke\n");
    assert_eq!((stderr.as_str(), code), ("", Some(0)));
}

#[test]
fn nothing_is_printed_if_there_is_nothing_to_remove() {
    let server = Server::start(aws);
    assert_eq!(run(deployment(&server), &[]), (Some(0), String::new(), String::new()));
}

#[test]
fn a_user_that_does_not_exist_is_not_a_failure() {
    let server = Server::start(aws);
    assert_eq!(run(deployment(&server), &[(Kind::User, "nobody")]).0, Some(0));
}

#[test]
fn a_failed_removal_is_reported_and_does_not_prevent_others() {
    let server = Server::start(aws);
    let deployment = Deployment { token: Some("bad".into()), ..deployment(&server) };
    let (code, stdout, stderr) = run(deployment, &EVERYTHING);
    let cause = "the tenant is unknown, because the token is not a JWT with the claim sub";
    assert_eq!(stderr, format!("  NOT removed: upload u: {cause}\n  NOT removed: dataset d: {cause}\n"));
    assert!(stdout.ends_with("  removed user smoke\n"), "{stdout}");
    assert_eq!(code, Some(1));
}

/// The reader of the output has ended.
#[test]
fn a_closed_pipe_does_not_stop_the_removal() {
    let server = Server::start(aws);
    let (reader, writer) = pipe().unwrap();
    drop(reader);
    let mut cleanup = cleanup();
    cleanup.stdout(writer.try_clone().unwrap()).stderr(writer);
    let status = start(cleanup, deployment(&server), &EVERYTHING).wait().unwrap();
    assert_all_removed(&server, status.code());
}

#[test]
fn a_closed_terminal_does_not_stop_the_removal() {
    let server = Server::start(aws);
    let main = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&main).unwrap();
    unlockpt(&main).unwrap();
    let name = ptsname(&main, Vec::new()).unwrap().into_string().unwrap();
    let terminal: File = OpenOptions::new().read(true).write(true).open(name).unwrap();
    drop(main);
    let mut cleanup = cleanup();
    cleanup.stdout(terminal.try_clone().unwrap()).stderr(terminal);
    let status = start(cleanup, deployment(&server), &EVERYTHING).wait().unwrap();
    assert_all_removed(&server, status.code());
}

/// Returns true if the process ignores SIGHUP and SIGTTOU, or if the system does not provide this information.
fn ignores_signals_of_terminals(process: u32) -> bool {
    let Ok(status) = fs::read_to_string(format!("/proc/{process}/status")) else { return true };
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap();
    let ignored = u64::from_str_radix(ignored.trim(), 16).unwrap();
    [1, 22].iter().all(|signal| ignored >> (signal - 1) & 1 == 1)
}

/// A terminal that is closed sends SIGHUP to its processes. The test sends the signals to the process group.
#[test]
fn a_hangup_does_not_stop_the_removal() {
    let server = Server::start(aws);
    let mut cleanup = cleanup();
    cleanup.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = start(cleanup, deployment(&server), &EVERYTHING);
    // The signals are sent once the process ignores them.
    let is_ready = (0..2_000).any(|_| {
        thread::sleep(Duration::from_millis(5));
        ignores_signals_of_terminals(child.id())
    });
    assert!(is_ready, "the process does not ignore SIGHUP and SIGTTOU");
    for signal in ["HUP", "TTOU"] {
        let kill = format!("kill -s {signal} -- -{}", child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }
    let status = child.wait().unwrap();
    assert_all_removed(&server, status.code());
}

#[test]
fn a_job_is_removed_before_its_records() {
    let server = Server::start(|call| match call.name.as_str() {
        "GET /api/jobs/j" => (200, json!({ "status": "canceled" })),
        "DELETE /api/jobs/j" => (202, json!({})),
        _ => aws(call),
    });
    let deployment = Deployment { api: server.url.clone(), ..deployment(&server) };
    let (code, _, stderr) = run(deployment, &[(Kind::Upload, "u"), (Kind::Dataset, "d"), (Kind::Job, "j")]);
    let expected = ["POST /api/jobs/j/cancel", "GET /api/jobs/j", "DELETE /api/jobs/j", "DeleteItem DATASETS#default"];
    assert_eq!(removals(&server), expected);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

/// The test was killed before the answer to the creation of its job.
#[test]
fn a_job_whose_creation_was_not_answered_is_found_and_removed_before_its_records() {
    let server = Server::start(|call| match call.name.as_str() {
        "GET /api/jobs" => (200, json!({ "jobs": [{ "jobId": "j", "status": "running" }], "nextCursor": null })),
        "GET /api/jobs/j" => (200, json!({ "status": "canceled" })),
        "DELETE /api/jobs/j" => (202, json!({})),
        _ => aws(call),
    });
    let deployment = Deployment { api: server.url.clone(), ..deployment(&server) };
    let resources = [(Kind::Upload, "u"), (Kind::UnansweredJob, "smoke-1"), (Kind::Dataset, "d")];
    let (code, stdout, stderr) = run(deployment, &resources);
    let expected = [
        "GET /api/jobs",
        "POST /api/jobs/j/cancel",
        "GET /api/jobs/j",
        "DELETE /api/jobs/j",
        "DELETE /b/uploads/default/u",
        "DeleteItem UPLOAD#u",
        "DeleteItem DATASETS#default",
    ];
    assert_eq!(removals(&server), expected);
    assert!(stdout.contains("  removed job j\n"), "{stdout}");
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_dataset_is_not_reported_as_removed_if_its_job_cannot_be_looked_for() {
    let server = Server::start(|call| match call.name.as_str() {
        "GET /api/jobs" => (403, json!({ "detail": "no permission" })),
        _ => aws(call),
    });
    let deployment = Deployment { api: server.url.clone(), ..deployment(&server) };
    let (code, stdout, stderr) = run(deployment, &[(Kind::UnansweredJob, "smoke-1"), (Kind::Dataset, "d")]);
    let dataset = "NOT removed: dataset d: its records are removed, but it may have a job, which can write more";
    assert!(stderr.starts_with("  NOT removed: job of the test smoke-1: ") && stderr.contains(dataset), "{stderr}");
    assert!(!stdout.contains("removed dataset"), "{stdout}");
    assert_eq!(code, Some(1));
}

/// The table has several pages and partitions, and leaves an item unprocessed once.
#[test]
fn every_record_of_a_dataset_is_removed() {
    let key = |id: u32| json!({ "PK": { "S": "DATASET#default#d#00" }, "SK": { "S": id.to_string() } });
    let delete = move |id: u32| json!({ "DeleteRequest": { "Key": key(id) } });
    let mut is_throttled = true;
    let server = Server::start(move |call| match call.name.as_str() {
        "Query" if call.body["ExpressionAttributeValues"][":pk"]["S"] == "DATASET#default#d#00" => {
            if call.body["ExclusiveStartKey"].is_null() {
                (200, json!({ "Items": [key(1), key(2)], "LastEvaluatedKey": key(2) }))
            } else {
                (200, json!({ "Items": [key(3)] }))
            }
        }
        "BatchWriteItem" if std::mem::take(&mut is_throttled) => {
            (200, json!({ "UnprocessedItems": { "r": [delete(2)] } }))
        }
        _ => aws(call),
    });
    let (code, _, stderr) = run(deployment(&server), &[(Kind::Dataset, "d")]);
    assert_eq!((code, stderr.as_str()), (Some(0), ""));
    let batches = server.calls(|call| call.body["RequestItems"]["r"].to_string());
    let batches: Vec<_> = batches.into_iter().filter(|batch| batch != "null").collect();
    assert_eq!(batches, [json!([delete(1), delete(2), delete(3)]).to_string(), json!([delete(2)]).to_string()]);
    let queries = server.calls(|call| call.name.clone()).into_iter().filter(|name| name == "Query").count();
    assert_eq!(queries, 65, "64 partitions, one of two pages");
}
