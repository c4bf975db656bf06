//! Usage errors and outputs, in a folder that is not a checkout.

use std::process::{Command, Output, Stdio};

/// Runs the command in an empty folder, without an AWS account.
fn longshore(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(arguments).current_dir(folder.path());
    for name in ["LONGSHORE_API_URL", "LONGSHORE_TOKEN", "LONGSHORE_PROFILE", "AWS_ENDPOINT_URL"] {
        longshore.env_remove(name);
    }
    longshore.env("XDG_CONFIG_HOME", folder.path());
    longshore.output().unwrap()
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
    let rows: [(&[&str], i32, &str); 20] = [
        (&["dead-letters"], 2, no_deployment),
        (&["operations", "jobs"], 2, no_deployment),
        (&["operations", "retry", "--type", "t", "--code", "c"], 2, "--reason <TEXT>"),
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
