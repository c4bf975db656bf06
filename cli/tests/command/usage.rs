//! Usage errors and outputs, in a folder that is no checkout.

use std::process::{Command, Output, Stdio};

/// Runs the command in an empty folder, without an account of AWS.
fn longshore(arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().unwrap();
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(arguments).current_dir(folder.path());
    for name in ["LONGSHORE_API_URL", "LONGSHORE_TOKEN", "AWS_ENDPOINT_URL"] {
        longshore.env_remove(name);
    }
    longshore.output().unwrap()
}

/// Returns the exit code and the errors.
fn refused(arguments: &[&str]) -> (Option<i32>, String) {
    let output = longshore(arguments);
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn what_is_missing_is_named_with_the_way_out() {
    let rows: [(&[&str], i32, &str); 6] = [
        (&["dead-letters"], 1, "name one by --api-url or LONGSHORE_API_URL, or start a local stack"),
        (&["dead-letters", "--token", "t"], 2, "--api-url <URL>"),
        (&["dead-letters", "list", "--api-url", "http://127.0.0.1:9"], 1, "no token: name one by --token, or set"),
        (&["smoke", "--local", "--yes"], 1, "there is no local stack here: start it with `cargo xtask up`"),
        (&["deploy-check", "--offline"], 1, "cannot read template.yaml: go to the folder of the deployment's files"),
        (&["verify-receipt", "receipt.json"], 1, "cannot read receipt.json"),
    ];
    for (arguments, code, text) in rows {
        let (actual, error) = refused(arguments);
        assert_eq!(actual, Some(code), "{arguments:?}: {error}");
        assert!(error.contains(text), "{arguments:?}: {error}");
    }
}

#[test]
fn a_closed_output_is_no_panic() {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["verify-receipt", "/nowhere/receipt.json"]).stdout(Stdio::null()).stderr(writer);
    assert_eq!(longshore.status().unwrap().code(), Some(1));
}
