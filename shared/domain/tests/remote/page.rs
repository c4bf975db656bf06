//! Every example of the page about the contract is what the page says it is, for the schemas and for the product.

use longshore_domain::remote::{
    BatchBuilder, BatchLimits, CallResult, Mode, Ping, PingOutcome, RequestBatch, RequestHead, RequestItem, RequestJob,
    read_answer,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;
use serde_json::value::RawValue;

use super::schemas::{ITEMS_ANSWER, ITEMS_REQUEST, PING_ANSWER, PING_REQUEST, errors, validator};
use super::{key, keys};

const PAGE: &str = include_str!("../../../../docs/contract/README.md");

/// Returns the examples of a kind: the blocks that begin with this line.
fn examples(kind: &str) -> Vec<&'static str> {
    let begin = format!("```json {kind}\n");
    let blocks: Vec<_> = PAGE.split(&begin).skip(1).filter_map(|block| block.split("```").next()).collect();
    assert!(!blocks.is_empty(), "no example {kind}");
    blocks
}

fn value(example: &str) -> Value {
    serde_json::from_str(example).unwrap_or_else(|error| panic!("{error}: {example}"))
}

#[test]
fn every_example_is_of_a_known_kind() {
    let kinds = ["items-request", "items-answer", "items-answer bad", "ping-request", "ping-answer", "ping-answer bad"];
    let known: usize = kinds.iter().map(|kind| examples(kind).len()).sum();
    assert_eq!(known, PAGE.matches("```json").count());
}

#[test]
fn every_example_of_a_request_and_a_ping_matches_its_schema() {
    for (schema, kind) in [(ITEMS_REQUEST, "items-request"), (PING_REQUEST, "ping-request")] {
        let schema = validator(schema);
        for example in examples(kind) {
            assert_eq!(errors(&schema, &value(example)), [""; 0], "{example}");
        }
    }
}

#[test]
fn every_example_of_an_answer_is_read_and_every_bad_one_is_refused() {
    let schema = validator(ITEMS_ANSWER);
    for example in examples("items-answer") {
        assert_eq!(errors(&schema, &value(example)), [""; 0], "{example}");
        read_answer(example.as_bytes(), &keys()).unwrap_or_else(|error| panic!("{error}: {example}"));
    }
    for example in examples("items-answer bad") {
        assert!(!schema.is_valid(&value(example)), "{example}");
        assert!(read_answer(example.as_bytes(), &keys()).is_err(), "{example}");
    }
}

#[test]
fn every_example_of_a_pings_answer_is_good_or_bad_as_the_page_says() {
    let (schema, request) = (validator(PING_ANSWER), value(examples("ping-request")[0]));
    let ping = Ping { challenge: request["challenge"].as_str().unwrap(), stack: request["stack"].as_str().unwrap() };
    assert_eq!(serde_json::to_value(ping).unwrap(), request);
    for (kind, is_good) in [("ping-answer", true), ("ping-answer bad", false)] {
        for example in examples(kind) {
            assert_eq!(schema.is_valid(&value(example)), is_good, "{example}");
            let outcome = ping.outcome(CallResult::Returned { payload: example.as_bytes() }, Timestamp(0));
            assert_eq!(matches!(outcome, PingOutcome::Good(_)), is_good, "{example}: {outcome:?}");
        }
    }
}

#[test]
fn a_request_is_the_example_of_the_page() {
    let example = value(examples("items-request")[0]);
    let text = |pointer: &str| example.pointer(pointer).and_then(Value::as_str).unwrap();
    let tenant = TenantId::parse(text("/job/tenant")).unwrap();
    let job = RequestJob {
        id: key(1).job_id,
        job_type: text("/job/type"),
        tenant: &tenant,
        generation: 1,
        options: &example["job"]["options"],
    };
    let deadline = Timestamp::parse_rfc3339(text("/batch/deadline")).unwrap();
    let batch = RequestBatch { id: text("/batch/id"), deadline };
    let mut builder =
        BatchBuilder::new(&RequestHead { mode: Mode::Run, job, batch }, BatchLimits::new(1_000, 4 << 20)).unwrap();
    for item in example["items"].as_array().unwrap() {
        let value: Box<RawValue> = serde_json::value::to_raw_value(&item["value"]).unwrap();
        let attempt = item["try"].as_u64().unwrap() as u32;
        builder.push(&RequestItem { key: key(item["number"].as_u64().unwrap()), attempt, value: &value }).unwrap();
    }
    let batch = builder.finish().unwrap();
    let request: Value = serde_json::from_slice(&batch.body).unwrap();
    assert_eq!((&request, &batch.keys), (&example, &keys()));
    assert_eq!(errors(&validator(ITEMS_REQUEST), &request), [""; 0]);
}

#[test]
fn the_schema_of_requests_refuses_what_no_request_is() {
    let schema = validator(ITEMS_REQUEST);
    let example = value(examples("items-request")[0]);
    for (pointer, wrong) in [
        ("/schema", "longshore.items/2".into()),
        ("/mode", "check".into()),
        ("/job/id", "1".into()),
        ("/job/generation", 0.into()),
        ("/batch/deadline", "tomorrow".into()),
        ("/items", Value::Array(vec![])),
        ("/items/0/key", "17".into()),
        ("/items/0/number", 0.into()),
        ("/items/0/try", 0.into()),
    ] {
        let mut request = example.clone();
        *request.pointer_mut(pointer).unwrap() = wrong;
        assert!(!schema.is_valid(&request), "{pointer}");
    }
}
