//! The contract from the side of the handler: its answers match the published schemas.

use std::time::Duration;

use image::ImageFormat::Png;
use image_handler::HandlerError;
use longshore::job_types::image::image_registration;
use longshore_domain::registration::FunctionAlias;
use longshore_domain::remote::{CallResult, Mode, Ping, PingOutcome};
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::server::{ok, status};
use crate::world::{World, described, picture, request};

fn schema(text: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(text).unwrap()).unwrap()
}

async fn answer(world: &World, request: &Value) -> Value {
    serde_json::to_value(world.handler.answer(&request.to_string(), Timestamp(i64::MAX)).await.unwrap()).unwrap()
}

#[tokio::test]
async fn a_ping_is_answered_with_its_challenge_and_both_modes() {
    let (world, ping) = (World::new::<0>([]).await, Ping { challenge: "c-1", stack: "prod" });
    let event = serde_json::to_string(&ping).unwrap();
    let pong = serde_json::to_vec(&world.handler.answer(&event, Timestamp(0)).await.unwrap()).unwrap();
    let expected = PingOutcome::Good(vec![Mode::Run, Mode::Validate]);
    assert_eq!(ping.outcome(CallResult::Returned { payload: &pong }, Timestamp(0)), expected);
    let pong: Value = serde_json::from_slice(&pong).unwrap();
    assert!(schema(include_str!("../../../../docs/contract/ping-answer.json")).is_valid(&pong));
}

#[tokio::test]
async fn requests_answers_and_outputs_match_their_schemas() {
    let world = World::new([("/a", ok(&picture(8, 8, Png))), ("/busy", status(429, "retry-after: 9\r\n"))]).await;
    let values = ["/a", "/none", "/busy"].map(|path| json!({ "url": world.url(path) })).to_vec();
    let run = request(json!({}), values, Duration::from_secs(60));
    assert!(schema(include_str!("../../../../docs/contract/items-request.json")).is_valid(&run));
    let answer = answer(&world, &run).await;
    let items_answer = schema(include_str!("../../../../docs/contract/items-answer.json"));
    assert!(items_answer.is_valid(&answer), "{answer}");
    let arn = "arn:aws:lambda:eu-central-1:123456789012:function:image:live";
    let registration = image_registration(FunctionAlias::parse(arn).unwrap()).registration;
    let output = jsonschema::validator_for(&registration.output_schema.unwrap()).unwrap();
    assert!(output.is_valid(&answer["results"][0]["output"]), "{answer}");
    assert_eq!(answer["results"][1]["field"], "url");
}

#[tokio::test]
async fn validation_reads_the_urls_and_has_no_effect() {
    let world = World::new([("/a", ok(&picture(8, 8, Png)))]).await;
    let values = vec![json!(world.url("/a")), json!("ftp://example.com/")];
    let mut validate = request(json!({}), values, Duration::from_secs(60));
    validate["mode"] = json!("validate");
    assert_eq!(described(&world.send(validate).await), ["ok", "reject url_invalid"]);
    assert!(world.requested.lock().unwrap().is_empty() && world.files.keys().is_empty());
}

#[tokio::test]
async fn an_event_that_is_no_request_of_the_contract_is_a_clear_error() {
    let world = World::new::<0>([]).await;
    let mut other_tenant = request(json!({}), vec![json!("x")], Duration::from_secs(60));
    other_tenant["job"]["tenant"] = json!("acme/../other");
    for (event, words) in [
        ("null".to_owned(), "`schema` must be"),
        (r#"{"Records":[{"body":"{}"}]}"#.to_owned(), "`schema` must be"),
        (r#"{"schema":"longshore.items/1"}"#.to_owned(), "does not match its schema"),
        (other_tenant.to_string(), "does not match its schema"),
        (request(json!({}), vec![], Duration::from_secs(60)).to_string(), "1 to 1000 items"),
    ] {
        let error = world.handler.answer(&event, Timestamp(i64::MAX)).await.unwrap_err();
        assert!(matches!(error, HandlerError::BadRequest(_)) && error.to_string().contains(words), "{error}");
    }
}
