//! Usage errors and outputs, in a folder that is not a checkout.

use std::process::{Command, Output, Stdio};

/// Runs the command in an empty folder, without an AWS account.
fn longshore(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(arguments).current_dir(folder.path());
    for name in ["LONGSHORE_API_URL", "LONGSHORE_TOKEN", "AWS_ENDPOINT_URL"] {
        longshore.env_remove(name);
    }
    longshore.output().unwrap()
}

/// Runs the command. Returns the exit code and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = longshore(arguments);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_error_names_what_is_missing_and_the_fix() {
    let rows: [(&[&str], i32, &str); 6] = [
        (&["dead-letters"], 1, "pass its URL with --api-url or LONGSHORE_API_URL, or start a local stack"),
        (&["dead-letters", "--token", "t"], 2, "--api-url <URL>"),
        (&["dead-letters", "list", "--api-url", "http://127.0.0.1:9"], 1, "no token: pass one with --token, or set"),
        (
            &["smoke", "--local", "--yes"],
            1,
            "no local stack in this folder or a parent folder: start one with `cargo xtask up`",
        ),
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
