//! The renewal of a sign-in during a command, at an issuer that is busy.

use std::process::Command;
use std::sync::{Arc, OnceLock};

use serde_json::{Value, json};
use tempfile::TempDir;

use super::server::{Call, Response, Server};

const DISCOVERY: &str = "GET /.well-known/openid-configuration";

/// Starts a deployment that is its own issuer. `respond` gets its URL, too.
fn deployment(mut respond: impl FnMut(&Call, &str) -> Response + Send + 'static) -> Server {
    let url = Arc::new(OnceLock::<String>::new());
    let own = Arc::clone(&url);
    let server = Server::start(move |call: &Call| respond(call, own.get().unwrap()));
    url.set(server.url.clone()).unwrap();
    server
}

fn endpoints(url: &str) -> Value {
    json!({ "issuer": url, "authorization_endpoint": format!("{url}/authorize"), "token_endpoint": format!("{url}/token") })
}

fn job(status: &str) -> Value {
    json!({ "jobId": "j", "status": status, "message": "Job running", "itemCount": 1, "itemCountFinal": true,
        "itemProgress": 1, "percent": 100, "counts": { "succeeded": 1, "failed": 0, "skipped": 0 } })
}

/// Watches the job with a profile whose token has to be renewed, and ends then. Returns the exit code and standard error.
fn watch(server: &Server, expires_at: Option<u64>, arguments: &[&str]) -> (Option<i32>, String) {
    let folder: TempDir = tempfile::tempdir().unwrap();
    let sign_in = json!({ "issuer": server.url, "clientId": "c", "scope": "", "token": "access", "hostedPage": null });
    let tokens = json!({ "token": "old", "renewAt": 1, "expiresAt": expires_at, "refreshToken": "r" });
    let profiles = json!({ "default": { "apiUrl": server.url, "signIn": sign_in, "tokens": tokens } });
    std::fs::create_dir(folder.path().join("longshore")).unwrap();
    std::fs::write(folder.path().join("longshore/profiles.json"), profiles.to_string()).unwrap();
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["jobs", "watch", "j"]).args(arguments).current_dir(folder.path());
    for name in ["LONGSHORE_API_URL", "LONGSHORE_TOKEN", "LONGSHORE_PROFILE"] {
        longshore.env_remove(name);
    }
    let output = longshore.env("XDG_CONFIG_HOME", folder.path()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

fn count(server: &Server, name: &str) -> usize {
    server.calls(|call| call.name.clone()).iter().filter(|found| *found == name).count()
}

#[test]
fn a_busy_issuer_is_asked_again_and_its_endpoints_are_read_once() {
    let (mut is_busy, mut jobs) = (true, vec![job("completed"), job("running")]);
    let server = deployment(move |call, url| match call.name.as_str() {
        DISCOVERY if std::mem::take(&mut is_busy) => (503, json!({})),
        DISCOVERY => (200, endpoints(url)),
        // It is due for a renewal at once.
        "POST /token" => (200, json!({ "access_token": "new", "expires_in": 0 })),
        "GET /api/jobs/j" if call.token == "new" => (200, jobs.pop().unwrap()),
        _ => (401, json!({})),
    });
    let (code, error) = watch(&server, None, &[]);
    assert_eq!(code, Some(0), "{error}");
    assert_eq!((count(&server, DISCOVERY), count(&server, "POST /token")), (2, 2));
}

#[test]
fn a_token_is_used_until_its_end_while_its_issuer_is_busy() {
    let mut jobs = vec![job("completed"), job("running")];
    let server = deployment(move |call, _| match call.name.as_str() {
        "GET /api/jobs/j" if call.token == "old" => (200, jobs.pop().unwrap()),
        _ => (503, json!({})),
    });
    let (code, error) = watch(&server, Some(99_999_999_999), &[]);
    assert_eq!((code, count(&server, DISCOVERY)), (Some(0), 1), "{error}");
    let (code, error) = watch(&server, Some(2), &["--timeout", "0"]);
    assert_eq!((code, count(&server, "GET /api/jobs/j")), (Some(6), 2), "{error}");
    assert!(error.contains("/.well-known/openid-configuration returned 503"), "{error}");
}

#[test]
fn a_token_endpoint_that_is_busy_does_not_end_the_session() {
    let (mut is_busy, mut jobs) = (true, vec![job("completed")]);
    let server = deployment(move |call, url| match call.name.as_str() {
        DISCOVERY => (200, endpoints(url)),
        "POST /token" if std::mem::take(&mut is_busy) => (429, json!({ "message": "Too Many Requests" })),
        "POST /token" => (200, json!({ "access_token": "new", "expires_in": 3600 })),
        "GET /api/jobs/j" if call.token == "new" => (200, jobs.pop().unwrap()),
        _ => (401, json!({})),
    });
    let (code, error) = watch(&server, None, &[]);
    assert_eq!((code, count(&server, "POST /token")), (Some(0), 2), "{error}");
}
