//! Records into statements, up to 25 in one call, and again for those that are not settled, until all are or patience
//! ends.
//!
//! How many are in flight follows the table's answers ([`WriteRate`]). What the table had no capacity for was not written and goes
//! again after a wait; in the end its row is offered again later, and no try of it is spent.

use std::collections::VecDeque;
use std::future::Future;
use std::time::Duration;

use aws_sdk_dynamodb::types::BatchStatementResponse;
use futures::StreamExt;
use futures::stream::FuturesUnordered;
use longshore_domain::ids::fraction;
use longshore_domain::time_stamp::Timestamp;

use super::statement::{Next, Pending, Step};
use super::write_rate::{STATEMENTS, WriteRate};
use crate::back_off::full_jitter;
use crate::store::records::{Dataset, NewRecord, Rule, Written, size};

/// Codes of calls that were refused as a whole for want of capacity
/// (<https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/Programming.Errors.html>).
const THROTTLED: [&str; 3] = ["ThrottlingException", "ProvisionedThroughputExceededException", "RequestLimitExceeded"];

/// Bytes of records in one call, roughly: keeps a call's time even where records are large.
const BYTES: usize = 1 << 20;
/// Tries of one record: INSERT, UPDATE, and some for throttling and for keys that come and go meanwhile.
const TRIES: u32 = 12;
/// After this no further record is begun: a stopped job is to be seen within seconds.
const BEGIN_WITHIN: Duration = Duration::from_secs(1);
/// No third try is begun when the write as a whole has taken this long. The second is: it is the other half of the
/// first, and without it nobody knows whose the keys are that were found taken.
const PATIENCE: Duration = Duration::from_secs(3);

/// The table's calls, and time.
pub(super) trait Calls: Sync {
    /// Sends statements, each with a condition of its own and an answer of its own.
    fn execute(
        &self,
        rule: Rule,
        open: &[Pending],
    ) -> impl Future<Output = Result<Vec<BatchStatementResponse>, CallError>> + Send;

    /// Time since some moment.
    fn now(&self) -> Duration;

    /// Lets time pass.
    fn sleep(&self, time: Duration) -> impl Future<Output = ()> + Send;
}

/// Why a call failed as a whole.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) enum CallError {
    /// There was no capacity, and nothing was written.
    Throttled(String),
    /// What went into the table is not known.
    Failed(String),
}

impl CallError {
    /// Tells a call that found no capacity from one that failed otherwise.
    pub(super) fn from_code(code: Option<&str>, detail: String) -> Self {
        let code = code.unwrap_or("no answer");
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

/// What became of one record.
#[derive(Debug)]
pub(super) struct Done {
    pub(super) index: usize,
    pub(super) was_present: bool,
    pub(super) written: Written,
}

/// How records are to be written.
#[derive(Copy, Clone, Debug)]
pub(super) struct Way<'a> {
    pub(super) into: &'a Dataset,
    pub(super) rule: Rule,
    /// The statement to begin with.
    pub(super) first: Step,
}

/// A write of records under one rule.
pub(super) struct Batch<'a, C> {
    calls: &'a C,
    write_rate: &'a WriteRate,
    rule: Rule,
    began: Duration,
    waiting: VecDeque<Waiting>,
    done: Vec<Done>,
}

/// A record that is not settled.
struct Waiting {
    pending: Pending,
    tried: Tried,
}

/// What was tried of it so far.
#[derive(Default)]
struct Tried {
    bytes: usize,
    tries: u32,
    /// Nothing of it was written, for want of capacity, and no answer since has left that open.
    throttled: bool,
    /// Why the last try came to nothing; empty if the other statement is due.
    reason: String,
}

/// A call's records and answer, back from the table.
struct Answer {
    sent: Vec<Waiting>,
    result: Result<Vec<BatchStatementResponse>, CallError>,
}

impl<'a, C: Calls> Batch<'a, C> {
    /// Nothing is sent yet.
    pub(super) fn new(calls: &'a C, write_rate: &'a WriteRate, way: Way<'_>, records: Vec<NewRecord>) -> Self {
        let now = Timestamp::now();
        let waiting = records.into_iter().enumerate().map(|(index, record)| {
            let bytes = size::bytes(&record.key, &record.data);
            let pending = Pending::new(way.into, index, record, way.first, now);
            Waiting { pending, tried: Tried { bytes, ..Tried::default() } }
        });
        Self { calls, write_rate, rule: way.rule, began: calls.now(), waiting: waiting.collect(), done: Vec::new() }
    }

    /// Sends statements until every record's fate is known; where it is not in the end, says so.
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
            let throttled = self.resolve(answer);
            throttled_in_a_row = if throttled { throttled_in_a_row + 1 } else { 0 };
            self.write_rate.observe(throttled, calls.len());
        }
        self.done
    }

    /// The next records to be sent; those whose time is over are told what is known of them.
    fn take(&mut self, most: usize) -> Vec<Waiting> {
        let late = self.calls.now().saturating_sub(self.began);
        let (mut next, mut bytes) = (Vec::new(), 0);
        while next.len() < most
            && let Some(waiting) = self.waiting.pop_front()
        {
            if let Some(written) = waiting.tried.given_up(late) {
                self.done.push(Done::new(&waiting.pending, written));
            } else if bytes > 0 && bytes + waiting.tried.bytes > BYTES {
                self.waiting.push_front(waiting);
                break;
            } else {
                bytes += waiting.tried.bytes;
                next.push(waiting);
            }
        }
        next
    }

    /// Takes out the records that are settled; true if the table had no capacity for some of the others.
    fn resolve(&mut self, Answer { sent, result }: Answer) -> bool {
        let mut any_throttled = false;
        // The last one first, so that they are in front in their order.
        for (position, mut waiting) in sent.into_iter().enumerate().rev() {
            waiting.tried.tries += 1;
            let next = match &result {
                Ok(responses) => match responses.get(position) {
                    Some(response) => waiting.pending.next(self.rule, response.error()),
                    None => Next::Wait(String::from("the table left a statement unanswered")),
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
    /// What is known of a record that is not sent any more; `None` if it is.
    fn given_up(&self, late: Duration) -> Option<Written> {
        match self.tries {
            0 => (late > BEGIN_WITHIN).then_some(Written::Untried),
            tries if tries < TRIES && (late <= PATIENCE || (tries == 1 && self.reason.is_empty())) => None,
            _ if self.throttled && self.reason.is_empty() => {
                Some(Written::Throttled(String::from("no capacity in time")))
            }
            _ if self.throttled => Some(Written::Throttled(self.reason.clone())),
            _ if self.reason.is_empty() => Some(Written::Unknown(String::from("there was no time left to write it"))),
            _ => Some(Written::Unknown(self.reason.clone())),
        }
    }
}

impl Done {
    fn new(pending: &Pending, written: Written) -> Self {
        Self { index: pending.index, was_present: pending.was_present, written }
    }
}

/// One call, and a wait behind it if the table asks for one: until then its statements count as in flight.
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
