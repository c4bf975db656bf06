//! A handler that does everything right, as a function of a request.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hmac::{Hmac, KeyInit, Mac};
use serde_json::{Value, json};
use sha2::Sha256;

use super::endpoint::{Request, Response};

/// Signing secret of the handler.
pub(crate) const SECRET: &str = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";

/// Returns true if the secret has signed the request, with any timestamp.
pub(crate) fn is_signed(request: &Request) -> bool {
    let header = |name| request.header(name).unwrap_or_default();
    let key = data_encoding::BASE64.decode(SECRET.trim_start_matches("whsec_").as_bytes()).unwrap();
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(format!("{}.{}.", header("webhook-id"), header("webhook-timestamp")).as_bytes());
    mac.update(&request.body);
    header("webhook-signature") == format!("v1,{}", data_encoding::BASE64.encode(&mac.finalize().into_bytes()))
}

/// Returns true if the request was signed within the last five minutes.
pub(crate) fn is_recent(request: &Request) -> bool {
    let signed: u64 = request.header("webhook-timestamp").unwrap_or_default().parse().unwrap_or_default();
    now().as_secs().abs_diff(signed) <= 300
}

pub(crate) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap()
}

/// Responds as a handler should.
pub(crate) fn perfect(request: &Request) -> Response {
    if !is_signed(request) || !is_recent(request) {
        return Response::json(401, r#"{"error":"no valid signature"}"#);
    }
    answer(&serde_json::from_slice(&request.body).unwrap())
}

/// Answers a message that was verified.
pub(crate) fn answer(message: &Value) -> Response {
    match message["schema"].as_str().unwrap() {
        "longshore.ping/1" => Response::json(200, pong(message).to_string()),
        "longshore.items/1" => Response::json(200, json!({"results": results(message)}).to_string()),
        _ => Response::json(400, r#"{"error":"unknown schema"}"#),
    }
}

pub(crate) fn pong(message: &Value) -> Value {
    json!({"schemas": ["longshore.items/1"], "challenge": message["challenge"], "modes": ["run", "validate"]})
}

/// Returns the results of a batch: an object succeeds, unless it has the member `bad`.
pub(crate) fn results(message: &Value) -> Vec<Value> {
    message["items"].as_array().unwrap().iter().map(result).collect()
}

pub(crate) fn result(item: &Value) -> Value {
    let (key, value) = (&item["key"], &item["value"]);
    if value.is_object() && value.get("bad").is_none() {
        json!({"key": key, "outcome": "ok", "output": {"number": item["number"]}})
    } else {
        json!({"key": key, "outcome": "reject", "code": "not_a_contact", "message": "This is no contact."})
    }
}
