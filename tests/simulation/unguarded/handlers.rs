//! Answers of a remote handler, and its shared state, as a worker takes them that lacks one of its guards.

use longshore::remote::RemoteReply;
use longshore_domain::remote::HandlerState;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use super::without;
use crate::handler::Output;

/// Returns the answer to a batch as a worker without the removed guard takes it.
pub(crate) fn reply_as_taken(request: &Value, reply: RemoteReply) -> RemoteReply {
    if without("no-try-for-backpressure") && is_backpressure(&reply) {
        let retry = |key: &Value| json!({ "key": key, "outcome": "retry", "reason": "backpressure" });
        return answer(keys(request).map(retry).collect());
    }
    let Some(mut results) = results(&reply) else { return reply };
    if without("bad-answers-count-nothing") {
        let mut known: Vec<_> = keys(request).collect();
        results.retain(|result| {
            let at = known.iter().position(|key| **key == result["key"]);
            at.map(|at| known.swap_remove(at)).is_some()
        });
        return answer(results);
    }
    if without("silence-is-no-success") {
        let items = request["items"].as_array().into_iter().flatten();
        let unanswered = items.filter(|item| !results.iter().any(|result| result["key"] == item["key"]));
        let ok = |item: &Value| {
            let number = item["number"].as_u64().expect("a number");
            json!({ "key": item["key"], "outcome": "ok", "output": Output::of(number) })
        };
        let unanswered: Vec<_> = unanswered.map(ok).collect();
        results.extend(unanswered);
        return answer(results);
    }
    reply
}

/// Returns the shared state as a worker without the removed guard reads it: the last ping began after any fault.
pub(super) fn state_as_read(state: HandlerState) -> HandlerState {
    let mut breaker = serde_json::to_value(&state.breaker).expect("a breaker is JSON");
    if without("pings-after-the-fault") && breaker["ping"]["result"] == "good" {
        breaker["ping"]["beganAt"] = json!(Timestamp::default().plus_days(365_000));
        let breaker = serde_json::from_value(breaker).expect("a breaker");
        return HandlerState { breaker, ..state };
    }
    state
}

fn keys(request: &Value) -> impl Iterator<Item = &Value> {
    request["items"].as_array().into_iter().flatten().map(|item| &item["key"])
}

fn is_backpressure(reply: &RemoteReply) -> bool {
    match reply {
        RemoteReply::Http { status, .. } => *status == 429,
        RemoteReply::Returned { payload } => {
            serde_json::from_slice(payload).is_ok_and(|answer: Value| answer.get("retryBatch").is_some())
        }
        _ => false,
    }
}

fn results(reply: &RemoteReply) -> Option<Vec<Value>> {
    let RemoteReply::Returned { payload } = reply else { return None };
    let answer: Value = serde_json::from_slice(payload).ok()?;
    answer["results"].as_array().filter(|results| !results.is_empty()).cloned()
}

fn answer(results: Vec<Value>) -> RemoteReply {
    RemoteReply::Returned { payload: json!({ "results": results }).to_string().into_bytes() }
}
