//! Runs of the command.

use std::collections::{HashMap, HashSet};
use std::process::{Command, Output};
use std::sync::Mutex;

use serde_json::{Value, json};

use super::endpoint::{Endpoint, Request, Response};
use super::handler::{self, SECRET};

/// Returns the command for an endpoint, with its authority and its secret.
pub(crate) fn command(endpoint: &Endpoint, arguments: &[&str]) -> Command {
    let mut longshore = Command::new(env!("CARGO_BIN_EXE_longshore"));
    longshore.args(["types", "check", &endpoint.url, "--environment", "local", "--local-roots"]);
    longshore.arg(endpoint.certificates.file("roots.pem")).args(arguments).env("LONGSHORE_HANDLER_SECRET", SECRET);
    longshore
}

/// Result of a run with `--json`.
pub(crate) struct Checked {
    pub(crate) code: Option<i32>,
    pub(crate) document: Value,
    pub(crate) errors: String,
}

impl Checked {
    pub(crate) fn new(output: &Output) -> Self {
        let errors = String::from_utf8(output.stderr.clone()).unwrap();
        let document = serde_json::from_slice(&output.stdout);
        let document = document.unwrap_or_else(|error| panic!("{error}: {errors}"));
        Self { code: output.status.code(), document, errors }
    }

    pub(crate) fn checks(&self) -> &[Value] {
        self.document["checks"].as_array().unwrap()
    }

    /// Returns check, status and id of each problem.
    pub(crate) fn findings(&self) -> Vec<String> {
        let problems = self.checks().iter().filter(|check| !check["finding"].is_null());
        problems
            .map(|check| ["check", "status", "finding"].map(|name| check[name].as_str().unwrap()).join(" "))
            .collect()
    }

    pub(crate) fn check(&self, name: &str) -> &Value {
        self.checks().iter().find(|check| check["check"] == name).unwrap()
    }

    pub(crate) fn skipped(&self) -> Vec<&str> {
        let skipped = self.checks().iter().filter(|check| check["status"] == "skipped");
        skipped.map(|check| check["check"].as_str().unwrap()).collect()
    }
}

/// Checks an endpoint that responds so, with `--json` and more arguments.
pub(crate) fn check_endpoint(
    respond: impl Fn(&Request) -> Response + Send + Sync + 'static,
    arguments: &[&str],
) -> Checked {
    let endpoint = Endpoint::start(respond);
    Checked::new(&command(&endpoint, &[&["--json"], arguments].concat()).output().unwrap())
}

/// Responds as a perfect handler, and refuses a message whose id it has seen before.
fn perfect_with_replay_protection() -> impl Fn(&Request) -> Response {
    let seen = Mutex::new(HashSet::new());
    move |request| {
        let response = handler::perfect(request);
        let message: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let batch = message["batch"]["id"].as_str().map(str::to_owned);
        let ids = [request.header("webhook-id").map(str::to_owned), batch];
        let mut seen = seen.lock().unwrap();
        let is_new = ids.into_iter().enumerate().all(|(kind, id)| id.is_none() || seen.insert((kind, id)));
        if response.status == 200 && !is_new { Response::json(409, "replayed") } else { response }
    }
}

#[test]
fn a_perfect_handler_has_no_finding_although_it_refuses_repeated_ids() {
    let checked = check_endpoint(perfect_with_replay_protection(), &[]);
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    assert_eq!((checked.code, checked.skipped()), (Some(0), vec![]));
    assert_eq!(checked.document["counts"]["ok"], 15);
    assert_eq!((&checked.document["verdict"], &checked.document["mode"]), (&"passed".into(), &"validate".into()));
    assert!(checked.checks().iter().all(|check| check["notes"] == Value::Array(vec![])), "{:#}", checked.document);
    assert!(checked.document["calls"].as_u64().unwrap() < 25);
}

#[test]
fn text_has_a_line_for_each_check_and_the_evidence_of_a_problem() {
    let respond = |request: &Request| {
        let mut response = handler::perfect(request);
        response.headers.clear();
        response
    };
    let endpoint = Endpoint::start(respond);
    let output = command(&endpoint, &[]).output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(output.status.code(), Some(0), "{text}");
    assert_eq!(text.lines().filter(|line| line.starts_with("ok ")).count(), 14, "{text}");
    for line in ["warning  content type", "           sent      a ping", "           fix       Send `Content-Type"] {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.contains("\n0 failed, 1 warning, 14 ok, 0 skipped: "), "{text}");
}

#[test]
fn a_slow_check_is_named_on_standard_error() {
    let respond = |request: &Request| {
        if request.body.len() > 50_000 {
            std::thread::sleep(std::time::Duration::from_millis(2_300));
        }
        handler::perfect(request)
    };
    let checked = check_endpoint(respond, &[]);
    assert!(checked.errors.contains("  batch of 1,000...\n"), "{}", checked.errors);
}

#[test]
fn samples_options_and_names_are_sent() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("items.jsonl");
    std::fs::write(&file, "{\"bad\":1.50}\n{\"b\":2}\n").unwrap();
    let respond = |request: &Request| {
        let message: Value = serde_json::from_slice(&request.body).unwrap();
        let is_expected = match message["items"].as_array() {
            Some(_) => message["job"]["type"] == "invite" && message["job"]["options"]["event"] == "launch",
            None => message["stack"] == "prod",
        };
        if is_expected { handler::perfect(request) } else { Response::json(400, "{}") }
    };
    let arguments = ["--items", file.to_str().unwrap(), "--options", r#"{"event":"launch"}"#, "--type", "invite"];
    let checked = check_endpoint(respond, &[&arguments[..], &["--stack", "prod"]].concat());
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    assert_eq!(checked.check("one_item")["summary"].as_str().unwrap().split(',').next(), Some("reject not_a_contact"));
    assert_eq!(checked.check("codes")["summary"], "\"not_a_contact\"");
}

#[test]
fn a_handler_without_validate_gets_no_item_unless_the_author_says_run() {
    let respond = |request: &Request| {
        let message: Value = serde_json::from_slice(&request.body).unwrap();
        match message["mode"].as_str() {
            Some("validate") => panic!("an item in the mode validate"),
            None if message["schema"] == "longshore.ping/1" && handler::is_signed(request) => {
                let mut pong = handler::pong(&message);
                pong["modes"] = json!(["run"]);
                if handler::is_recent(request) {
                    Response::json(200, pong.to_string())
                } else {
                    Response::json(401, "{}")
                }
            }
            _ => handler::perfect(request),
        }
    };
    for arguments in [&[][..], &["--mode", "validate"]] {
        let checked = check_endpoint(respond, arguments);
        assert_eq!((checked.code, checked.findings().len(), checked.skipped().len()), (Some(0), 0, 10));
        assert!(checked.check("one_item")["summary"].as_str().unwrap().contains("--mode run"));
    }
    let checked = check_endpoint(respond, &["--mode", "run"]);
    assert_eq!((checked.findings(), checked.skipped()), (vec![], vec![]), "{:#}", checked.document);
}

#[test]
fn a_handler_that_refuses_a_value_under_a_second_key_has_no_finding_in_the_mode_run() {
    let seen = Mutex::new(HashMap::new());
    let respond = move |request: &Request| {
        let mut response = handler::perfect(request);
        let message: Value = serde_json::from_slice(&request.body).unwrap();
        if message["items"].is_array() {
            let mut results = handler::results(&message);
            for (item, result) in message["items"].as_array().unwrap().iter().zip(&mut results) {
                let first =
                    seen.lock().unwrap().entry(item["value"].to_string()).or_insert(item["key"].clone()).clone();
                if first != item["key"] {
                    *result = json!({"key": item["key"], "outcome": "reject", "code": "already_exists"});
                }
            }
            response.body = json!({ "results": results }).to_string().into();
        }
        response
    };
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("items.jsonl");
    let lines: Vec<_> = (0..10).map(|n| format!("{{\"n\":{n}}}")).collect();
    std::fs::write(&file, lines.join("\n")).unwrap();
    let checked = check_endpoint(respond, &["--mode", "run", "--items", file.to_str().unwrap()]);
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
}
