//! Answers to batches.

use serde_json::json;

use super::{batches, count, each_has_its_finding, find, text};

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
fn partial_answers_are_allowed_and_noted() {
    let checked = find(batches(|_, results| results.truncate(3)), &[]);
    assert_eq!(checked.findings(), [""; 0], "{:#}", checked.document);
    let note = checked.check("batch")["notes"][0].as_str().unwrap();
    assert!(note.starts_with("answers only 3 of 10 items: this is allowed"), "{note}");
}
