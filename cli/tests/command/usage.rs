//! Usage errors and outputs, in a folder that is not a checkout, or is one with a local stack.

use std::path::Path;
use std::process::{Command, Output, Stdio};

use serde_json::json;

use super::server::{Call, Server};

/// Returns the command in this folder, without an AWS account.
fn command(arguments: &[&str], folder: &Path) -> Command {
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(arguments).current_dir(folder);
    for name in ["LONGSHORE_API_URL", "LONGSHORE_TOKEN", "LONGSHORE_PROFILE", "AWS_ENDPOINT_URL"] {
        longshore.env_remove(name);
    }
    longshore.env("XDG_CONFIG_HOME", folder);
    longshore
}

/// Runs the command in an empty folder.
fn longshore(arguments: &[&str]) -> Output {
    command(arguments, tempfile::tempdir().unwrap().path()).output().unwrap()
}

/// Runs the command in a checkout whose local stack has this URL and the user `first`. Returns the exit code and
/// standard error.
fn run_in_checkout(url: &str, arguments: &[&str]) -> (Option<i32>, String) {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join(".longshore")).unwrap();
    let user = json!({ "name": "first", "password": "p" });
    let stack = json!({ "apiUrl": url, "emulatorUrl": url, "users": [user] }).to_string();
    std::fs::write(folder.path().join(".longshore/local.json"), stack).unwrap();
    let output = command(arguments, folder.path()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn a_local_stack_that_is_not_running_is_not_the_only_deployment() {
    // Nothing listens on port 9.
    let (code, error) = run_in_checkout("http://127.0.0.1:9", &["dead-letters"]);
    assert_eq!(code, Some(1), "{error}");
    let advice = "start it with `cargo xtask up`, or name another deployment with `--profile NAME` or `--api-url URL`";
    assert!(error.contains(advice), "{error}");
}

#[test]
fn the_costs_of_a_tenant_are_read_by_the_operator_of_the_local_stack() {
    let server = Server::start(|_: &Call| (200, json!({})));
    let (code, error) = run_in_checkout(&server.url, &["costs", "--tenant", "acme"]);
    assert_eq!(code, Some(4), "{error}");
    assert!(error.contains("the local stack has no user operator: pass --token"), "{error}");
    let (_, error) = run_in_checkout(&server.url, &["costs"]);
    assert!(error.contains("the stack has no output UserPoolId"), "the first user signs in: {error}");
}

#[test]
fn a_sign_in_names_the_local_stack_that_is_preferred_to_its_profile() {
    let server = Server::start(|_: &Call| (200, json!({ "jobs": [] })));
    let login = ["login", "--api-url", &server.url, "--token", "t"];
    let (code, error) = run_in_checkout("http://127.0.0.1:9", &login);
    assert_eq!(code, Some(0), "{error}");
    let note = "/.longshore/local.json names a local stack, which takes precedence over a profile that is not named";
    assert!(error.contains(note), "{error}");
}

/// Runs the command. Returns the exit code and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = longshore(arguments);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_error_names_what_is_missing_and_the_fix() {
    let nowhere = ["--api-url", "http://127.0.0.1:9"];
    let import = |file: &'static str| [&["import", file, "--dataset", "d", "--key", "k"], &nowhere[..]].concat();
    let (missing, empty) = (import("people.csv"), import("-"));
    let no_deployment =
        "there is no deployment: sign in with `longshore login --api-url URL`, or set LONGSHORE_API_URL";
    let rows: [(&[&str], i32, &str); 22] = [
        (&["dead-letters"], 2, no_deployment),
        (&["operations", "jobs"], 2, no_deployment),
        (&["operations", "retry", "--type", "t", "--code", "c"], 2, "--reason <TEXT>"),
        (&["dead-letters", "replay"], 2, "<ID|--job <JOB>>"),
        (&["webhooks", "replay", "w"], 2, "<DELIVERY|--since <TIME>>"),
        (&["jobs", "list", "--token", "t"], 2, no_deployment),
        (&["jobs", "list", "--profile", "p"], 2, "there is no profile p: create it with `longshore login --profile p"),
        (&["jobs", "list", "--api-url", "http://127.0.0.1:9"], 1, "http://127.0.0.1:9 does not answer"),
        (&missing, 2, "cannot read people.csv"),
        (&empty, 2, "standard-input.csv is empty"),
        (&["run", "t", "--options", "{", "--api-url", "http://127.0.0.1:9"], 2, "--options: invalid JSON"),
        (&["login"], 2, "pass the URL of the deployment with --api-url"),
        (&["login", "--api-url", "http://127.0.0.1:9"], 1, "http://127.0.0.1:9 is not a Longshore deployment"),
        (&["logout"], 2, "there is no profile default"),
        (
            &["smoke", "--local", "--yes"],
            1,
            "no local stack in this folder or a parent folder: start one with `cargo xtask up`",
        ),
        (&["doctor", "--local"], 1, "no local stack in this folder or a parent folder"),
        (&["doctor", "--stack", "a", "--local"], 2, "cannot be used with"),
        (&["load"], 2, no_deployment),
        (&["load", "--rate", "fast"], 2, "write it as 5/s, 0.5/s, 300/m or 90/h"),
        (&["load", "--api-url", "https://a.example"], 1, "pass --yes"),
        (&["deploy-check", "--offline"], 1, "cannot read template.yaml: change to the folder of the deployment"),
        (&["verify-receipt", "receipt.json"], 1, "cannot read receipt.json"),
    ];
    for (arguments, code, text) in rows {
        let (actual, error) = run(arguments);
        assert_eq!(actual, Some(code), "{arguments:?}: {error}");
        assert!(error.contains(text), "{arguments:?}: {error}");
    }
}

#[test]
fn a_closed_output_does_not_panic() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["verify-receipt", "/nowhere/receipt.json"]).stdout(Stdio::null()).stderr(writer);
    assert_eq!(longshore.status().unwrap().code(), Some(1));
}
