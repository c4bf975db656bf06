//! Items that repeat, are invalid or arrive at the same time.

use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::sleep;
use std::time::Duration;

use serde_json::{Value, json};

use super::super::endpoint::Response;
use super::super::handler::{self, results};
use super::{batches, count, each_has_its_finding, find, message, with};

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
