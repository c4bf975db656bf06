//! A handler that records the start, the end and the items of each call.

use std::pin::Pin;
use std::sync::{Arc, Mutex};

use longshore::remote::{CallHandlers, Calling, RemoteCall, RemoteReply};
use longshore_domain::timestamp::Timestamp;
use serde_json::Value;

use super::timed::until;
use crate::clock::{SKEW, clock, true_time};
use crate::rng::Rng;

/// The time that a call takes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum CallTime {
    /// A random number of milliseconds in this range.
    Between(i64, i64),
    /// The time-out, just not exceeded.
    WholeTimeout,
}

/// A call of a handler, which ends even if its caller was killed.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct RecordedCall {
    pub(super) job_type: String,
    pub(super) at: Timestamp,
    pub(super) ends_at: Timestamp,
    pub(super) items: u32,
}

/// The handler of all types.
pub(super) struct Endpoint {
    /// Names of the job types, and the times of their calls.
    times: Vec<(&'static str, CallTime)>,
    /// Maximum number of concurrent chunks of one type.
    share: u32,
    rng: Mutex<Rng>,
    calls: Mutex<Vec<RecordedCall>>,
}

impl Endpoint {
    pub(super) fn new(times: Vec<(&'static str, CallTime)>, share: u32, rng: Rng) -> Arc<Self> {
        Arc::new(Self { times, share, rng: Mutex::new(rng), calls: Mutex::default() })
    }

    /// Returns the calls of a type so far.
    pub(super) fn calls_of(&self, job_type: &str) -> Vec<RecordedCall> {
        self.calls.lock().unwrap().iter().filter(|call| call.job_type == job_type).cloned().collect()
    }

    /// Returns the number of items of a type whose calls have begun.
    pub(super) fn items_of(&self, job_type: &str) -> u32 {
        self.calls.lock().unwrap().iter().filter(|call| call.job_type == job_type).map(|call| call.items).sum()
    }

    fn end_of(&self, call: &RemoteCall<'_>) -> Timestamp {
        let time = self.times.iter().find(|(name, _)| *name == call.job_type).expect("a known type").1;
        match time {
            CallTime::Between(from, to) => Timestamp(clock().0 + self.rng.lock().unwrap().between(from, to)),
            CallTime::WholeTimeout => Timestamp(call.deadline.0 - 1),
        }
    }
}

impl CallHandlers for Endpoint {
    fn stack(&self) -> &str {
        "simulated"
    }

    fn call<'a>(&'a self, call: RemoteCall<'a>) -> Calling<'a> {
        Box::pin(async move {
            let request: Value = serde_json::from_slice(&call.body).expect("a request is JSON");
            let items = request["items"].as_array().expect("a batch, because no call fails").len();
            let ends_at = self.end_of(&call);
            self.calls.lock().unwrap().push(RecordedCall {
                job_type: call.job_type.to_owned(),
                at: true_time(),
                ends_at: Timestamp(ends_at.0 - SKEW.get()),
                items: u32::try_from(items).expect("a batch is small"),
            });
            until(ends_at).await;
            Ok(RemoteReply::Returned { payload: br#"{"all":"ok"}"#.to_vec() })
        })
    }

    fn max_concurrency(&self) -> u32 {
        self.share
    }

    fn sleep(&self, time: Timestamp) -> Pin<Box<dyn Future<Output = ()> + Send + '_>> {
        Box::pin(until(time))
    }
}
