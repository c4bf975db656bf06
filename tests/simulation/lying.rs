//! A remote handler that obeys the rows, and lies, fails and dawdles as the seed decides.
//!
//! A lie is about the answer, never about the effect: an item that has been done is recorded before the answer is lost,
//! wrong or incomplete. So every item that counts as succeeded must have been done, and said.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;

use longshore::remote::{CallHandlers, Calling, RemoteCall, RemoteReply};
use longshore_domain::ids::JobId;
use longshore_domain::registration::{Activation, Registration, Target, TypeName, Version, VersionedRegistration};
use longshore_domain::remote::{ConnectionError, Mode};
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::clock::{CLOCK, clock, step};
use crate::faults::{self, count_fault};
use crate::handler::{self, CONCURRENCY_LIMIT, Output};
use crate::rng::Rng;

/// Name of the job type.
pub(crate) const NAME: &str = "lying";

/// Time-out of a call in seconds.
const TIMEOUT_S: u32 = 3;

/// Lies per thousand calls, while there are faults at all.
const LIES: u32 = 300;

/// Bad pings per thousand.
const BAD_PINGS: u32 = 150;

thread_local! {
    static RNG: RefCell<Rng> = RefCell::new(Rng::from_seed(0));
    /// Number of calls in progress.
    static RUNNING: Cell<u32> = const { Cell::new(0) };
}

/// Begins a run.
pub(crate) fn begin(rng: Rng) {
    RNG.set(rng);
    RUNNING.set(0);
}

/// The registration of the type: small batches, two calls at a time.
pub(crate) fn registration() -> VersionedRegistration {
    let name = TypeName::parse(NAME).expect("a valid name");
    let mut registration = Registration::new(name, Target::Url("https://handler.example.org/".into()));
    registration.batch.items = 4;
    registration.batch.timeout_seconds = TIMEOUT_S;
    registration.concurrency = CONCURRENCY_LIMIT;
    registration.tries = 3;
    registration.output_schema = Some(json!({}));
    let activation = Activation { modes: vec![Mode::Run], at: Timestamp(0) };
    VersionedRegistration { version: Version::stored("1-a"), registration, activation }
}

/// The handler.
pub(crate) struct Lying;

impl CallHandlers for Lying {
    fn stack(&self) -> &str {
        "simulated"
    }

    fn call<'a>(&'a self, call: RemoteCall<'a>) -> Calling<'a> {
        Box::pin(async move {
            let request: Value = serde_json::from_slice(&call.body).expect("a request is JSON");
            step().await;
            if request["schema"] == "longshore.ping/1" {
                return Ok(ping(&request));
            }
            let _running = RunningCall::enter();
            let answer = work(&request).await;
            Ok(if clock() > call.deadline { RemoteReply::TimedOut } else { answer })
        })
    }

    fn sleep(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            // Time passes while other functions run. If there is none, it passes for the sleeper.
            for _ in 0..50 {
                if clock() >= until {
                    return;
                }
                step().await;
            }
            let missing = until.millis_since(clock());
            CLOCK.set(CLOCK.get() + missing);
        })
    }

    fn reserve(&self) -> Duration {
        Duration::from_secs(2)
    }
}

/// Guard of a call. It is dropped at the end of the call, or with its worker.
struct RunningCall;

impl RunningCall {
    fn enter() -> Self {
        RUNNING.set(RUNNING.get() + 1);
        assert!(RUNNING.get() <= CONCURRENCY_LIMIT, "the concurrency limit of the handler is exceeded");
        Self
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        RUNNING.set(RUNNING.get().saturating_sub(1));
    }
}

fn often(per_mille: u32) -> bool {
    !faults::is_calm() && RNG.with_borrow_mut(|rng| rng.often(per_mille))
}

fn below(end: usize) -> usize {
    RNG.with_borrow_mut(|rng| rng.below(end))
}

fn ping(request: &Value) -> RemoteReply {
    if often(BAD_PINGS) {
        count_fault("bad ping");
        return RemoteReply::Connection(ConnectionError::Connect);
    }
    returned(&json!({ "schemas": ["longshore.items/1"], "challenge": request["challenge"], "modes": ["run"] }))
}

/// Does the work of a batch, and answers: honestly, or not.
async fn work(request: &Value) -> RemoteReply {
    let items = request["items"].as_array().expect("items");
    assert!((1..=4).contains(&items.len()), "a batch is within its limits");
    let lie = often(LIES).then(|| below(10));
    let done = match lie {
        // Nothing is done.
        Some(0 | 1) => 0,
        Some(_) if below(2) == 0 => below(items.len() + 1),
        _ => items.len(),
    };
    let mut results = Vec::new();
    for item in &items[..done] {
        step().await;
        if item["value"]["action"] == "fatal" {
            return returned(&json!({ "fatal": { "code": "fatal", "message": "requested" } }));
        }
        results.push(result(request, item));
    }
    let Some(lie) = lie else { return returned(&json!({ "results": results })) };
    count_fault("lying answer");
    match lie {
        0 => RemoteReply::Http { status: 429, retry_after: Some("2".into()), body: Vec::new() },
        1 => returned(&json!({ "retryBatch": { "after": 1 } })),
        2 => RemoteReply::TimedOut,
        3 => RemoteReply::Http { status: 500, retry_after: None, body: b"<html>".to_vec() },
        4 => RemoteReply::FunctionError { payload: b"{\"errorType\":\"Runtime.ExitError\"}".to_vec() },
        5 => returned(&Value::Null),
        6 => {
            results.push(json!({ "key": format!("{}-999999", JobId::generate()), "outcome": "ok" }));
            returned(&json!({ "results": results }))
        }
        7 => {
            results.extend(results.first().cloned());
            returned(&json!({ "results": results, "more": 1 }))
        }
        8 => RemoteReply::Returned { payload: b"{\"results\":[{\"key\":".to_vec() },
        // Some of the answers, in another order.
        _ => {
            let keep = below(results.len() + 1);
            results.reverse();
            results.truncate(keep);
            returned(&json!({ "results": results }))
        }
    }
}

/// Does the work of an item, and returns its result.
fn result(request: &Value, item: &Value) -> Value {
    let job: JobId = serde_json::from_value(request["job"]["id"].clone()).expect("the id of a job");
    let (number, key) = (item["number"].as_u64().expect("a number"), &item["key"]);
    let is_first = item["try"] == 1;
    match item["value"]["action"].as_str().expect("an action") {
        "skip" => json!({ "key": key, "outcome": "skip", "code": "requested" }),
        "retry" if is_first => json!({ "key": key, "outcome": "retry", "reason": "busy" }),
        "never" => json!({ "key": key, "outcome": "retry", "reason": "busy", "after": 0 }),
        "reject" => json!({ "key": key, "outcome": "reject", "code": "asked_to", "field": "action" }),
        _ => {
            handler::record_done(job, number);
            json!({ "key": key, "outcome": "ok", "output": Output::of(number) })
        }
    }
}

fn returned(answer: &Value) -> RemoteReply {
    RemoteReply::Returned { payload: answer.to_string().into_bytes() }
}
