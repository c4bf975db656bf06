//! Handlers that do one thing wrong: each has exactly its finding.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::endpoint::{Request, Response};
use super::handler::{self, answer, is_recent, is_signed, now, pong, results};
use super::run::{Checked, check_endpoint};

type Respond = Box<dyn Fn(&Request) -> Response + Send + Sync>;

fn message(request: &Request) -> Value {
    serde_json::from_slice(&request.body).unwrap()
}

fn is_ping(message: &Value) -> bool {
    message["items"].is_null()
}

fn count(message: &Value) -> usize {
    message["items"].as_array().map_or(0, Vec::len)
}

/// Deviates in the answers to verified messages.
fn with(deviate: impl Fn(&Value) -> Option<Response> + Send + Sync + 'static) -> Respond {
    Box::new(move |request| {
        if !is_signed(request) || !is_recent(request) {
            return handler::perfect(request);
        }
        deviate(&message(request)).unwrap_or_else(|| handler::perfect(request))
    })
}

/// Deviates in the answers to pings.
fn ping(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Respond {
    with(move |message| {
        (message["schema"] == "longshore.ping/1").then(|| {
            let mut pong = pong(message);
            change(&mut pong);
            Response::json(200, pong.to_string())
        })
    })
}

/// Deviates in the results of batches.
fn batches(change: impl Fn(&Value, &mut Vec<Value>) + Send + Sync + 'static) -> Respond {
    with(move |message| {
        (!is_ping(message)).then(|| {
            let mut results = results(message);
            change(message, &mut results);
            Response::json(200, json!({ "results": results }).to_string())
        })
    })
}

/// Answers batches with this text, if they have so many items.
fn text(items: impl Fn(usize) -> bool + Send + Sync + 'static, status: u16, text: &'static str) -> Respond {
    with(move |message| (!is_ping(message) && items(count(message))).then(|| Response::json(status, text)))
}

fn find(respond: Respond, arguments: &[&str]) -> Checked {
    check_endpoint(respond, arguments)
}

/// Checks handlers, each of which must have one finding: "check status id".
fn each_has_its_finding(rows: Vec<(&'static str, Respond)>) {
    let runs = rows
        .into_iter()
        .map(|(expected, respond)| std::thread::spawn(move || (expected, find(respond, &["--timeout", "10"]))));
    for run in runs.collect::<Vec<_>>() {
        let (expected, checked) = run.join().unwrap();
        assert_eq!(checked.findings(), [expected], "{:#}", checked.document);
        assert_eq!(checked.code, Some(i32::from(expected.contains(" failed "))), "{expected}");
        let finding = checked.checks().iter().find(|check| !check["finding"].is_null()).unwrap();
        for member in ["summary", "sent", "received", "why", "fix"] {
            assert!(finding[member].as_str().is_some_and(|text| !text.is_empty()), "{expected}: {member}");
        }
        assert!(finding["received"].as_str().unwrap().chars().count() < 300, "{expected}");
    }
}

#[test]
fn pings() {
    each_has_its_finding(vec![
        ("ping failed wrong_challenge", ping(|pong| pong["challenge"] = "fixed".into())),
        ("ping failed unknown_schemas", ping(|pong| pong["schemas"] = json!(["longshore.items/2"]))),
        ("ping failed no_run_mode", ping(|pong| pong["modes"] = json!(["validate"]))),
        ("ping failed bad_ping_answer", ping(|pong| *pong = json!({"ok": true}))),
        ("ping failed ping_failed", Box::new(|_| Response::json(500, "no"))),
        ("ping failed signature_refused", Box::new(|_| Response::json(401, "no"))),
        (
            "ping failed redirect",
            Box::new(|_| Response {
                headers: vec![("location", "https://a.example/".into())],
                ..Response::json(308, "")
            }),
        ),
        (
            "ping failed never_ready",
            Box::new(|_| Response { headers: vec![("retry-after", "60".into())], ..Response::json(503, "") }),
        ),
        (
            "ping warning slow_ping",
            with(|message| {
                if message["schema"] == "longshore.ping/1" {
                    sleep(Duration::from_millis(2_100));
                }
                None
            }),
        ),
        (
            "unknown_ping warning unknown_ping_accepted",
            with(|message| is_ping(message).then(|| Response::json(200, pong(message).to_string()))),
        ),
        (
            "content_type warning content_type",
            Box::new(|request| Response {
                headers: vec![("content-type", "text/plain".into())],
                ..handler::perfect(request)
            }),
        ),
    ]);
}

#[test]
fn signatures() {
    let verified = |request: &Request| answer(&message(request));
    each_has_its_finding(vec![
        ("signature warning unsigned_accepted", Box::new(verified)),
        (
            "signature warning unsigned_accepted",
            Box::new(move |request| match request.header("webhook-signature") {
                Some(_) => handler::perfect(request),
                None => verified(request),
            }),
        ),
        (
            "signature warning wrong_signature_accepted",
            Box::new(move |request| match request.header("webhook-signature") {
                Some(_) => verified(request),
                None => Response::json(401, "{}"),
            }),
        ),
        (
            "timestamp warning old_timestamp_accepted",
            Box::new(move |request| if is_signed(request) { verified(request) } else { Response::json(401, "{}") }),
        ),
    ]);
}

#[test]
fn answers() {
    each_has_its_finding(vec![
        ("one_item failed bad_answer", text(|_| true, 200, r#"{"results": []}"#)),
        ("one_item failed bad_answer", text(|_| true, 200, r#"{"statusCode": 200, "body": "{\"all\": \"ok\"}"}"#)),
        ("one_item failed call_failed", text(|_| true, 202, "")),
        ("one_item warning fatal", text(|_| true, 200, r#"{"fatal": {"code": "expired"}}"#)),
        ("one_item warning busy", text(|_| true, 200, r#"{"retryBatch": {"after": 3600}}"#)),
        ("batch failed call_failed", text(|items| items > 1, 500, "Traceback (most recent call last)")),
        ("batch failed bad_answer", text(|items| items > 1, 200, r#"{"all": "done"}"#)),
        ("keys failed wrong_keys", batches(|_, results| results[0]["key"] = "1".into())),
        ("keys failed wrong_keys", batches(|_, results| results.push(results[0].clone()))),
        (
            "keys failed wrong_keys",
            batches(|message, results| {
                let number = |at: usize| message["items"][0]["number"].as_u64().unwrap() + at as u64;
                let job = message["job"]["id"].as_str().unwrap();
                let each = results.iter_mut().enumerate();
                each.for_each(|(at, result)| result["key"] = format!("{job}-{}", number(at)).into());
            }),
        ),
        (
            "codes failed bad_code",
            batches(|_, results| {
                let each = results.iter_mut().filter(|result| result["outcome"] == "reject");
                each.for_each(|result| result["code"] = "Not a contact".into());
            }),
        ),
        (
            "codes warning many_codes",
            batches(|message, results| {
                let each = results.iter_mut().zip(message["items"].as_array().unwrap());
                each.for_each(|(result, item)| {
                    *result =
                        json!({"key": item["key"], "outcome": "skip", "code": format!("item_{}", item["number"])});
                });
            }),
        ),
        (
            "large_batch failed answer_too_large",
            batches(|message, results| {
                if count(message) > 100 {
                    results.iter_mut().for_each(|result| result["output"] = "x".repeat(5_000).into());
                }
            }),
        ),
    ]);
}

#[test]
fn items() {
    let seen = Mutex::new(HashSet::new());
    let parallel = Arc::new(AtomicU32::new(0));
    each_has_its_finding(vec![
        (
            "repeat warning different_outcomes",
            batches(move |message, results| {
                let mut seen = seen.lock().unwrap();
                let repeated: Vec<_> = results.iter().map(|result| !seen.insert(result["key"].to_string())).collect();
                let is_small = count(message) == 10;
                let each = results.iter_mut().zip(repeated).filter(|(_, repeated)| *repeated && is_small);
                each.for_each(|(result, _)| {
                    *result = json!({"key": result["key"], "outcome": "reject", "code": "already_exists"});
                });
            }),
        ),
        (
            "unknown_members failed unknown_members_refused",
            with(|message| {
                let known = ["schema", "mode", "job", "batch", "items", "challenge", "stack"];
                let names = message.as_object().unwrap().keys();
                names.into_iter().any(|name| !known.contains(&name.as_str())).then(|| Response::json(400, "{}"))
            }),
        ),
        (
            "invalid_items failed batch_broken",
            with(|message| {
                let items = message["items"].as_array()?;
                items.iter().any(|item| item["value"].is_null()).then(|| Response::json(500, "TypeError"))
            }),
        ),
        (
            "invalid_items failed fatal_for_item",
            with(|message| {
                let items = message["items"].as_array()?;
                let has_null = items.iter().any(|item| item["value"].is_null());
                has_null.then(|| Response::json(200, r#"{"fatal": {"code": "no_email"}}"#))
            }),
        ),
        (
            "invalid_items warning neighbours_affected",
            batches(|message, results| {
                if message["items"].as_array().unwrap().iter().any(|item| item["value"].is_null()) {
                    let reject = |result: &mut Value| {
                        *result = json!({"key": result["key"], "outcome": "reject", "code": "not_a_contact"});
                    };
                    results.iter_mut().for_each(reject);
                }
            }),
        ),
        (
            "concurrency failed concurrent_call_failed",
            Box::new(move |request| {
                let running = parallel.fetch_add(1, Ordering::SeqCst);
                sleep(Duration::from_millis(if count(&message(request)) == 5 { 300 } else { 0 }));
                let response = if running > 0 { Response::json(500, "locked") } else { handler::perfect(request) };
                parallel.fetch_sub(1, Ordering::SeqCst);
                response
            }),
        ),
    ]);
}

#[test]
fn durations() {
    each_has_its_finding(vec![
        (
            "large_batch warning slow_batch",
            with(|message| {
                let deadline = message["batch"]["deadline"].as_str()?;
                let deadline = longshore_domain::timestamp::Timestamp::parse_rfc3339(deadline).unwrap();
                let left = u64::try_from(deadline.0 - now().as_millis() as i64).unwrap();
                if count(message) > 100 {
                    sleep(Duration::from_millis(left.saturating_sub(1_000).min(5_500)));
                }
                None
            }),
        ),
        (
            "deadline warning late_answer",
            with(|message| {
                if count(message) > 100 {
                    sleep(Duration::from_millis(2_400));
                }
                None
            }),
        ),
    ]);
}

#[test]
fn answers_to_concurrent_calls_that_are_mixed_up() {
    let kept = Mutex::new(HashMap::<String, Value>::new());
    let respond = with(move |message| {
        let batch = message["batch"]["id"].as_str().filter(|id| id.contains("concurrency"))?;
        let mut kept = kept.lock().unwrap();
        let first = kept.entry("results".into()).or_insert_with(|| results(message).into());
        (!batch.is_empty()).then(|| Response::json(200, json!({ "results": first }).to_string()))
    });
    each_has_its_finding(vec![("concurrency failed mixed_answers", respond)]);
}

#[test]
fn partial_answers_are_allowed_and_noted() {
    let checked = find(batches(|_, results| results.truncate(3)), &[]);
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    let note = checked.check("batch")["notes"][0].as_str().unwrap();
    assert!(note.starts_with("answers only 3 of 10 items: this is allowed"), "{note}");
}

#[test]
fn a_busy_handler_is_called_again_not_before_the_time_that_it_asked_for() {
    let calls = AtomicU32::new(0);
    let last = Mutex::new(Duration::ZERO);
    let respond = with(move |message| {
        if count(message) != 10 {
            return None;
        }
        let waited = now() - std::mem::replace(&mut *last.lock().unwrap(), now());
        match calls.fetch_add(1, Ordering::SeqCst) {
            0 => Some(Response { headers: vec![("retry-after", "2".into())], ..Response::json(429, "") }),
            1 if waited < Duration::from_secs(2) => Some(Response::json(500, "too early")),
            _ => None,
        }
    });
    let checked = find(respond, &[]);
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    assert_eq!(checked.check("batch")["notes"], json!(["busy 1 times before its answer"]));
}

#[test]
fn a_culprit_is_named() {
    let checked = find(
        with(|message| {
            let items = message["items"].as_array()?;
            let is_long = |item: &Value| item["value"].as_str().is_some_and(|text| text.len() > 100_000);
            items.iter().any(is_long).then(|| Response::json(413, ""))
        }),
        &[],
    );
    let summary = checked.check("invalid_items")["summary"].as_str().unwrap();
    assert!(summary.starts_with("a string of 200 KB: the endpoint answered 413"), "{summary}");
}

#[test]
fn without_a_secret_an_endpoint_that_verifies_says_so() {
    let endpoint = super::endpoint::Endpoint::start(handler::perfect);
    let mut longshore = super::run::command(&endpoint, &["--json"]);
    let checked = Checked::new(&longshore.env_remove("LONGSHORE_HANDLER_SECRET").output().unwrap());
    assert_eq!(checked.findings(), ["ping failed signature_refused"]);
    assert!(checked.check("ping")["fix"].as_str().unwrap().contains("LONGSHORE_HANDLER_SECRET"));
}
