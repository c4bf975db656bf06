//! A handler that follows a script.

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use longshore::remote::{CallHandlers, Calling, NotCalled, RemoteCall, RemoteReply};
use longshore_domain::timestamp::Timestamp;
use serde_json::{Value, json};

use crate::world::{clock, pass_ms, pass_until};

/// Time of a call in milliseconds.
const CALL_MS: i64 = 200;

/// A request as the handler received it.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    pub(crate) at: Timestamp,
    /// Numbers of the items; empty for a ping.
    pub(crate) numbers: Vec<u64>,
    pub(crate) body: Value,
}

impl Received {
    pub(crate) fn is_ping(&self) -> bool {
        self.body["schema"] == "longshore.ping/1"
    }
}

type Behavior = dyn Fn(&Received) -> RemoteReply + Send + Sync;

/// A step during a call.
type Step = Box<dyn FnOnce() -> Pin<Box<dyn Future<Output = ()> + Send>> + Send>;

/// A handler in memory.
pub(crate) struct Scripted {
    behavior: Box<Behavior>,
    pub(crate) received: Mutex<Vec<Received>>,
    /// Number of pings that fail, from now on.
    pub(crate) bad_pings: Mutex<u32>,
    /// Maximum number of concurrent chunks of one type.
    pub(crate) share: AtomicU32,
    /// A step during the next call, or ping.
    during_call: Mutex<Option<Step>>,
    /// Calls from now on: true for one that cannot be made.
    not_called: Mutex<VecDeque<bool>>,
}

impl Scripted {
    /// Answers `answer` to batches.
    pub(crate) fn new(behavior: impl Fn(&Received) -> RemoteReply + Send + Sync + 'static) -> Arc<Self> {
        let behavior = Box::new(behavior);
        let (received, bad_pings, during_call, not_called) = Default::default();
        Arc::new(Self { behavior, received, bad_pings, share: u32::MAX.into(), during_call, not_called })
    }

    /// The batches so far, as numbers of items.
    pub(crate) fn batches(&self) -> Vec<Vec<u64>> {
        let received = self.received.lock().unwrap();
        received.iter().filter(|received| !received.is_ping()).map(|received| received.numbers.clone()).collect()
    }

    pub(crate) fn pings(&self) -> usize {
        self.received.lock().unwrap().iter().filter(|received| received.is_ping()).count()
    }

    /// Takes a step during the next call, or ping.
    pub(crate) fn during_the_next_call<F: Future<Output = ()> + Send + 'static>(
        &self,
        step: impl FnOnce() -> F + Send + 'static,
    ) {
        *self.during_call.lock().unwrap() = Some(Box::new(|| Box::pin(step())));
    }

    /// Makes the next call impossible.
    pub(crate) fn fail_the_next_call(&self) {
        self.not_called.lock().unwrap().push_back(true);
    }

    /// Makes the call after the next one impossible.
    pub(crate) fn fail_after_the_next_call(&self) {
        self.not_called.lock().unwrap().extend([false, true]);
    }

    fn ping(&self, received: &Received) -> RemoteReply {
        let mut bad = self.bad_pings.lock().unwrap();
        if *bad > 0 {
            *bad -= 1;
            return RemoteReply::Http { status: 500, retry_after: None, body: Vec::new() };
        }
        let challenge = &received.body["challenge"];
        returned(&json!({ "schemas": ["longshore.items/1"], "challenge": challenge, "modes": ["run"] }))
    }
}

impl CallHandlers for Scripted {
    fn stack(&self) -> &str {
        "longshore-test"
    }

    fn call<'a>(&'a self, call: RemoteCall<'a>) -> Calling<'a> {
        if self.not_called.lock().unwrap().pop_front() == Some(true) {
            return Box::pin(ready(Err(NotCalled::new("the request cannot be signed", "no secret"))));
        }
        let body: Value = serde_json::from_slice(&call.body).unwrap();
        let items = body["items"].as_array().cloned().unwrap_or_default();
        let numbers = items.iter().map(|item| item["number"].as_u64().unwrap()).collect();
        let received = Received { at: clock(), numbers, body };
        assert!(call.deadline > clock() && !call.id.contains('.'));
        self.received.lock().unwrap().push(received.clone());
        pass_ms(CALL_MS);
        let step = self.during_call.lock().unwrap().take();
        let reply = if received.is_ping() { self.ping(&received) } else { (self.behavior)(&received) };
        Box::pin(async move {
            if let Some(step) = step {
                step().await;
            }
            Ok(reply)
        })
    }

    fn max_concurrency(&self) -> u32 {
        self.share.load(Ordering::Relaxed)
    }

    fn sleep(&self, until: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        pass_until(until);
        Box::pin(ready(()))
    }
}

pub(crate) fn returned(answer: &Value) -> RemoteReply {
    RemoteReply::Returned { payload: answer.to_string().into_bytes() }
}

pub(crate) fn status(status: u16) -> RemoteReply {
    RemoteReply::Http { status, retry_after: None, body: b"Traceback: ann@example.com".to_vec() }
}

/// An answer that is `ok` for these items.
pub(crate) fn ok(received: &Received, numbers: impl IntoIterator<Item = u64>) -> RemoteReply {
    let job = received.body["job"]["id"].as_str().unwrap();
    let result = |n: u64| json!({ "key": format!("{job}-{n}"), "outcome": "ok", "output": { "n": n } });
    returned(&json!({ "results": numbers.into_iter().map(result).collect::<Vec<_>>() }))
}

/// An answer that is `ok` for all items.
pub(crate) fn all(received: &Received) -> RemoteReply {
    ok(received, received.numbers.clone())
}
