//! Calls of a remote handler: at most one per step of an attempt, so that commits and checks stay in time.
//!
//! Outcomes are taken in the order of the items. An answer for some of the items leaves gaps: the outcomes behind a gap
//! are kept in memory until the gap is answered. If the time ends before, or if the chunk is parked, the items in the
//! gaps go to the next round, so that no outcome behind them is lost.

use std::collections::BTreeMap;
use std::time::Duration;

use longshore_domain::ids::ItemKey;
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::{Outcome, Rejection};
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::remote::{
    AfterFault, Attempts, Backpressure, Batch, BatchBuilder, BatchCounts, Bisection, CallOutcome, Fault, ItemOutcome,
    Pushed, RequestBatch, RequestHead, RequestItem, RequestJob,
};
use longshore_domain::timestamp::Timestamp;

use super::attempt::{Attempt, Interrupt};
use super::delivery::ChunkError;
use super::items::Items;
use super::reasons;
use super::remote_state::{Allowed, FailedBatch, SharedState};
use super::stored::StoredItems;
use crate::handler::{CellReader, Outputs, Processed, RawItem, Shape};
use crate::remote::{CallHandlers, NotCalled, RemoteCall, RemoteJob};

/// Wait after backpressure without a wait of its own.
const DEFAULT_WAIT_S: i64 = 10;

/// State of the calls of one attempt.
#[derive(Default)]
pub(super) struct RemoteCalls {
    /// Sizes of the batches; `None` before the first call.
    bisection: Option<Bisection>,
    /// Outcomes behind an item without one, by position.
    pub(super) answers: BTreeMap<usize, ItemOutcome>,
    /// What all workers of the type share.
    pub(super) shared: SharedState,
    /// Number of calls so far.
    count: u32,
}

/// A batch, and the positions of its items.
struct SentBatch {
    id: String,
    batch: Batch,
    positions: Vec<usize>,
    deadline: Timestamp,
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
        if !self.has_time_for(remote.timeout() + handlers.reserve()) {
            return self.leave(remote, items).await;
        }
        let allowed = match self.allowed(remote, handlers).await? {
            Allowed::Items(allowed) => allowed,
            Allowed::NoneUntil(until, reason) => return self.park(remote, items, until, reason).await,
            Allowed::NoneEver => {
                for i in self.tally.position..items.len() {
                    self.calls.answers.entry(i).or_insert_with(|| Outcome::Reject(reasons::unavailable()));
                }
                return self.take_answers(remote, items);
            }
        };
        let wanted = self.calls.bisection(remote).next_size().min(allowed);
        let reserved = match self.reserve(remote, handlers, wanted).await? {
            Allowed::NoneUntil(until, reason) => return self.park(remote, items, until, reason).await,
            Allowed::Items(reserved) => reserved,
            Allowed::NoneEver => return Ok(None),
        };
        if self.must_look() {
            // The wait for the rate limit was long. What was reserved is lost if the breaker has opened.
            if let Allowed::NoneUntil(until, reason) = self.allowed(remote, handlers).await? {
                return self.park(remote, items, until, reason).await;
            }
        }
        // The waits above were up to half a minute.
        if !self.has_time_for(remote.timeout() + handlers.reserve() * 2 / 3) {
            return self.leave(remote, items).await;
        }
        self.check_live().await?;
        let Some(sent) = self.next_batch(remote, items, stored, reserved)? else {
            return self.take_answers(remote, items);
        };
        let outcome = self.send(remote, handlers, &sent).await?;
        self.take_outcome(remote, handlers, items, &sent, outcome).await
    }

    /// Builds the next batch from the first items without an outcome. Items that cannot be read have one at once.
    /// Returns `None` if no item is left to send.
    fn next_batch(
        &mut self,
        remote: &RemoteJob,
        items: &Items,
        stored: &StoredItems,
        most: u32,
    ) -> Result<Option<SentBatch>, ChunkError> {
        self.calls.count += 1;
        let deadline = later((self.worker.clock)(), remote.timeout());
        let (job, message) = (self.job, self.message);
        let id = format!(
            "{}-{}-{}-{}-{}{}",
            job.job_id, job.generation, message.group, message.chunk, self.nonce, self.calls.count
        );
        let head = RequestHead {
            mode: remote.mode(),
            job: RequestJob {
                id: job.job_id,
                job_type: &job.job_type,
                tenant: &job.tenant,
                generation: job.generation + 1,
                options: remote.options(),
            },
            batch: RequestBatch { id: &id, deadline },
        };
        let unusable = |error: serde_json::Error| self.unusable(&format!("the request cannot be written: {error}"));
        let mut builder = BatchBuilder::new(&head, remote.batch_limits().at_most(most)).map_err(unusable)?;
        let (mut cells, mut positions, mut unreadable) = (CellReader::default(), Vec::new(), Vec::new());
        for i in self.tally.position..items.len() {
            if self.calls.answers.contains_key(&i) {
                continue;
            }
            let value = match self.raw_item(items, stored, i) {
                Raw::Item(item) => remote.value(&item, &mut cells).map_err(Outcome::Reject),
                Raw::Ended(outcome) => Err(outcome),
                Raw::Unread => break,
            };
            let value = match value {
                Ok(value) => value,
                Err(outcome) => {
                    unreadable.push((i, outcome));
                    continue;
                }
            };
            let key = ItemKey { job_id: job.job_id, number: items.number(i) };
            let item = RequestItem { key, attempt: items.attempts(i) + 1, value: &value };
            match builder.push(&item).map_err(unusable)? {
                Pushed::Added => positions.push(i),
                Pushed::Full => break,
            }
        }
        self.calls.answers.extend(unreadable);
        Ok(builder.finish().map(|batch| SentBatch { id, batch, positions, deadline }))
    }

    /// Returns an item as the input of a handler.
    fn raw_item<'i>(&'i self, items: &'i Items, stored: &'i StoredItems, i: usize) -> Raw<'i> {
        if items.is_too_long(i) {
            return Raw::Ended(Outcome::Reject(reasons::row_too_long(self.definition.limits().item_bytes)));
        }
        if self.job.dataset().is_none() {
            return Raw::Item(items.item(i, self.job.record_format(), self.definition));
        }
        match stored.records(&(i..i + 1)) {
            [Some(record)] => Raw::Item(RawItem { number: items.number(i), shape: Shape::Stored(record) }),
            [None] => Raw::Ended(Outcome::Skip { reason: reasons::REMOVED.to_owned() }),
            _ => Raw::Unread,
        }
    }

    async fn send(
        &self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        sent: &SentBatch,
    ) -> Result<CallOutcome, NotCalled> {
        let target = &remote.registration().target;
        let (job_type, body) = (self.job.job_type.as_str(), sent.batch.body.clone());
        let (job, deadline) = (Some(self.job.job_id), sent.deadline);
        let call = RemoteCall { target, job_type, job, id: &sent.id, body, deadline };
        let reply = handlers.call(call).await?;
        Ok(CallOutcome::new(reply.result(), &sent.batch.keys, (self.worker.clock)()))
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
                self.calls.answers.extend(outcomes.filter_map(|(i, outcome)| Some((*i, outcome?))));
                if self.must_look() {
                    // During a long call, faults of other chunks can have been recorded.
                    self.look().await?;
                }
                self.note_answer().await?;
                self.take_answers(remote, items)
            }
            CallOutcome::Fatal(rejection) => {
                self.note_answer().await?;
                Ok(Some(rejection))
            }
            CallOutcome::Parked(Backpressure { after, reason }) => {
                self.note_backpressure(remote, ended_at).await?;
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

    /// Takes the outcomes up to the first item without one.
    pub(super) fn take_answers(&mut self, remote: &RemoteJob, items: &Items) -> Result<Option<Rejection>, Interrupt> {
        let outputs = if self.definition.stored.results.is_some() { Outputs::Kept } else { Outputs::Dropped };
        let mut processed = Processed::default();
        for i in self.tally.position.. {
            let Some(outcome) = self.calls.answers.remove(&i) else { break };
            remote.append(&mut processed, items.number(i), outcome, outputs);
        }
        Ok(self.tally.take(items, processed))
    }

    fn has_time_for(&self, time: Duration) -> bool {
        later((self.worker.clock)(), time) <= self.function_deadline
    }
}

/// An item before it is sent.
enum Raw<'a> {
    Item(RawItem<'a>),
    /// It has an outcome without a call.
    Ended(ItemOutcome),
    /// Its record has not been read yet.
    Unread,
}

fn later(time: Timestamp, by: Duration) -> Timestamp {
    Timestamp(time.0.saturating_add(i64::try_from(by.as_millis()).unwrap_or(i64::MAX)))
}

fn count(items: usize) -> u32 {
    u32::try_from(items).unwrap_or(u32::MAX)
}
