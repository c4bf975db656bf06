//! Answers, good and bad: what the schema says of them, and what the reader makes of them.

use longshore_domain::outcome::Outcome;
use longshore_domain::remote::{Answer, ItemOutcome, read_answer};

use super::schemas::{ITEMS_ANSWER, validator};
use super::{JOB, keys};

/// Verdict of the schema on an answer.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Schema {
    /// The schema agrees with the reader.
    Agrees,
    /// No schema can express why the reader refuses the answer.
    Accepts,
    /// The answer is not JSON that a schema could be applied to.
    CannotRead,
}
use Schema::{Accepts, Agrees, CannotRead};

/// Describes an outcome in one line.
fn describe(outcome: &Option<ItemOutcome>) -> String {
    match outcome {
        None => "-".into(),
        Some(Outcome::Ok(output)) => output.as_ref().map_or("ok".into(), |output| format!("ok {}", output.get())),
        Some(Outcome::Skip { reason }) => format!("skip {reason}"),
        Some(Outcome::Reject(why)) => {
            format!("reject {}/{}/{}", why.code, why.field.as_deref().unwrap_or("-"), why.message)
        }
        Some(Outcome::Retry { after, reason }) => {
            format!("retry {}/{reason}", after.map_or(0, |after| after.as_secs()))
        }
        Some(Outcome::Busy { .. } | Outcome::Fatal(_)) => panic!("not an outcome of an item"),
    }
}

fn describe_answer(answer: &Answer) -> String {
    match answer {
        Answer::Items(items) => items.outcomes().iter().map(describe).collect::<Vec<_>>().join(", "),
        Answer::RetryBatch { after, reason } => format!("again {}/{reason}", after.map_or(0, |after| after.as_secs())),
        Answer::Fatal(why) => format!("fatal {}/{}", why.code, why.message),
    }
}

/// Returns an answer with `results`; `K17` stands for the key of item 17.
fn answer(text: &str) -> String {
    let text =
        if text.starts_with('(') { format!(r#"{{"results": [{}]}}"#, &text[1..text.len() - 1]) } else { text.into() };
    (15..=21).fold(text, |text, number| text.replace(&format!("K{number}"), &format!("{JOB}-{number}")))
}

fn schema_accepts(answer: &str) -> Option<bool> {
    let value = serde_json::from_str(answer).ok()?;
    Some(validator(ITEMS_ANSWER).is_valid(&value))
}

#[test]
fn a_good_answer_is_read() {
    for (text, expected) in [
        (r#"{"all": "ok"}"#, "ok, ok, ok, ok"),
        (r#" {"all": "ok", "results": null, "retryBatch": null, "fatal": null, "later": {}} "#, "ok, ok, ok, ok"),
        (r#"({"key": "K18", "outcome": "ok"})"#, "-, ok, -, -"),
        (r#"({"key": "K20", "outcome": "ok"}, {"key": "K17", "outcome": "ok", "output": null})"#, "ok, -, -, ok"),
        (
            r#"({"key": "K17", "outcome": "ok", "output": {"b":1.0,"a": [1e2]}, "code": 3})"#,
            r#"ok {"b":1.0,"a": [1e2]}, -, -, -"#,
        ),
        (r#"({"key": "K17", "outcome": "skip", "code": "unchanged"})"#, "skip unchanged, -, -, -"),
        (
            r#"({"key": "K17", "outcome": "reject", "code": "bad_email", "field": "email", "message": "no e-mail"})"#,
            "reject bad_email/email/no e-mail, -, -, -",
        ),
        (
            r#"({"key": "K17", "outcome": "reject", "code": "e_9", "field": null, "message": null, "after": "x"})"#,
            "reject e_9/-/e_9, -, -, -",
        ),
        (r#"({"key": "K17", "outcome": "retry", "after": 30, "reason": "busy"})"#, "retry 30/busy, -, -, -"),
        (
            r#"({"key": "K17", "outcome": "retry", "after": 0}, {"key": "K18", "outcome": "retry", "after": -7.5})"#,
            "retry 1/the handler gave no reason, retry 1/the handler gave no reason, -, -",
        ),
        (
            r#"({"key": "K17", "outcome": "retry", "after": 1.2}, {"key": "K18", "outcome": "retry", "after": 1e9})"#,
            "retry 2/the handler gave no reason, retry 3600/the handler gave no reason, -, -",
        ),
        (r#"({"key": "K17", "outcome": "retry", "after": null})"#, "retry 0/the handler gave no reason, -, -, -"),
        (r#"{"retryBatch": {"after": 20, "reason": "quota"}}"#, "again 20/quota"),
        (r#"{"retryBatch": {}}"#, "again 0/the handler gave no reason"),
        (r#"{"fatal": {"code": "licence_expired", "message": "buy one"}}"#, "fatal licence_expired/buy one"),
        (r#"{"fatal": {"code": "licence_expired"}}"#, "fatal licence_expired/licence_expired"),
        ("\u{FEFF}{\"\\u0061ll\": \"\\u006fk\"}", "ok, ok, ok, ok"),
    ] {
        let text = answer(text);
        let read = read_answer(text.as_bytes(), &keys()).unwrap_or_else(|error| panic!("{error}: {text}"));
        assert_eq!(describe_answer(&read), expected, "{text}");
        assert_eq!(schema_accepts(text.trim_start_matches('\u{FEFF}')), Some(true), "{text}");
    }
}

#[test]
fn a_bad_answer_is_refused_with_its_first_defect_in_words() {
    for (text, schema, words) in [
        ("", CannotRead, "the answer is empty"),
        (" \n", CannotRead, "the answer is empty"),
        ("{\"all\":\n \"ok\",}", CannotRead, "not JSON: key must be a string at line 2 column 7"),
        ("OK", CannotRead, "not JSON: expected value at line 1 column 1"),
        ("{\"all\": \"ok\"} {}", CannotRead, "not JSON: trailing characters at line 1 column 15"),
        ("{\"all\": \"ok\"", CannotRead, "not JSON: EOF"),
        ("null", Agrees, "the answer is null, not an object; does the handler's function return its answer?"),
        ("true", Agrees, "the answer is a boolean, not an object"),
        ("[]", Agrees, "an array, not an object; an array of results belongs in the member `results`"),
        (r#""{\"all\": \"ok\"}""#, Agrees, "a string, not an object; return the object itself"),
        ("{}", Agrees, "none of `results`, `all`, `retryBatch` and `fatal`"),
        (r#"{"results": null}"#, Agrees, "none of `results`"),
        (r#"{"Results": [], "ok": true}"#, Agrees, r#"; it has "Results", "ok""#),
        (r#"{"statusCode": 200, "body": "{}"}"#, Agrees, "API Gateway: return the object that is its `body`"),
        (r#"{"batchItemFailures": []}"#, Agrees, "a response for SQS"),
        (
            r#"{"all": "ok", "fatal": {"code": "no"}}"#,
            Agrees,
            "the answer has \"all\", \"fatal\"; it must have one of them",
        ),
        (r#"{"all": "ok", "all": "ok"}"#, Accepts, "`all` occurs twice"),
        (r#"{"all": "skip"}"#, Agrees, r#"`all` is "skip"; it can only be "ok""#),
        (r#"{"all": true}"#, Agrees, "`all` is a boolean, not a string"),
        (r#"{"results": {"K17": "ok"}}"#, Agrees, "`results` is an object, not an array"),
        (r#"{"results": []}"#, Agrees, "`results` is empty"),
        ("(17)", Agrees, "`results[0]` is a number, not an object"),
        ("(null)", Agrees, "`results[0]` is null, not an object"),
        (r#"({"key": "K17", "outcome": "ok"}, 17)"#, Agrees, "`results[1]` is a number, not an object"),
        (r#"({"key": "K17", "outcome": "no"}, 17)"#, Agrees, "`results[0].outcome` is \"no\""),
        (r#"({"key": "K17", "outcome": "ok"}, {"\ud800": 1})"#, CannotRead, "`results[1]` cannot be read"),
        (r#"({"outcome": "ok"})"#, Agrees, "`results[0].key` is missing"),
        (r#"({"key": 17, "outcome": "ok"})"#, Agrees, "`results[0].key` is a number, not a string"),
        (r#"({"key": "K17"})"#, Agrees, "`results[0].outcome` is missing"),
        (r#"({"key": "K17", "outcome": null})"#, Agrees, "`results[0].outcome` is missing"),
        (r#"({"key": "K17", "outcome": "success"})"#, Agrees, r#"`results[0].outcome` is "success"; the outcomes are"#),
        (r#"({"key": "K17", "outcome": "fatal", "code": "no"})"#, Agrees, "`results[0].outcome`"),
        (
            r#"({"key": "K17", "outcome": "ok"}, {"key": "K21", "outcome": "ok"})"#,
            Accepts,
            "`results[1].key` is \"01980000-0000-7000-8000-000000000001-21\", which is no key of this batch",
        ),
        (r#"({"key": "17", "outcome": "ok"})"#, Accepts, r#"`results[0].key` is "17", which is no key"#),
        (r#"({"key": "K17 ", "outcome": "ok"})"#, Accepts, "which is no key"),
        (
            r#"({"key": "K17", "outcome": "ok"}, {"key": "K17", "outcome": "ok"})"#,
            Accepts,
            "`results[1].key` is \"01980000-0000-7000-8000-000000000001-17\", which has a result already",
        ),
        (r#"({"key": "K17", "key": "K18", "outcome": "ok"})"#, Accepts, "`results[0].key` occurs twice"),
        (r#"({"key": "K17", "outcome": "reject"})"#, Agrees, "`results[0].code` is missing"),
        (r#"({"key": "K17", "outcome": "skip", "code": null})"#, Agrees, "`results[0].code` is missing"),
        (
            r#"({"key": "K17", "outcome": "reject", "code": "BAD_EMAIL"})"#,
            Agrees,
            r#"`results[0].code` is "BAD_EMAIL", not an identifier such as "bad_email""#,
        ),
        (r#"({"key": "K17", "outcome": "skip", "code": "not an identifier"})"#, Agrees, "not an identifier"),
        (r#"({"key": "K17", "outcome": "reject", "code": "9"})"#, Agrees, "not an identifier"),
        (r#"({"key": "K17", "outcome": "reject", "code": ""})"#, Agrees, "not an identifier"),
        (
            r#"({"key": "K17", "outcome": "reject", "code": 422})"#,
            Agrees,
            "`results[0].code` is a number, not a string",
        ),
        (
            r#"({"key": "K17", "outcome": "reject", "code": "a", "field": ["email"]})"#,
            Agrees,
            "`results[0].field` is an array",
        ),
        (
            r#"({"key": "K17", "outcome": "reject", "code": "a", "message": {}})"#,
            Agrees,
            "`results[0].message` is an object",
        ),
        (
            r#"({"key": "K17", "outcome": "retry", "after": "30"})"#,
            Agrees,
            "`results[0].after` is a string, not a number",
        ),
        (r#"({"key": "K17", "outcome": "retry", "reason": 3})"#, Agrees, "`results[0].reason` is a number"),
        (r#"({"key": "K17", "outcome": "ok", "output": "\ud800"})"#, CannotRead, "`results[0].output` cannot be read"),
        (
            r#"({"key": "K17", "outcome": "ok", "output": [1e999]})"#,
            CannotRead,
            "`results[0].output` cannot be read: number out of range",
        ),
        (r#"{"retryBatch": true}"#, Agrees, "`retryBatch` is a boolean, not an object"),
        (r#"{"retryBatch": {"after": []}}"#, Agrees, "`retryBatch.after` is an array, not a number"),
        (r#"{"fatal": "licence_expired"}"#, Agrees, "`fatal` is a string, not an object"),
        (r#"{"fatal": {"message": "no"}}"#, Agrees, "`fatal.code` is missing"),
        (r#"{"fatal": {"code": "No licence"}}"#, Agrees, "`fatal.code` is \"No licence\""),
    ] {
        let text = answer(text);
        let error = read_answer(text.as_bytes(), &keys()).err().unwrap_or_else(|| panic!("accepted: {text}"));
        assert!(error.to_string().contains(words), "{text}: {error}");
        let expected = [(Agrees, Some(false)), (Accepts, Some(true)), (CannotRead, None)];
        assert!(expected.contains(&(schema, schema_accepts(&text))), "{text}: {schema:?}");
    }
}

#[test]
fn the_first_result_beyond_the_number_of_keys_is_the_last_one_that_is_read() {
    let all = [17, 18, 19, 20, 17].map(|number| format!(r#"{{"key": "K{number}", "outcome": "ok"}}"#)).join(", ");
    for rest in ["", ", 17", r#", {"\ud800": 1}"#, r#", {"key": "K18", "outcome": "no"}"#] {
        let text = answer(&format!("({all}{rest})"));
        let error = read_answer(text.as_bytes(), &keys()).unwrap_err().to_string();
        assert!(
            error.contains("`results[4].key` is") && error.contains("which has a result already"),
            "{rest}: {error}"
        );
    }
}

#[test]
fn deep_nesting_is_refused_without_an_overflow() {
    let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
    for (depth, is_read) in [(1, true), (127, true), (128, false), (1_000_000, false)] {
        let text = answer(&format!(r#"({{"key": "K17", "outcome": "ok", "output": {}}})"#, nested(depth)));
        assert_eq!(read_answer(text.as_bytes(), &keys()).is_ok(), is_read, "{depth}");
        let ignored = format!(r#"{{"all": "ok", "later": {}}}"#, nested(depth));
        assert!(read_answer(ignored.as_bytes(), &keys()).is_ok(), "{depth}");
    }
}

#[test]
fn an_answer_has_at_most_four_mebibytes_and_valid_utf_8() {
    let padded = |bytes: usize| format!("{}{}", r#"{"all": "ok"}"#, " ".repeat(bytes - 13));
    assert!(read_answer(padded(4 << 20).as_bytes(), &keys()).is_ok());
    let error = read_answer(padded((4 << 20) + 1).as_bytes(), &keys()).unwrap_err();
    assert!(error.to_string().contains("larger than 4194304 bytes"), "{error}");
    let error = read_answer(b"{\"all\": \"\xFF\"}", &keys()).unwrap_err();
    assert!(error.to_string().contains("not UTF-8 at byte 10"), "{error}");
}

#[test]
fn long_texts_are_cut_and_long_codes_are_refused() {
    let long = "é".repeat(3_000);
    let text = answer(&format!(
        r#"({{"key": "K17", "outcome": "reject", "code": "{}", "field": "{long}", "message": "{long}"}},
            {{"key": "K18", "outcome": "retry", "reason": "{long}"}})"#,
        "c".repeat(100)
    ));
    let Ok(Answer::Items(items)) = read_answer(text.as_bytes(), &keys()) else { panic!("{text}") };
    let Some(Outcome::Reject(why)) = &items.outcomes()[0] else { panic!() };
    assert_eq!((why.code.len(), why.field.as_ref().unwrap().chars().count()), (100, 201));
    assert!(why.message.len() <= 2_048);
    assert!(matches!(&items.outcomes()[1], Some(Outcome::Retry { reason, .. }) if reason.len() <= 2_048));
    let too_long = answer(&format!(r#"({{"key": "K17", "outcome": "skip", "code": "{}"}})"#, "c".repeat(101)));
    let error = read_answer(too_long.as_bytes(), &keys()).unwrap_err();
    assert!(error.to_string().contains("at most 100 characters"), "{error}");
    assert_eq!(schema_accepts(&too_long), Some(false));
}

#[test]
fn neither_words_nor_debug_output_repeat_a_whole_answer() {
    let secret = "secret".repeat(100);
    for text in
        [secret.clone(), format!(r#"{{"{secret}": "{secret}"}}"#), answer(&format!(r#"({{"key": "{secret}"}})"#))]
    {
        let error = read_answer(text.as_bytes(), &keys()).unwrap_err();
        assert!(error.to_string().len() < 300, "{error}");
        assert!(format!("{error:?}").len() < 400, "{error:?}");
        assert_eq!(error.excerpt.for_operators(), text.chars().take(500).collect::<String>());
    }
}
