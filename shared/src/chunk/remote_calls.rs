//! Calls of a remote handler: at most one per step of an attempt, so that commits and checks stay in time.
//!
//! Outcomes are taken in the order of the items. An answer for some of the items leaves gaps: the outcomes behind a gap
//! are kept in memory until the gap is answered. If the time ends before, or if the chunk is parked or paused, the
//! items in the gaps go to the next round, so that no outcome behind them is lost.

use std::collections::BTreeMap;
use std::mem::take;
use std::time::Duration;

use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::{Outcome, Rejection};
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::remote::{
    AfterFault, Attempts, Backpressure, BatchCounts, Bisection, CallOutcome, Fault, ItemOutcome,
};
use longshore_domain::timestamp::Timestamp;

use super::attempt::{Attempt, Interrupt};
use super::delivery::ChunkError;
use super::items::Items;
use super::reasons;
use super::remote_batch::SentBatch;
use super::remote_rate::RateWait;
use super::remote_state::{Allowed, FailedBatch, SharedState};
use super::stored::StoredItems;
use crate::handler::{Outputs, Processed};
use crate::metrics::{self, Metric};
use crate::remote::{CallHandlers, NotCalled, RemoteCall, RemoteJob};

/// Wait after backpressure without a wait of its own.
const DEFAULT_WAIT_S: i64 = 10;

/// State of the calls of one attempt.
#[derive(Default)]
pub(super) struct RemoteCalls {
    /// Sizes of the batches; `None` before the first call.
    bisection: Option<Bisection>,
    /// Outcomes behind an item without one, by position. No position is before that of the tally, and no item of them
    /// waits.
    pub(super) answers: BTreeMap<usize, ItemOutcome>,
    /// State that all workers of the type share.
    pub(super) shared: SharedState,
    /// Number of calls so far.
    pub(super) count: u32,
    /// Number of items that fit into a call, if its bytes are the limit.
    pub(super) fits: Option<u32>,
    /// Time that a reservation under the rate limit takes.
    pub(super) reserving_ms: i64,
}

impl RemoteCalls {
    /// Continues with the batch sizes of a message.
    pub(super) fn of(message: &ChunkMessage) -> Self {
        Self { bisection: message.bisection, ..Self::default() }
    }

    /// Returns true if outcomes wait behind an item without one.
    pub(super) fn has_gaps(&self) -> bool {
        !self.answers.is_empty()
    }

    /// Returns the message with which another delivery continues.
    pub(super) fn next_message(&self, message: &ChunkMessage) -> ChunkMessage {
        ChunkMessage { bisection: self.bisection, parked_until: None, ..message.clone() }
    }

    fn bisection(&self, remote: &RemoteJob) -> Bisection {
        self.bisection.unwrap_or_else(|| Bisection::new(remote.batch_limits().items()))
    }
}

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    /// Makes at most one call, and takes the outcomes of the first items. Returns the rejection of a job that is to
    /// stop. If the call cannot be made, the delivery fails after what was answered is committed.
    pub(super) async fn call_handler(
        &mut self,
        remote: &RemoteJob,
        items: &Items,
        stored: &StoredItems,
    ) -> Result<Option<Rejection>, Interrupt> {
        match self.call_once(remote, items, stored).await {
            Err(Interrupt::Error(ChunkError::NotCalled(error))) => self.fail(remote, items, error).await,
            result => result,
        }
    }

    async fn call_once(
        &mut self,
        remote: &RemoteJob,
        items: &Items,
        stored: &StoredItems,
    ) -> Result<Option<Rejection>, Interrupt> {
        let handlers = self.worker.registry.handlers();
        let handlers = handlers.ok_or_else(|| self.unusable("this function calls no remote handlers"))?;
        if self.is_paused().await? {
            return self.end_paused(remote, items).await;
        }
        if !self.has_time_for(remote.timeout() + handlers.reserve()) {
            return self.leave(remote, items).await;
        }
        let allowed = match self.allowed(remote, handlers).await? {
            Allowed::Items(allowed) => allowed,
            Allowed::NoneUntil(until, reason) => return self.park(remote, items, until, reason).await,
            Allowed::NoneEver(outage) => {
                let unavailable = Outcome::Reject(reasons::unavailable(outage));
                return self.close_gaps_up_to(items.len(), remote, items, &unavailable);
            }
        };
        let wanted = self.wanted(remote, items).min(allowed);
        let most = match self.wait_for_rate(remote, handlers, wanted).await? {
            RateWait::ParkUntil(until, reason) => return self.park(remote, items, until, reason).await,
            RateWait::DecideAgain => return Ok(None),
            RateWait::Send(most) => most,
        };
        // The waits above were up to half a minute.
        if !self.has_time_for(remote.timeout() + handlers.reserve() * 2 / 3) {
            return self.leave(remote, items).await;
        }
        let Some(mut sent) = self.next_batch(remote, items, stored, most)? else {
            return self.take_answers(remote, items);
        };
        let outcome = self.send(remote, handlers, &mut sent).await?;
        self.take_outcome(remote, handlers, items, &sent, outcome).await
    }

    /// Returns the number of items of the next call. It is what is reserved under the rate limit: what is not sent is
    /// lost.
    fn wanted(&self, remote: &RemoteJob, items: &Items) -> u32 {
        let open = |i: &usize| !self.calls.answers.contains_key(i) && items.waiting(*i).is_none();
        let left = (self.tally.position..items.len()).filter(open).count();
        let fits = self.calls.fits.filter(|_| remote.rate().is_some()).unwrap_or(u32::MAX);
        self.calls.bisection(remote).next_size().min(count(left)).min(fits)
    }

    /// Makes the call. Moves the body out of the batch: nothing reads it afterwards.
    async fn send(
        &self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        sent: &mut SentBatch,
    ) -> Result<CallOutcome, NotCalled> {
        let target = &remote.registration().target;
        let (job_type, body) = (self.job.job_type.as_str(), take(&mut sent.batch.body));
        let (trace, deadline) = (Some(self.job.trace_id()), sent.deadline);
        let call = RemoteCall { target, job_type, trace, id: &sent.id, body, deadline };
        let began_at = (self.worker.clock)();
        let reply = handlers.call(call).await?;
        let ended_at = (self.worker.clock)();
        let outcome = CallOutcome::new(reply.result(), &sent.batch.keys, ended_at);
        metrics::count(Metric::HandlerCalls, &[job_type, outcome.name()], 1);
        metrics::time(Metric::HandlerDuration, &[job_type], ended_at.millis_since(began_at));
        Ok(outcome)
    }

    async fn take_outcome(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        items: &Items,
        sent: &SentBatch,
        outcome: CallOutcome,
    ) -> Result<Option<Rejection>, Interrupt> {
        let ended_at = (self.worker.clock)();
        match outcome {
            CallOutcome::Items(answered) => {
                let counts = BatchCounts { sent: count(sent.positions.len()), answered: count(answered.answered()) };
                self.calls.bisection = Some(self.calls.bisection(remote).after_answer(counts));
                let outcomes = sent.positions.iter().zip(answered.into_outcomes());
                // Faster than `extend`, which searches for the place of each.
                self.calls.answers.append(&mut outcomes.filter_map(|(i, outcome)| Some((*i, outcome?))).collect());
                if self.must_look() {
                    // During a long call, faults of other chunks can have been recorded.
                    self.look().await?;
                }
                self.note_answer().await?;
                self.take_answers(remote, items)
            }
            CallOutcome::Fatal(rejection) => {
                self.note_answer().await?;
                // The outcomes behind a gap count. The items in the gap stay unprocessed.
                self.close_gaps(remote, items, &Outcome::Busy { reason: rejection.message.clone() })?;
                Ok(Some(rejection))
            }
            CallOutcome::Parked(Backpressure { after, reason }) => {
                self.note_backpressure(remote, &reason, ended_at).await?;
                let wait_s = after.map_or(DEFAULT_WAIT_S, |after| i64::try_from(after.as_secs()).unwrap_or(i64::MAX));
                self.park(remote, items, ended_at.plus_seconds(wait_s), reason).await
            }
            CallOutcome::Fault(fault) => self.take_fault(remote, handlers, items, sent, &fault).await,
        }
    }

    /// Finds out whether the batch or the handler is at fault.
    async fn take_fault(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        items: &Items,
        sent: &SentBatch,
        fault: &Fault,
    ) -> Result<Option<Rejection>, Interrupt> {
        let (job_type, items_sent) = (self.job.job_type.as_str(), sent.positions.len());
        tracing::warn!(job.id = %self.job.job_id, job.r#type = job_type, batch = sent.id, items_sent, %fault, excerpt = fault.excerpt.for_operators(), "the call of a handler failed");
        let failed = match sent.positions[..] {
            [alone] if items.attempts(alone) > 0 => FailedBatch::KnownItem,
            _ => FailedBatch::Unknown,
        };
        if let Allowed::NoneUntil(until, reason) = self.after_fault(remote, handlers, failed).await? {
            return self.park(remote, items, until, reason).await;
        }
        let (bisection, verdict) = self.calls.bisection(remote).after_fault(count(items_sent));
        self.calls.bisection = Some(bisection);
        if let (AfterFault::Alone, Some(i)) = (verdict, sent.positions.first()) {
            let attempts = Attempts { made: items.attempts(*i) + 1, allowed: remote.registration().tries };
            self.calls.answers.insert(*i, fault.of_item_alone(attempts, &sent.id));
        }
        self.take_answers(remote, items)
    }

    /// Takes the outcomes up to the first item that is due and has none.
    pub(super) fn take_answers(&mut self, remote: &RemoteJob, items: &Items) -> Result<Option<Rejection>, Interrupt> {
        let outputs = if self.definition.stored.results.is_some() { Outputs::Kept } else { Outputs::Dropped };
        let mut processed = Processed::default();
        debug_assert!(
            self.calls.answers.keys().all(|i| *i >= self.tally.position && items.waiting(*i).is_none()),
            "an outcome would never be taken"
        );
        // Faster than the removal of each.
        let mut answers = take(&mut self.calls.answers).into_iter().peekable();
        for i in (self.tally.position..items.len()).filter(|i| items.waiting(*i).is_none()) {
            let Some((_, outcome)) = answers.next_if(|(answered, _)| *answered == i) else { break };
            remote.append(&mut processed, items.number(i), outcome, outputs);
        }
        self.calls.answers = answers.collect();
        Ok(self.tally.take(items, processed, (self.worker.clock)()))
    }

    fn has_time_for(&self, time: Duration) -> bool {
        later((self.worker.clock)(), time) <= self.function_deadline
    }
}

pub(super) fn later(time: Timestamp, by: Duration) -> Timestamp {
    Timestamp(time.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
}

pub(super) fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
