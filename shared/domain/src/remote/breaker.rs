//! The circuit breaker of a remote handler: whether the batch or the handler is at fault, and when calls begin again.
//!
//! All workers of a type share one breaker. Each transition is one conditional write, so that one worker of many opens
//! it, sends a ping, or makes the trial call. The breaker decides when work starts, and never what is counted.
//!
//! | state | calls | left by |
//! | --- | --- | --- |
//! | closed | all | a bad ping after a fault, or faults of several chunks in a row although pings are good |
//! | open, handler unreachable | none | a good ping |
//! | open, batches fail | none | a good ping, then an answered trial call with one item |
//!
//! After a fault, only a ping that began after it decides. A worker that may not ping yet waits for the next ping.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::ids::{ChunkId, JobId};
use crate::timestamp::Timestamp;

/// Minimum time between the starts of two pings, over all workers.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// Time limit of a ping. A ping without a result after it, and a margin for clock skew, was lost with its worker.
pub const PING_TIMEOUT: Duration = Duration::from_secs(10);

/// Time after which a ping without a result is repeated.
const PING_LOST: Duration = Duration::from_secs(20);

/// Time that a worker waits for the result of another worker's ping before it reads the breaker again.
const PING_POLL: Duration = Duration::from_secs(1);

/// First time that the breaker stays open. It doubles after each failed trial.
const FIRST_WAIT: Duration = Duration::from_secs(30);

/// Maximum time that the breaker stays open before the next trial.
const MAX_WAIT: Duration = Duration::from_secs(600);

/// Number of different chunks whose batches fail in a row, with good pings, until the breaker opens.
const FAILED_CHUNKS: usize = 5;

/// A chunk of a job.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
pub struct ChunkOfJob {
    /// The job.
    pub job: JobId,
    /// The chunk.
    pub chunk: ChunkId,
}

/// State of the circuit breaker of one job type.
#[derive(Clone, Eq, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Breaker {
    /// The last ping.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    ping: Option<LastPing>,
    /// `None` while the breaker is closed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open: Option<Open>,
    /// Chunks whose batches failed since the last answer, although pings were good.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    failed: Vec<ChunkOfJob>,
    /// Time of the first fault since the last answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    unanswered_since: Option<Timestamp>,
}

/// A ping of a handler.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct LastPing {
    began_at: Timestamp,
    /// `None` while the ping is in flight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    result: Option<PingResult>,
}

/// Result of a ping, for the breaker.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PingResult {
    /// The handler answered.
    Good,
    /// The handler did not answer, or its answer cannot be used.
    Bad,
    /// The handler asked for patience: the ping decides nothing.
    Undecided,
}

/// An open breaker.
#[derive(Copy, Clone, Eq, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Open {
    /// The reason.
    pub reason: OpenReason,
    /// Time at which it opened.
    pub since: Timestamp,
    /// Time of the next trial.
    pub trial_at: Timestamp,
    /// Seconds from a failed trial to the next.
    wait_s: u32,
}

/// Reason why a breaker is open.
#[derive(Copy, Clone, Eq, PartialEq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OpenReason {
    /// A ping was bad.
    Unreachable,
    /// The pings are good, but batches of several chunks failed in a row.
    BatchesFail,
}

/// Decision before a call.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum BeforeCall {
    /// The batch is sent.
    Call,
    /// No call until then, at the earliest.
    Wait(Timestamp),
    /// No call: nothing was answered for longer than the maximum, and the last ping, a moment ago, was bad.
    GiveUp,
    /// Once the state is stored, this worker sends a ping and, if it is good, a batch of one item.
    Try(Breaker),
}

/// Decision after a fault.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum AfterFault {
    /// A ping that began after the fault was good: the batch is at fault.
    BatchAtFault,
    /// Once the state is stored, this worker sends a ping.
    Ping(Breaker),
    /// The breaker is read again then.
    Wait(Timestamp),
}

impl Breaker {
    /// Returns the state while the breaker is open.
    pub fn open(&self) -> Option<Open> {
        self.open
    }

    /// Returns the time of the first fault since the last answer.
    pub fn unanswered_since(&self) -> Option<Timestamp> {
        self.unanswered_since
    }

    /// Decides whether a call can begin. After an outage of `max_outage`, trials follow each other in the first interval
    /// again, so that items are given up only because of a recent ping, and a handler that is back is noticed.
    pub fn before_call(&self, now: Timestamp, max_outage: Duration) -> BeforeCall {
        let Some(open) = self.open else { return BeforeCall::Call };
        let is_over = now > later(self.unanswered_since.unwrap_or(open.since), max_outage);
        let last_ping = self.ping.map_or(open.since, |ping| ping.began_at);
        let trial_at = if is_over { open.trial_at.min(later(last_ping, FIRST_WAIT)) } else { open.trial_at };
        if now < trial_at {
            return if is_over { BeforeCall::GiveUp } else { BeforeCall::Wait(trial_at) };
        }
        // If this worker dies, the next trial is not later than after a failed one.
        let open = Open { trial_at: later(now, seconds(open.wait_s)), ..open };
        BeforeCall::Try(Self { ping: Some(LastPing { began_at: now, result: None }), open: Some(open), ..self.clone() })
    }

    /// Decides what follows the fault of a call that ended at `ended_at`.
    pub fn after_fault(&self, ended_at: Timestamp, now: Timestamp) -> AfterFault {
        if let Some(open) = self.open {
            return AfterFault::Wait(open.trial_at.max(later(now, PING_POLL)));
        }
        let Some(ping) = self.ping else { return AfterFault::Ping(self.with_ping(ended_at, now)) };
        let age = Duration::from_millis(now.millis_since(ping.began_at).unsigned_abs());
        match ping.result {
            Some(PingResult::Good) if ping.began_at >= ended_at => AfterFault::BatchAtFault,
            None if age < PING_LOST => AfterFault::Wait(later(now, PING_POLL)),
            Some(_) if age < PING_INTERVAL => AfterFault::Wait(later(ping.began_at, PING_INTERVAL)),
            _ => AfterFault::Ping(self.with_ping(ended_at, now)),
        }
    }

    /// Returns the state after a ping that began at `began_at`; `None` if another ping began since, which decides.
    #[must_use]
    pub fn after_ping(&self, began_at: Timestamp, result: PingResult, now: Timestamp) -> Option<Self> {
        let ping = self.ping.filter(|ping| ping.began_at == began_at && ping.result.is_none())?;
        let open = match (self.open, result) {
            (Some(Open { reason: OpenReason::Unreachable, .. }), PingResult::Good) => None,
            (open, PingResult::Good | PingResult::Undecided) => open,
            (Some(open), PingResult::Bad) => Some(open.after_failed_trial(now)),
            (None, PingResult::Bad) => Some(Open::new(OpenReason::Unreachable, now)),
        };
        let failed = if open.is_some() { Vec::new() } else { self.failed.clone() };
        Some(Self { ping: Some(LastPing { result: Some(result), ..ping }), open, failed, ..self.clone() })
    }

    /// Returns the state after the fault of a chunk's batch, although the ping after it was good.
    #[must_use]
    pub fn after_failed_batch(&self, chunk: ChunkOfJob, now: Timestamp) -> Self {
        if let Some(open) = self.open {
            return Self { open: Some(open.after_failed_trial(now)), ..self.clone() };
        }
        let mut failed = self.failed.clone();
        if !failed.contains(&chunk) {
            failed.push(chunk);
        }
        if failed.len() < FAILED_CHUNKS {
            return Self { failed, ..self.clone() };
        }
        Self { failed: Vec::new(), open: Some(Open::new(OpenReason::BatchesFail, now)), ..self.clone() }
    }

    /// Returns the state after an answer; `None` if it is unchanged, as it is while the handler works.
    #[must_use]
    pub fn after_answer(&self) -> Option<Self> {
        let is_clean = self.open.is_none() && self.failed.is_empty() && self.unanswered_since.is_none();
        (!is_clean).then(|| Self { ping: self.ping, ..Self::default() })
    }

    fn with_ping(&self, ended_at: Timestamp, now: Timestamp) -> Self {
        // During an outage a ping follows every ten minutes. Faults before a longer break are another one.
        let is_same = self.ping.is_some_and(|ping| ended_at <= later(ping.began_at, 3 * MAX_WAIT));
        let unanswered_since = Some(self.unanswered_since.filter(|_| is_same).unwrap_or(ended_at));
        Self { ping: Some(LastPing { began_at: now, result: None }), unanswered_since, ..self.clone() }
    }
}

impl Open {
    fn new(reason: OpenReason, now: Timestamp) -> Self {
        let wait_s = FIRST_WAIT.as_secs() as u32;
        Self { reason, since: now, trial_at: later(now, FIRST_WAIT), wait_s }
    }

    fn after_failed_trial(self, now: Timestamp) -> Self {
        let wait = (2 * seconds(self.wait_s)).min(MAX_WAIT);
        Self { trial_at: later(now, wait), wait_s: wait.as_secs() as u32, ..self }
    }
}

fn seconds(seconds: u32) -> Duration {
    Duration::from_secs(seconds.into())
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    Timestamp(time.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
}

#[cfg(test)]
#[path = "breaker_tests.rs"]
mod tests;
