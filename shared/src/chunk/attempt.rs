//! One attempt at a chunk's round: passes batch after batch to the handler, and commits every second and at the end.

use longshore_domain::cursor::Cursor;
use longshore_domain::job::{Job, JobError};
use longshore_domain::message::ChunkMessage;
use longshore_domain::next_tries::{Backoff, NextTries};
use longshore_domain::outcome::Rejection;
use longshore_domain::ports::{ChunkState, Files, Queues, Store};
use longshore_domain::random::{fraction, nonce};
use longshore_domain::retry;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::WorkFileHeader;

use super::batch_size::{batch_of_outputs, next_batch};
use super::definition_cache::PreparedDefinition;
use super::delivery::{ChunkDelivery, ChunkEnd, ChunkError, Mode};
use super::ending::{roll_up, stop_job};
use super::items::{Found, find};
use super::reasons::HandlerKind;
use super::remote_calls::RemoteCalls;
use super::stored::StoredItems;
use super::tally::Tally;
use super::tolerance_stop::failed;
use super::usage::AttemptUsage;
use super::worker::{TURN_S, Worker};

/// Minimum time between two commits: progress moves once a second, at one write unit.
const COMMIT_MS: i64 = 1_000;
/// Time between two checks that the job is still running: no item starts more than 3 s after the last check.
const CHECK_MS: i64 = 1_500;

/// Reason to leave an attempt before its round has ended.
pub(super) enum Interrupt {
    End(ChunkEnd),
    Error(ChunkError),
}

impl<E> From<E> for Interrupt
where
    ChunkError: From<E>,
{
    fn from(error: E) -> Self {
        Self::Error(error.into())
    }
}

/// Position of a commit in its round.
#[derive(Copy, Clone, Eq, PartialEq)]
pub(super) enum CommitPoint {
    InRound,
    EndOfRound,
}

pub(super) struct Attempt<'a, S, Q, F> {
    pub(super) worker: &'a Worker<'a, S, Q, F>,
    pub(super) message: &'a ChunkMessage,
    pub(super) job: &'a Job,
    pub(super) definition: &'a PreparedDefinition,
    pub(super) mode: Mode,
    deadline: Timestamp,
    /// Time by which the function must have stopped.
    pub(super) function_deadline: Timestamp,
    /// Calls of a remote handler.
    pub(super) calls: RemoteCalls,
    pub(super) nonce: String,
    pub(super) commits: u32,
    pub(super) cursor: Option<Cursor>,
    /// Header of the cursor's work file, once this attempt has written or read it.
    pub(super) header: Option<WorkFileHeader>,
    /// Number of the round's items that were already processed when the attempt started.
    first_position: usize,
    pub(super) tally: Tally,
    pub(super) usage: AttemptUsage,
    pub(super) committed_at: Timestamp,
    checked_at: Timestamp,
}

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    pub(super) fn new(
        worker: &'a Worker<'a, S, Q, F>,
        delivery: ChunkDelivery<'a>,
        state: &'a ChunkState,
        definition: &'a PreparedDefinition,
    ) -> Self {
        let ChunkDelivery { message, mode, deadline, .. } = delivery;
        let cursor = state.group.cursors.get(&message.chunk).cloned();
        let now = (worker.clock)();
        let backoff = Backoff { base_s: worker.retry_base_s, fraction: fraction() };
        let next_tries = NextTries::new(backoff, message.id());
        let usage = AttemptUsage::new(worker.meter, delivery.units, definition.take_unrecorded_reads(), now);
        Self {
            header: None,
            first_position: cursor.as_ref().map_or(0, |c| c.position as usize),
            tally: Tally::at(
                cursor.as_ref(),
                HandlerKind::of(&state.job),
                definition.limits().item_retries,
                next_tries,
            ),
            worker,
            message,
            job: &state.job,
            definition,
            mode,
            deadline,
            function_deadline: deadline,
            calls: RemoteCalls::of(message),
            nonce: nonce(),
            commits: 0,
            cursor,
            usage: usage.after_failures(delivery.failures),
            committed_at: now,
            checked_at: now,
        }
    }

    pub(super) async fn run(mut self) -> Result<ChunkEnd, ChunkError> {
        let end = self.process().await;
        self.definition.keep_unrecorded_reads(self.usage.unrecorded_reads());
        match end {
            Ok(end) | Err(Interrupt::End(end)) => Ok(end),
            Err(Interrupt::Error(error)) => Err(error),
        }
    }

    async fn process(&mut self) -> Result<ChunkEnd, Interrupt> {
        let ports = self.worker.ports;
        let source = self.job.chunk_file(&self.message.plan);
        let (cursor, source) = (self.cursor.as_ref(), source.as_deref());
        // The limit applies to records only, not to options and keys.
        let longest = self.job.record_format().map_or(u64::MAX, |_| self.definition.limits().item_bytes);
        let mut items = match find(&ports.files, self.message, cursor, source, self.definition, longest).await? {
            Found::Items(items) => items,
            Found::SourceGone(error) => {
                stop_job(ports, self.job, &failed(error, (self.worker.clock)())).await?;
                return Ok(ChunkEnd::NotLive);
            }
        };
        if self.mode == Mode::Work {
            // The turn starts here, because reading the items of a late round can take long.
            let now = (self.worker.clock)();
            self.deadline = self.deadline.min(now.plus_seconds(TURN_S));
            // The round's own time counts as well, because its message can come a moment before.
            items.hold_until_due(self.cursor.as_ref().and_then(|c| c.due).map_or(now, |due| due.max(now)));
            self.continue_next_tries().await;
            self.tally.defer_waiting(&items);
        }
        let (dataset, mut stored, mut batch) = (self.job.dataset(), StoredItems::default(), 16);
        while self.tally.position < items.len() {
            self.between_batches().await?;
            let started = (self.worker.clock)();
            if let Some(dataset) = dataset.as_ref().filter(|_| self.mode == Mode::Work) {
                stored.read(self.reader()?, dataset, &items, self.tally.position).await?;
            }
            if let Some(remote) = self.definition.remote().filter(|_| self.mode == Mode::Work) {
                if let Some(rejection) = self.call_handler(remote, &items, &stored).await? {
                    return self.fatal(rejection).await;
                }
                continue;
            }
            let Some(processed) = self.outcomes(&items, &stored, batch).await? else {
                batch = 1;
                continue;
            };
            let took_ms = (self.worker.clock)().millis_since(started);
            batch = next_batch(batch, self.definition.limits().batch_items, took_ms);
            batch = batch.min(batch_of_outputs(&processed));
            if let Some(rejection) = self.tally.take(&items, processed, (self.worker.clock)()) {
                return self.fatal(rejection).await;
            }
        }
        self.end_round().await
    }

    /// Runs between batches: commits if it is time, checks that the job still runs, and stops if it is paused, or
    /// before the deadline. If there are gaps, the next step ends instead: it closes them. The deadline stops it only
    /// after an item; otherwise a chunk whose items take long to read would be continued indefinitely.
    async fn between_batches(&mut self) -> Result<(), Interrupt> {
        let now = (self.worker.clock)();
        let is_paused = self.is_paused().await?;
        let is_late = now >= self.deadline && self.tally.position > self.first_position;
        let over = (is_paused || is_late) && !self.calls.has_gaps();
        let due = now.millis_since(self.committed_at) >= COMMIT_MS || self.tally.is_large();
        if !self.tally.is_empty() && (over || due) {
            let group = self.commit(CommitPoint::InRound).await?;
            self.stop_if_tolerance_exceeded(&group).await?;
        }
        if over {
            if is_paused {
                return Err(Interrupt::End(ChunkEnd::Paused));
            }
            // A chunk that is given up keeps its failure count.
            let failures = if self.mode == Mode::GiveUp { self.message.failures } else { 0 };
            let message = ChunkMessage { failures, ..self.calls.next_message(self.message) };
            self.worker.ports.queues.send_chunks(&[message], 0).await?;
            return Err(Interrupt::End(ChunkEnd::Continued));
        }
        self.check_live().await
    }

    /// Returns true if an operator has paused the job type or the tenant.
    pub(super) async fn is_paused(&self) -> Result<bool, ChunkError> {
        Ok(self.worker.is_paused(self.job, self.mode).await?)
    }

    /// Ends the delivery if the job has stopped since it was read more than [`CHECK_MS`] ago.
    pub(super) async fn check_live(&mut self) -> Result<(), Interrupt> {
        let now = (self.worker.clock)();
        if now.millis_since(self.checked_at) >= CHECK_MS {
            self.checked_at = now;
            let job = self.worker.ports.store.job(self.message.job_id).await?;
            if !job.is_some_and(|job| job.is_live() && job.generation == self.job.generation) {
                return Err(Interrupt::End(ChunkEnd::NotLive));
            }
        }
        Ok(())
    }

    pub(super) fn round(&self) -> u32 {
        self.cursor.as_ref().map_or(0, |c| c.round)
    }

    async fn end_round(&mut self) -> Result<ChunkEnd, Interrupt> {
        let group = self.commit(CommitPoint::EndOfRound).await?;
        // First: the next delivery repeats a roll-up that fails, but not a check.
        self.stop_if_tolerance_exceeded(&group).await?;
        if group.is_done() {
            roll_up(self.worker.ports, self.message.job_id, self.message.group, (self.worker.clock)()).await?;
        }
        match self.cursor.as_ref().filter(|cursor| !cursor.finished) {
            None => Ok(ChunkEnd::Finished),
            Some(cursor) => Ok(self.send_round(cursor).await?),
        }
    }

    async fn send_round(&self, cursor: &Cursor) -> Result<ChunkEnd, ChunkError> {
        let due = cursor.due.filter(|_| !cursor.by_sweeper && self.mode == Mode::Work);
        if let Some(delay_s) = due.and_then(|due| retry::queue_delay_s((self.worker.clock)(), due)) {
            let message = ChunkMessage { inline: None, failures: 0, ..self.calls.next_message(self.message) };
            self.worker.ports.queues.send_chunks(&[message], delay_s).await?;
        }
        Ok(ChunkEnd::NextRound)
    }

    /// Stops the job, then commits: with the opposite order, a worker that dies in between would leave a job that
    /// continues after the fatal item. If the commit is too late, the item counts as unprocessed.
    async fn fatal(&mut self, rejection: Rejection) -> Result<ChunkEnd, Interrupt> {
        let stop = failed(JobError::new(rejection.code, rejection.message), (self.worker.clock)());
        stop_job(self.worker.ports, self.job, &stop).await?;
        self.commit(CommitPoint::InRound).await?;
        Ok(ChunkEnd::NotLive)
    }
}
