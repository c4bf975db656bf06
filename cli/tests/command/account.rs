//! Credentials and region of the shell's AWS account.

use std::fs;
use std::process::{Command, Output};

use serde_json::json;
use tempfile::TempDir;

use super::server::Server;

/// Looks a stack up, in a shell with these variables and a profile with a region and a `credential_process`.
fn smoke(folder: &TempDir, variables: &[(&str, &str)]) -> Output {
    let config = folder.path().join("config");
    let keys = r#"{"Version":1,"AccessKeyId":"a","SecretAccessKey":"s"}"#;
    fs::write(folder.path().join("keys"), keys).unwrap();
    let profile = format!("[default]\nregion = us-east-1\ncredential_process = cat {}/keys\n", folder.path().display());
    fs::write(&config, profile).unwrap();
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["smoke", "--yes"]).current_dir(folder.path()).env_clear();
    longshore.env("PATH", std::env::var_os("PATH").unwrap()).env("AWS_CONFIG_FILE", config);
    longshore.envs(variables.iter().copied()).output().unwrap()
}

#[test]
fn credentials_of_a_process_are_used() {
    let server = Server::start(|_| (400, json!({})));
    smoke(&tempfile::tempdir().unwrap(), &[("AWS_ENDPOINT_URL", &server.url)]);
    // A call without credentials is not sent.
    assert!(!server.calls(|call| call.name.clone()).is_empty());
}

#[test]
fn two_different_regions_are_refused() {
    let regions =
        [("AWS_REGION", "eu-west-1"), ("AWS_DEFAULT_REGION", "us-east-1"), ("AWS_ENDPOINT_URL", "http://127.0.0.1:9")];
    let output = smoke(&tempfile::tempdir().unwrap(), &regions);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("AWS_REGION is eu-west-1, but AWS_DEFAULT_REGION is us-east-1"), "{error}");
}

#[test]
fn a_missing_bundle_of_certificates_is_named() {
    let variables = [("AWS_CA_BUNDLE", "/nowhere/bundle.pem"), ("AWS_ENDPOINT_URL", "http://127.0.0.1:9")];
    let output = smoke(&tempfile::tempdir().unwrap(), &variables);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("cannot read AWS_CA_BUNDLE, /nowhere/bundle.pem"), "{error}");
}
