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
use longshore_domain::job::Job;
use longshore_domain::registration::{Activation, Registration, Target, TypeName, Version, VersionedRegistration};
use longshore_domain::remote::{ConnectionError, Mode};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::answers::{self, Content};
use crate::clock::{CLOCK, clock, step};
use crate::faults::{self, count_fault};
use crate::handler::{self, CONCURRENCY_LIMIT, Output};
use crate::pauses;
use crate::report::Ended;
use crate::rng::Rng;
use crate::unguarded::reply_as_taken;

/// Name of the job type.
pub(crate) const NAME: &str = "lying";

/// Time-out of a call in seconds.
const TIMEOUT_S: u32 = 3;

/// Number of tries of an item.
const TRIES: u32 = 3;

/// Waits that the handler asks for, in seconds.
const WAITS_S: [Option<u32>; 4] = [None, Some(1), Some(20), Some(300)];

/// Lies per thousand calls, while there are faults at all.
const LIES: u32 = 300;

/// Bad pings per thousand.
const BAD_PINGS: u32 = 150;

/// Changes of the registration per thousand retries.
const CHANGED: u32 = 500;

thread_local! {
    static RNG: RefCell<Rng> = RefCell::new(Rng::from_seed(0));
    /// Number of calls in progress.
    static RUNNING: Cell<u32> = const { Cell::new(0) };
}

/// Begins a run.
pub(crate) fn begin(rng: Rng) {
    answers::begin();
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
    registration.tries = TRIES;
    registration.output_schema = Some(json!({}));
    let activation = Activation { modes: vec![Mode::Run], at: Timestamp(0) };
    VersionedRegistration { version: Version::stored("1-a"), registration, activation }
}

/// The registration that a retry of a job takes: for a job of this type sometimes a newer one, without an output.
pub(crate) fn newest(job: &Job) -> Option<Box<VersionedRegistration>> {
    let is_changed = job.is_registered && RNG.with_borrow_mut(|rng| rng.often(CHANGED));
    is_changed.then(|| {
        count_fault("registration without an output");
        let mut newest = registration();
        newest.version = Version::stored("2-b");
        newest.registration.output_schema = None;
        Box::new(newest)
    })
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
                pauses::record_free();
                return Ok(ping(&request));
            }
            answers::check_request(&request);
            let _running = RunningCall::enter();
            let tenant: TenantId = serde_json::from_value(request["job"]["tenant"].clone()).expect("a tenant");
            let (reply, content) = pauses::batch(NAME, &tenant, work(&request)).await;
            let is_late = clock() > call.deadline;
            let (reply, content) = if is_late { (RemoteReply::TimedOut, Content::Fault) } else { (reply, content) };
            answers::record_answer(&request, &content);
            Ok(reply_as_taken(&request, reply))
        })
    }

    fn sleep(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(async move {
            // Time passes while other functions run. If there is none, it passes for the sleeper.
            for _ in 0..50 {
                if clock() >= until {
                    return pauses::record_free();
                }
                step().await;
            }
            let missing = until.millis_since(clock());
            CLOCK.set(CLOCK.get() + missing);
            pauses::record_free();
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
    answers::record_good_ping();
    returned(&json!({ "schemas": ["longshore.items/1"], "challenge": request["challenge"], "modes": ["run"] }))
}

/// Does the work of a batch, and answers: honestly, or not. Returns the reply, and its content.
async fn work(request: &Value) -> (RemoteReply, Content) {
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
            let fatal = json!({ "fatal": { "code": "fatal", "message": "requested" } });
            return (returned(&fatal), Content::NoOutcome);
        }
        results.push(result(request, item));
    }
    let Some(lie) = lie else { return answered(results) };
    count_fault("lying answer");
    match lie {
        0 => {
            let reply = RemoteReply::Http { status: 429, retry_after: Some("2".into()), body: Vec::new() };
            (reply, Content::NoOutcome)
        }
        1 => (returned(&json!({ "retryBatch": { "after": 1 } })), Content::NoOutcome),
        2..9 => (fault(lie, results), Content::Fault),
        // Some of the answers, in another order.
        _ => {
            let keep = below(results.len() + 1);
            results.reverse();
            results.truncate(keep);
            answered(results)
        }
    }
}

/// A reply that is no answer of the contract.
fn fault(lie: usize, mut results: Vec<Value>) -> RemoteReply {
    match lie {
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
        _ => RemoteReply::Returned { payload: b"{\"results\":[{\"key\":".to_vec() },
    }
}

/// An answer with these results. Without any, it is a fault.
fn answered(results: Vec<Value>) -> (RemoteReply, Content) {
    let reply = returned(&json!({ "results": results }));
    (reply, if results.is_empty() { Content::Fault } else { Content::Results(results) })
}

/// Does the work of an item, and returns its result.
fn result(request: &Value, item: &Value) -> Value {
    let job: JobId = serde_json::from_value(request["job"]["id"].clone()).expect("the id of a job");
    let (number, key) = (item["number"].as_u64().expect("a number"), &item["key"]);
    let is_first = item["try"] == 1;
    match item["value"]["action"].as_str().expect("an action") {
        "skip" => json!({ "key": key, "outcome": "skip", "code": "requested" }),
        "retry" if is_first => {
            json!({ "key": key, "outcome": "retry", "reason": "busy", "after": WAITS_S[below(WAITS_S.len())] })
        }
        "never" => json!({ "key": key, "outcome": "retry", "reason": "busy", "after": 0 }),
        "reject" => json!({ "key": key, "outcome": "reject", "code": "asked_to", "field": "action" }),
        _ => {
            handler::record_done(job, number);
            json!({ "key": key, "outcome": "ok", "output": Output::of(number) })
        }
    }
}

/// Checks that each item of an ended job has ended as an answer has it.
pub(crate) fn check_ended(ended: &Ended<'_>) {
    let Ended { job, succeeded, skipped, failed, .. } = ended;
    let has_answered = |n: usize, outcome| answers::has_answered(job.job_id, n as u64, outcome);
    for n in *succeeded {
        assert!(has_answered(*n, "ok"), "row {n} counts as succeeded, but no answer has this outcome");
    }
    for n in *skipped {
        assert!(has_answered(*n, "skip"), "row {n} counts as skipped, but no answer has this outcome");
    }
    for (n, code) in *failed {
        let is_explained = match code.as_str() {
            "asked_to" => has_answered(*n, "reject"),
            "handler_failed" | "retries_exhausted" => answers::may_have_spent(job.job_id, *n as u64, TRIES.into()),
            _ => true,
        };
        assert!(is_explained, "row {n} failed with {code}, but nothing that the handler did explains it");
    }
}

fn returned(answer: &Value) -> RemoteReply {
    RemoteReply::Returned { payload: answer.to_string().into_bytes() }
}
