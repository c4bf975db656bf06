//! Wrong usage, and handlers that cannot be reached.

use std::process::{Command, Output};

use serde_json::Value;

use super::endpoint::Endpoint;
use super::handler;
use super::run::command;

fn longshore(arguments: &[&str]) -> Output {
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["types", "check"]).args(arguments).env_remove("LONGSHORE_HANDLER_SECRET").output().unwrap()
}

#[test]
fn wrong_usage_has_exit_code_2_and_a_fix() {
    for (arguments, words) in [
        (&["http://api.example.com/"][..], "an https:// URL or the ARN"),
        (&["arn:aws:lambda:eu-west-1:123456789012:function:a"], "names no alias"),
        (&["https://127.0.0.1/"], "Use a host name"),
        (&["https://localhost/"], "localhost is not a public host"),
        (&["https://a.example/", "--options", "{"], "this is not JSON"),
        (&["https://a.example/", "--items", "/nowhere"], "cannot read it"),
        (&["https://a.example/", "--timeout", "0"], "--timeout"),
        (&["https://a.example/", "--local-roots", "a.pem"], "--environment"),
        (&["https://a.example/", "--local-roots", "/nowhere", "--environment", "local"], "cannot read /nowhere"),
        (&["https://a.example/", "--secret", "whsec_x"], "--secret"),
    ] {
        let output = longshore(arguments);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {error}");
        assert!(error.contains(words), "{arguments:?}: {error}");
    }
}

#[test]
fn help_and_guide_have_the_exit_codes() {
    let help = String::from_utf8(longshore(&["--help"]).stdout).unwrap();
    let guide = include_str!("../../../docs/guides/command-line.md");
    let (_, guide) = guide.split_once("| code of `types check` | meaning |").unwrap();
    for (code, words) in
        [(0, "no check failed"), (1, "a check failed"), (2, "wrong usage"), (3, "the handler cannot be reached")]
    {
        assert!(help.contains(&format!("{code} {words}")), "{help}");
        assert!(guide.contains(&format!("| {code} | {words}")), "{guide}");
    }
}

#[test]
fn a_secret_that_is_none_is_wrong_usage_and_is_not_shown() {
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["types", "check", "https://a.example/"]).env("LONGSHORE_HANDLER_SECRET", "hunter2");
    let output = longshore.output().unwrap();
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("LONGSHORE_HANDLER_SECRET: A signing secret is written as whsec_"), "{error}");
    assert!(!error.contains("hunter2"));
}

#[test]
fn local_permissions_are_for_the_environment_local_only() {
    let endpoint = Endpoint::start(handler::perfect);
    let roots = endpoint.certificates.file("roots.pem");
    let arguments = [&endpoint.url, "--environment", "production", "--local-roots", roots.to_str().unwrap()];
    let output = longshore(&arguments);
    let error = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(error.contains("for the environment \"local\" only"), "{error}");
}

#[test]
fn a_handler_that_cannot_be_reached_has_an_error_of_its_own() {
    let endpoint = Endpoint::start(handler::perfect);
    let other = Endpoint::start(handler::perfect);
    let unknown_authority = Endpoint { url: endpoint.url.clone(), certificates: other.certificates };
    let closed = Endpoint { url: "https://localhost:9/".to_owned(), certificates: endpoint.certificates };
    for (endpoint, words) in [(&closed, "accepted no connection"), (&unknown_authority, "TLS with the endpoint failed")]
    {
        let output = command(endpoint, &["--json"]).output().unwrap();
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(3), "{error}");
        assert!(error.starts_with("error: the handler cannot be reached, so nothing was checked: "), "{error}");
        assert!(error.contains(words), "{error}");
        let document: Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!((&document["verdict"], &document["checks"]), (&"unreachable".into(), &Value::Array(vec![])));
        assert!(document["error"].as_str().unwrap().contains(words));
    }
}
