//! What all workers of a registered type share: whether a call can begin now, and with how many items.

use std::time::Duration;

use longshore_domain::ids::ChunkId;
use longshore_domain::ports::{Files, Queues, Replaced, Store};
use longshore_domain::random::nonce;
use longshore_domain::remote::breaker::{AfterFault, BeforeCall};
use longshore_domain::remote::{Breaker, ChunkOfJob, HandlerState, OpenReason, PingOutcome, PingResult, ReadState};
use longshore_domain::timestamp::Timestamp;

use super::attempt::Attempt;
use super::delivery::ChunkError;
use super::reasons::Outage;
use crate::remote::{CallHandlers, PingedHandler, RemoteJob, ping};

/// Maximum age of the last look at the circuit breaker when a call begins.
const LOOK_MS: i64 = 3_000;

/// Maximum time that a worker waits for the ping of another worker before it parks its chunk.
const PING_WAIT_MS: i64 = 8_000;

/// Seconds for which a chunk is parked if no ping has decided in that time.
const PING_LATER_S: i64 = 10;

/// Maximum number of tries of a write to the shared state. A write that other workers prevent so often is left out:
/// they have written the same.
const TRIES: u32 = 20;

/// The shared state as last read.
#[derive(Default)]
pub(super) struct SharedState {
    read: ReadState,
    looked_at: Option<Timestamp>,
    /// True if the next call is the trial of an open breaker.
    is_trial: bool,
}

/// A batch that failed.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum FailedBatch {
    /// The handler or one of the items can be the cause.
    Unknown,
    /// It is one item, which failed before.
    KnownItem,
}

/// Effect of a change of the shared state.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum Update {
    /// This worker has stored it.
    Stored,
    /// It was not necessary, or other workers have stored the same.
    LeftOut,
}

/// Number of items that can be sent now.
pub(super) enum Allowed {
    /// Up to so many.
    Items(u32),
    /// None until then; the reason is for the document of the job.
    NoneUntil(Timestamp, String),
    /// None: the handler has been unavailable for too long.
    NoneEver(Outage),
}

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    /// Asks the circuit breaker. A worker whose turn it is sends a ping.
    pub(super) async fn allowed(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
    ) -> Result<Allowed, ChunkError> {
        if self.must_look() {
            self.look().await?;
        }
        self.calls.shared.is_trial = false;
        for _ in 0..TRIES {
            let now = (self.worker.clock)();
            let breaker = &self.calls.shared.read.state.breaker;
            let max_outage = Duration::from_secs(remote.registration().max_outage_seconds.into());
            match breaker.before_call(now, max_outage) {
                BeforeCall::GiveUp => return Ok(Allowed::NoneEver(outage(breaker))),
                BeforeCall::Call => return Ok(Allowed::Items(u32::MAX)),
                BeforeCall::Wait(until) => return Ok(none_until(breaker, until)),
                BeforeCall::Try(breaker) => {
                    if !self.replace(with_breaker(&self.calls.shared.read.state, breaker)).await? {
                        continue;
                    }
                    if let Some(allowed) = self.try_handler(remote, handlers, now).await? {
                        return Ok(allowed);
                    }
                }
            }
        }
        Ok(Allowed::NoneUntil((self.worker.clock)().plus_seconds(1), "the handler's breaker is busy".into()))
    }

    /// Sends the ping of an open breaker. If its batches failed although pings were good, one item is the trial. Returns
    /// `None` if the breaker stays open.
    async fn try_handler(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        began_at: Timestamp,
    ) -> Result<Option<Allowed>, ChunkError> {
        let result = self.ping(remote, handlers, began_at).await?;
        Ok(match self.calls.shared.read.state.breaker.open() {
            None => Some(Allowed::Items(u32::MAX)),
            Some(open) if open.reason == OpenReason::BatchesFail && result == PingResult::Good => {
                self.calls.shared.is_trial = true;
                Some(Allowed::Items(1))
            }
            Some(_) => None,
        })
    }

    /// Decides what follows a fault: `Items` if the batch is at fault, which is judged. While the breaker is open, only
    /// the fault of its trial is. The fault of a single item that has failed before says nothing about the handler.
    pub(super) async fn after_fault(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        batch: FailedBatch,
    ) -> Result<Allowed, ChunkError> {
        let ended_at = (self.worker.clock)();
        let is_trial = self.calls.shared.is_trial;
        self.look().await?;
        if !is_trial && let Some(wait) = self.wait_for_ping(remote, handlers, ended_at).await? {
            return Ok(wait);
        }
        let id = self.message.id();
        let chunk = ChunkOfJob { job: self.message.job_id, chunk: ChunkId::new(id.group, id.chunk) };
        let now = (self.worker.clock)();
        self.update(|state| {
            let is_judged = is_trial || (state.breaker.open().is_none() && batch == FailedBatch::Unknown);
            is_judged.then(|| with_breaker(state, state.breaker.after_failed_batch(chunk, now)))
        })
        .await?;
        Ok(Allowed::Items(u32::MAX))
    }

    /// Waits for the ping that decides about a fault, or sends it. Returns `None` if the batch is at fault.
    async fn wait_for_ping(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        ended_at: Timestamp,
    ) -> Result<Option<Allowed>, ChunkError> {
        loop {
            let (now, breaker) = ((self.worker.clock)(), &self.calls.shared.read.state.breaker);
            match breaker.after_fault(ended_at, now) {
                AfterFault::BatchAtFault => return Ok(None),
                AfterFault::Wait(until) if until.millis_since(ended_at) > PING_WAIT_MS => {
                    return Ok(Some(none_until(breaker, until)));
                }
                AfterFault::Wait(until) => {
                    handlers.sleep(until).await;
                    self.look().await?;
                }
                AfterFault::Ping(_) if now.millis_since(ended_at) > PING_WAIT_MS => {
                    // A ping that was put off decides nothing, and the next one is another worker's.
                    return Ok(Some(none_until(breaker, now.plus_seconds(PING_LATER_S))));
                }
                AfterFault::Ping(breaker) => {
                    if self.replace(with_breaker(&self.calls.shared.read.state, breaker)).await? {
                        self.ping(remote, handlers, now).await?;
                    }
                }
            }
        }
    }

    /// Returns true if the breaker must be read again before a call that begins now.
    pub(super) fn must_look(&self) -> bool {
        self.must_look_before((self.worker.clock)())
    }

    /// Returns true if the breaker must be read again before a call that begins then.
    pub(super) fn must_look_before(&self, call: Timestamp) -> bool {
        self.calls.shared.looked_at.is_none_or(|at| call.millis_since(at) >= LOOK_MS)
    }

    /// Returns true if the state as last read stops the next call.
    pub(super) fn is_stopped(&self) -> bool {
        !self.calls.shared.is_trial && self.calls.shared.read.state.breaker.open().is_some()
    }

    /// Returns the state as last read.
    pub(super) fn last_read(&self) -> &ReadState {
        &self.calls.shared.read
    }

    /// Records a state that a call has returned which began at this time.
    pub(super) fn keep(&mut self, read: ReadState, at: Timestamp) {
        self.calls.shared = SharedState { read, looked_at: Some(at), ..self.calls.shared };
    }

    /// Records an answer, if the breaker is not that of a working handler.
    pub(super) async fn note_answer(&mut self) -> Result<(), ChunkError> {
        self.update(|state| Some(with_breaker(state, state.breaker.after_answer()?))).await?;
        Ok(())
    }

    /// Lowers the concurrency limit. The worker that lowers it logs the reason, so that one line stands for the calls of
    /// one moment.
    pub(super) async fn note_backpressure(
        &mut self,
        remote: &RemoteJob,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), ChunkError> {
        let configured = self.worker.concurrency_of_type(remote.registration().concurrency);
        let lowered = |state: &HandlerState| {
            Some(HandlerState { concurrency: state.concurrency.lowered(configured, now)?, ..state.clone() })
        };
        if self.update(lowered).await? == Update::Stored {
            let limit = self.calls.shared.read.state.concurrency.now(configured, now);
            let job_type = self.job.job_type.as_str();
            tracing::warn!(job.r#type = job_type, reason, limit, configured, "a handler asked for fewer calls");
        }
        Ok(())
    }

    /// Sends a ping that the shared state already names, and records its result.
    async fn ping(
        &mut self,
        remote: &RemoteJob,
        handlers: &dyn CallHandlers,
        began_at: Timestamp,
    ) -> Result<PingResult, ChunkError> {
        let (target, job_type) = (&remote.registration().target, self.job.job_type.as_str());
        let handler = PingedHandler { target, job_type, trace: Some(self.job.trace_id()), began_at };
        let outcome = ping(handlers, handler, self.worker.clock).await?;
        let now = (self.worker.clock)();
        let result = match outcome {
            PingOutcome::Good(_) => PingResult::Good,
            PingOutcome::Parked(_) => PingResult::Undecided,
            PingOutcome::Bad(bad) => {
                tracing::warn!(job.r#type = job_type, reason = %bad, "a handler's ping is bad");
                PingResult::Bad
            }
        };
        self.update(|state| Some(with_breaker(state, state.breaker.after_ping(began_at, result, now)?))).await?;
        Ok(result)
    }

    pub(super) async fn look(&mut self) -> Result<(), ChunkError> {
        let now = (self.worker.clock)();
        let read = self.worker.ports.store.handler_state(&self.job.job_type).await?;
        self.keep(read, now);
        Ok(())
    }

    /// Changes the shared state, until the change is stored or returns `None`.
    async fn update(&mut self, change: impl Fn(&HandlerState) -> Option<HandlerState>) -> Result<Update, ChunkError> {
        for _ in 0..TRIES {
            let Some(next) = change(&self.calls.shared.read.state) else { return Ok(Update::LeftOut) };
            if self.replace(next).await? {
                return Ok(Update::Stored);
            }
        }
        Ok(Update::LeftOut)
    }

    /// Replaces the shared state. Returns false if another worker has changed it, with its state read.
    async fn replace(&mut self, state: HandlerState) -> Result<bool, ChunkError> {
        let ReadState { version, reserved, .. } = self.calls.shared.read;
        let now = (self.worker.clock)();
        let store = &self.worker.ports.store;
        let replaced = store.replace_handler_state(&self.job.job_type, version, &state, &nonce()).await?;
        let (read, is_replaced) = match replaced {
            Replaced::Replaced => (ReadState { state, version: version + 1, reserved }, true),
            Replaced::Changed(read) => (read, false),
        };
        self.keep(read, now);
        Ok(is_replaced)
    }
}

fn with_breaker(state: &HandlerState, breaker: Breaker) -> HandlerState {
    HandlerState { breaker, ..state.clone() }
}

fn outage(breaker: &Breaker) -> Outage {
    match breaker.open().map(|open| open.reason) {
        Some(OpenReason::BatchesFail) => Outage::BatchesFail,
        Some(OpenReason::Unreachable) | None => Outage::Unanswered,
    }
}

fn none_until(breaker: &Breaker, until: Timestamp) -> Allowed {
    let reason = match breaker.open().map(|open| open.reason) {
        Some(OpenReason::BatchesFail) => "the handler fails on the batches of several chunks",
        Some(OpenReason::Unreachable) => "the handler does not answer",
        None => "the handler's ping is awaited",
    };
    Allowed::NoneUntil(until, reason.into())
}
