//! Uploads in parts, on a server that imitates the API and the storage.

use std::sync::{Arc, Condvar, Mutex, OnceLock};
use std::time::Duration;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::TempDir;

use super::jobs::longshore;
use super::server::{Call, Response, Server};

/// Size of the parts that the command plans.
const PART: usize = 8 << 20;

/// Returns the new upload, whose parts have these sizes.
fn created(call: &Call, server: &str, sizes: impl Iterator<Item = usize>) -> Response {
    assert_eq!(call.body["partSize"], PART, "{}", call.body);
    let part = |(number, size): (usize, usize)| {
        let url = format!("{server}/part/{number}");
        json!({ "partNumber": number, "size": size, "url": url, "headers": {} })
    };
    let parts: Vec<_> = (1..).zip(sizes).map(part).collect();
    (201, json!({ "fileGuid": "g", "partSize": PART, "parts": parts }))
}

/// Imports `large.csv`. Returns the exit code and the messages.
fn import(folder: &TempDir, server: &Server) -> (Option<i32>, String) {
    let arguments = ["import", "large.csv", "--dataset", "d", "--key", "k"];
    let output = longshore(folder, server, &arguments).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn an_interrupted_upload_is_resumed_by_the_same_command() {
    let bytes: Vec<u8> = (0..2 * PART + 5).map(|n| b"0123456789\n"[n % 11]).collect();
    let parts: Vec<Vec<u8>> = bytes.chunks(PART).map(<[u8]>::to_vec).collect();
    let received = Arc::new(Mutex::new(Vec::<Value>::new()));
    let url = Arc::new(OnceLock::<String>::new());
    let (fails, keeps, own_url) = (Arc::new(Mutex::new(true)), Arc::clone(&received), Arc::clone(&url));
    let failing = Arc::clone(&fails);
    let server = Server::start(move |call: &Call| match call.name.as_str() {
        "POST /api/uploads" => created(call, own_url.get().unwrap(), parts.iter().map(Vec::len)),
        "GET /api/uploads/g" => (200, json!({ "state": "waiting", "receivedParts": *keeps.lock().unwrap() })),
        "PUT /part/2" if *failing.lock().unwrap() => (500, json!({})),
        "POST /api/uploads/g/url" => (422, json!({ "detail": "there is no other URL" })),
        name if name.starts_with("PUT /part/") => {
            let number: usize = name["PUT /part/".len()..].parse().unwrap();
            let part = &parts[number - 1];
            let sha256 = STANDARD.encode(Sha256::digest(part));
            keeps.lock().unwrap().push(json!({ "partNumber": number, "size": part.len(), "sha256": sha256 }));
            (200, json!({}))
        }
        "POST /api/uploads/g/complete" => (200, json!({})),
        _ => (422, json!({ "detail": "no job is created here" })),
    });
    url.set(server.url.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("large.csv"), bytes).unwrap();
    let import = || import(&folder, &server);
    let (code, error) = import();
    assert_eq!(code, Some(1));
    assert!(error.contains("requesting a URL of the storage: there is no other URL"), "{error}");
    let before: Vec<_> = received.lock().unwrap().iter().map(|part| part["partNumber"].clone()).collect();
    assert!(before.contains(&json!(1)) && !before.contains(&json!(2)), "{before:?}");
    *fails.lock().unwrap() = false;
    let sent_before = server.calls(|call| call.name.clone()).len();
    let (_, error) = import();
    assert!(error.contains("creating the job: no job is created here"), "{error}");
    let names = server.calls(|call| call.name.clone()).split_off(sent_before);
    let sent: Vec<_> = names.iter().filter(|name| name.starts_with("PUT")).collect();
    assert!(sent.contains(&&"PUT /part/2".to_owned()) && !sent.contains(&&"PUT /part/1".to_owned()), "{names:?}");
    assert_eq!(names[names.len() - 2..], ["POST /api/uploads/g/complete", "POST /api/jobs"], "{names:?}");
}

/// Parts that are sent at the moment.
#[derive(Default)]
struct Parts {
    active: usize,
    most: usize,
    timed_out: bool,
}

/// The storage answers no part before four are sent at once, or ten seconds have passed.
#[test]
fn four_parts_are_sent_at_once() {
    let url = Arc::new(OnceLock::<String>::new());
    let parts = Arc::new((Mutex::new(Parts::default()), Condvar::new()));
    let (own_url, received) = (Arc::clone(&url), Arc::clone(&parts));
    let server = Server::start_concurrent(move |call| match call.name.as_str() {
        "POST /api/uploads" => created(call, own_url.get().unwrap(), [PART; 8].into_iter()),
        "GET /api/uploads/g" => (200, json!({ "state": "waiting" })),
        name if name.starts_with("PUT /part/") => {
            let (parts, changed) = &*received;
            let mut guard = parts.lock().unwrap();
            guard.active += 1;
            guard.most = guard.most.max(guard.active);
            changed.notify_all();
            let waits = |parts: &mut Parts| parts.most < 4 && !parts.timed_out;
            let (mut guard, wait) = changed.wait_timeout_while(guard, Duration::from_secs(10), waits).unwrap();
            guard.timed_out |= wait.timed_out();
            guard.active -= 1;
            (200, json!({}))
        }
        "POST /api/uploads/g/complete" => (200, json!({})),
        _ => (422, json!({ "detail": "no job is created here" })),
    });
    url.set(server.url.clone()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("large.csv"), vec![b'\n'; 8 * PART]).unwrap();
    let (_, error) = import(&folder, &server);
    assert!(error.contains("creating the job: no job is created here"), "{error}");
    assert_eq!(parts.0.lock().unwrap().most, 4, "parts at once");
}
