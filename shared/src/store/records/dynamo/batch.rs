//! Writes records as statements, up to 25 in one call. Repeats the unresolved ones until all are resolved or the time
//! is over.
//!
//! The number in flight follows the table's responses ([`WriteRate`]). A record for which the table had no capacity
//! was not written, and is sent again after a wait. If that fails, its row is offered again later, and none of its
//! attempts is used.

use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;

use aws_sdk_dynamodb::types::BatchStatementResponse;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use longshore_domain::random::fraction;

use super::statement::{Next, Pending};
use super::write_rate::{STATEMENTS, WriteRate};
use crate::back_off::full_jitter;
use longshore_domain::writer::{Rule, Written};

/// Codes of calls that were refused as a whole for lack of capacity
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html>).
const THROTTLED: [&str; 3] = ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"];

/// Approximate maximum bytes of records in one call: bounds a call's time even for large records.
const BYTES: usize = 1 << 20;
/// Maximum number of attempts for one record: INSERT, UPDATE, and some for throttling and for keys that are written
/// and removed meanwhile.
const ATTEMPTS: u32 = 12;
/// Time after which no further record is started: a stop of the job must be noticed within seconds.
const BEGIN_WITHIN: Duration = Duration::from_secs(1);
/// Time of the whole write after which no third attempt of a record is started. The second one is still made: it is
/// the other half of the first, and without it the holders of existing keys are unknown.
const RETRY_TIME: Duration = Duration::from_secs(3);

/// The table's calls, and the clock.
pub(super) trait Calls: Sync {
    /// Sends statements, each with its own condition and its own response.
    fn execute(
        &self,
        rule: Rule,
        open: &[Pending],
    ) -> impl Future<Output = Result<Vec<BatchStatementResponse>, CallError>> + Send;

    /// Returns the time since a fixed moment.
    fn now(&self) -> Duration;

    /// Waits.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// The reason why a call failed as a whole.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum CallError {
    /// There was no capacity, and nothing was written.
    Throttled(String),
    /// The state of the table is unknown.
    Failed(String),
}

impl CallError {
    /// Distinguishes a call without capacity from other failures.
    pub(super) fn from_code(code: Option<&str>, detail: String) -> Self {
        let code = code.unwrap_or("no response");
        if THROTTLED.contains(&code) {
            return Self::Throttled(code.to_owned());
        }
        Self::Failed(format!("the table could not be written: {code}; {detail}"))
    }
}

impl From<CallError> for Written {
    fn from(error: CallError) -> Self {
        match error {
            CallError::Throttled(reason) => Self::Throttled(reason),
            CallError::Failed(reason) => Self::Unknown(reason),
        }
    }
}

/// Result of one record.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) index: usize,
    pub(super) was_present: bool,
    pub(super) written: Written,
}

/// A write of records under one rule.
pub(super) struct Batch<'a, C> {
    calls: &'a C,
    write_rate: &'a WriteRate,
    rule: Rule,
    started: Duration,
    waiting: VecDeque<Waiting>,
    done: Vec<Done>,
}

/// An unresolved record.
struct Waiting {
    pending: Pending,
    tried: Tried,
}

/// Attempts made for a record so far.
#[derive(Default)]
struct Tried {
    attempts: u32,
    /// True if nothing of it was written, for lack of capacity, and no later response has left that open.
    throttled: bool,
    /// Reason for the failure of the last attempt; empty if the other statement is due.
    reason: String,
}

/// A call's records and the table's response.
struct Answer {
    sent: Vec<Waiting>,
    result: Result<Vec<BatchStatementResponse>, CallError>,
}

impl<'a, C: Calls> Batch<'a, C> {
    /// Creates a write in which no record has been sent.
    pub(super) fn new(calls: &'a C, write_rate: &'a WriteRate, rule: Rule, records: Vec<Pending>) -> Self {
        let waiting = records.into_iter().map(|pending| Waiting { pending, tried: Tried::default() }).collect();
        Self { calls, write_rate, rule, started: calls.now(), waiting, done: Vec::new() }
    }

    /// Sends statements until every record's result is known; records without a known result are reported as unknown.
    pub(super) async fn run(mut self) -> Vec<Done> {
        let mut calls = FuturesUnordered::new();
        let (mut in_flight, mut throttled_in_a_row) = (0, 0);
        loop {
            let room = self.write_rate.statements().saturating_sub(in_flight);
            // Many small calls cost more than a few full ones.
            let next =
                if in_flight == 0 || room >= STATEMENTS { self.take(room.clamp(1, STATEMENTS)) } else { Vec::new() };
            if !next.is_empty() {
                in_flight += next.len();
                calls.push(call(self.calls, self.rule, next, throttled_in_a_row));
                continue;
            }
            let Some(answer) = calls.next().await else { break };
            let sent = answer.sent.len();
            in_flight -= sent;
            if self.resolve(answer) {
                throttled_in_a_row += 1;
                self.write_rate.throttled(calls.len());
            } else {
                throttled_in_a_row = 0;
                self.write_rate.accepted();
            }
        }
        self.done
    }

    /// Returns the next records to send; those whose time is over get the result known so far.
    fn take(&mut self, max: usize) -> Vec<Waiting> {
        let late = self.calls.now().saturating_sub(self.started);
        let (mut next, mut bytes) = (Vec::new(), 0);
        while next.len() < max
            && let Some(waiting) = self.waiting.pop_front()
        {
            if let Some(written) = waiting.tried.given_up(late) {
                self.done.push(Done::new(&waiting.pending, written));
            } else if bytes > 0 && bytes + waiting.pending.bytes > BYTES {
                self.waiting.push_front(waiting);
                break;
            } else {
                bytes += waiting.pending.bytes;
                next.push(waiting);
            }
        }
        next
    }

    /// Removes the resolved records; returns true if the table had no capacity for some of the others.
    fn resolve(&mut self, Answer { sent, result }: Answer) -> bool {
        let mut any_throttled = false;
        // Iterate from the last one, so that the requeued records are first and in their order.
        for (position, mut waiting) in sent.into_iter().enumerate().rev() {
            waiting.tried.attempts += 1;
            let next = match &result {
                Ok(responses) => match responses.get(position) {
                    Some(response) => waiting.pending.next(self.rule, response.error()),
                    None => Next::Wait(String::from("the table returned no response for a statement")),
                },
                Err(CallError::Throttled(reason)) => Next::Throttled(reason.clone()),
                Err(error @ CallError::Failed(_)) => Next::Done(error.clone().into()),
            };
            any_throttled |= matches!(next, Next::Throttled(_));
            match next {
                Next::Done(written) => {
                    self.done.push(Done::new(&waiting.pending, written));
                    continue;
                }
                Next::Go(step) => {
                    waiting.pending.step = step;
                    waiting.tried.reason.clear();
                }
                Next::Wait(reason) => waiting.tried = Tried { reason, throttled: false, ..waiting.tried },
                Next::Throttled(reason) => waiting.tried = Tried { reason, throttled: true, ..waiting.tried },
            }
            self.waiting.push_front(waiting);
        }
        any_throttled
    }
}

impl Tried {
    /// Returns the result of a record that is not sent any more; `None` if it will be sent again.
    fn given_up(&self, late: Duration) -> Option<Written> {
        match self.attempts {
            0 => (late > BEGIN_WITHIN).then_some(Written::Untried),
            attempts if attempts < ATTEMPTS && (late <= RETRY_TIME || (attempts == 1 && self.reason.is_empty())) => {
                None
            }
            _ if self.throttled && self.reason.is_empty() => {
                Some(Written::Throttled(String::from("no capacity in time")))
            }
            _ if self.throttled => Some(Written::Throttled(self.reason.clone())),
            _ if self.reason.is_empty() => {
                Some(Written::Unknown(String::from("there was no time to write the record")))
            }
            _ => Some(Written::Unknown(self.reason.clone())),
        }
    }
}

impl Done {
    fn new(pending: &Pending, written: Written) -> Self {
        Self { index: pending.index, was_present: pending.was_present, written }
    }
}

/// Makes one call, followed by a wait if the table asks for one: until then its statements count as in flight.
async fn call(calls: &impl Calls, rule: Rule, sent: Vec<Waiting>, waits: u32) -> Answer {
    let (open, tried): (Vec<_>, Vec<_>) = sent.into_iter().map(|waiting| (waiting.pending, waiting.tried)).unzip();
    let result = calls.execute(rule, &open).await;
    let wait = match &result {
        Ok(responses) => responses.iter().filter_map(BatchStatementResponse::error).any(Pending::asks_to_wait),
        Err(error) => matches!(error, CallError::Throttled(_)),
    };
    if wait {
        calls.sleep(full_jitter(waits, fraction())).await;
    }
    let sent = open.into_iter().zip(tried).map(|(pending, tried)| Waiting { pending, tried });
    Answer { sent: sent.collect(), result }
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
