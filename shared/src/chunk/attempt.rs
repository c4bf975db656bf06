//! One attempt at a chunk's round: batch after batch to the handler, a commit every second and at the end.

use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, Group};
use longshore_domain::ids::{fraction, nonce};
use longshore_domain::job::{Job, JobError, Status, Stop};
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::{Outcome, Rejection};
use longshore_domain::ports::{ChunkState, Files, Queues, Store};
use longshore_domain::progress;
use longshore_domain::retry;
use longshore_domain::time_stamp::Timestamp;
use longshore_domain::work_file::{Header, WorkFile};

use super::chain::read_header;
use super::items::{Found, Items, find};
use super::reasons;
use super::tally::Tally;
use super::{ChunkEnd, ChunkError, KnownJob, Mode, TURN_S, Worker, end_of, roll_up, stop_job};
use crate::handler::JobContext;
use crate::ports::JobFolder;

/// Between two commits: progress moves once a second, at one write unit.
const COMMIT_MS: i64 = 1_000;
/// Between two looks whether the job still runs: no item starts later than 3 s after the last look.
const LOOK_MS: i64 = 1_500;
/// A batch grows until it takes about this long, so that commits and looks are not late.
const BATCH_MS: i64 = 200;

pub(super) struct Attempt<'a, S, Q, F> {
    worker: &'a Worker<'a, S, Q, F>,
    message: &'a ChunkMessage,
    job: &'a Job,
    known: &'a KnownJob,
    mode: Mode,
    deadline: Timestamp,
    nonce: String,
    commits: u32,
    cursor: Option<Cursor>,
    /// Header of the file that the cursor names, once this attempt has written or read it.
    header: Option<Header>,
    /// Number of the round's items that were already processed when the attempt began.
    began_at: usize,
    tally: Tally,
    committed_at: Timestamp,
    looked_at: Timestamp,
}

impl<'a, S: Store, Q: Queues, F: Files> Attempt<'a, S, Q, F> {
    pub(super) fn new(
        worker: &'a Worker<'a, S, Q, F>,
        message: &'a ChunkMessage,
        state: &'a ChunkState,
        known: &'a KnownJob,
        mode: Mode,
        deadline: Timestamp,
    ) -> Self {
        let cursor = state.group.cursors.get(&message.chunk).cloned();
        let now = (worker.clock)();
        Self {
            header: None,
            began_at: cursor.as_ref().map_or(0, |c| c.position as usize),
            tally: Tally::at(cursor.as_ref(), known.limits().item_retries),
            worker,
            message,
            job: &state.job,
            known,
            mode,
            deadline,
            nonce: nonce(),
            commits: 0,
            cursor,
            committed_at: now,
            looked_at: now,
        }
    }

    pub(super) async fn run(mut self) -> Result<ChunkEnd, ChunkError> {
        let ports = self.worker.ports;
        let source = self.job.source.as_ref();
        let items = match find(&ports.files, self.message, self.cursor.as_ref(), source, self.known).await? {
            Found::Items(items) => items,
            Found::SourceGone(error) => {
                stop_job(ports, self.job, &failed(error, (self.worker.clock)())).await?;
                return Ok(ChunkEnd::NotLive);
            }
        };
        if self.mode == Mode::Work {
            // A turn is time for items, so it begins here: finding the items of a late round may take long.
            self.deadline = self.deadline.min((self.worker.clock)().plus_seconds(TURN_S));
        }
        let mut batch = 16;
        while self.tally.position < items.len() {
            if let Some(end) = self.pause().await? {
                return Ok(end);
            }
            let began = (self.worker.clock)();
            let Some(outcomes) = self.outcomes(&items, batch).await? else {
                batch = 1;
                continue;
            };
            batch = next_batch(batch, self.known.limits().batch_items, (self.worker.clock)().millis_since(began));
            if let Some(rejection) = self.tally.take(&items, outcomes) {
                return self.fatal(rejection).await;
            }
        }
        self.end_round().await
    }

    /// Runs between batches: commits if it is time, checks whether the job still runs, and stops before the deadline.
    /// It never stops before an item is processed; otherwise a chunk whose items take long to find would be handed over
    /// for ever.
    async fn pause(&mut self) -> Result<Option<ChunkEnd>, ChunkError> {
        let now = (self.worker.clock)();
        let over = now >= self.deadline && self.tally.position > self.began_at;
        let due = now.millis_since(self.committed_at) >= COMMIT_MS || self.tally.is_large();
        if !self.tally.is_empty() && (over || due) {
            match self.commit(false).await? {
                Ok(group) => self.stop_if_intolerable(&group).await?,
                Err(end) => return Ok(Some(end)),
            }
        }
        if over {
            // A chunk that is being given up stays so.
            let failures = if self.mode == Mode::GiveUp { self.message.failures } else { 0 };
            let message = ChunkMessage { failures, ..self.message.clone() };
            self.worker.ports.queues.send_chunks(&[message], 0).await?;
            return Ok(Some(ChunkEnd::Continued));
        }
        if now.millis_since(self.looked_at) >= LOOK_MS {
            self.looked_at = now;
            let job = self.worker.ports.store.job(self.message.job_id).await?;
            if !job.is_some_and(|job| job.is_live() && job.generation == self.job.generation) {
                return Ok(Some(ChunkEnd::NotLive));
            }
        }
        Ok(None)
    }

    /// The outcomes of the next items; `None` if the handler panicked over several: one of them is the culprit, and
    /// offered one by one it fails alone.
    async fn outcomes(&self, items: &Items, batch: usize) -> Result<Option<Vec<Outcome>>, ChunkError> {
        let count = batch.min(items.len() - self.tally.position);
        if self.mode == Mode::GiveUp {
            return Ok(Some(vec![Outcome::Reject(reasons::dead_lettered()); count]));
        }
        let Some(prepared) = self.known.prepared.as_ref() else {
            let (job_type, reason) = (self.job.job_type.clone(), "it was read without its handler".to_owned());
            return Err(ChunkError::Definition { job_type, reason });
        };
        let here = self.tally.position;
        if items.is_too_long(here) {
            return Ok(Some(vec![Outcome::Reject(reasons::row_too_long(self.known.limits().item_bytes))]));
        }
        let count = (here..here + count).take_while(|i| !items.is_too_long(*i)).count();
        let context = JobContext { job_id: self.message.job_id, tenant: self.job.tenant.clone(), round: self.round() };
        let raw: Vec<_> = (here..here + count).map(|i| items.item(i, self.job.source.as_ref(), self.known)).collect();
        match AssertUnwindSafe(prepared.run(&context, &raw)).catch_unwind().await {
            Ok(outcomes) if outcomes.is_empty() || outcomes.len() > count => {
                Err(ChunkError::Handler { outcomes: outcomes.len(), items: count })
            }
            Ok(outcomes) => Ok(Some(outcomes)),
            Err(_) if count > 1 => Ok(None),
            Err(_) => Ok(Some(vec![Outcome::Reject(reasons::handler_panicked())])),
        }
    }

    /// The one conditional write, and before it the file that it vouches for.
    async fn commit(&mut self, end_of_round: bool) -> Result<Result<Box<Group>, ChunkEnd>, ChunkError> {
        self.commits += 1;
        let token = Cursor::token(&self.nonce, self.commits);
        let file = self.write_entries(&token).await?;
        let at = (self.worker.clock)();
        let to = self.next_cursor(token, file, end_of_round, at);
        let commit =
            Commit { chunk: self.message.chunk, from: self.cursor.take(), to, counts: self.tally.take_counts(), at };
        let outcome = self.worker.ports.store.commit(self.message.job_id, self.message.group, &commit).await?;
        self.cursor = Some(commit.to);
        self.committed_at = at;
        Ok(end_of(outcome))
    }

    async fn write_entries(&mut self, token: &str) -> Result<Option<String>, ChunkError> {
        let prev = self.cursor.as_ref().and_then(|c| c.file.clone());
        let Some(entries) = self.tally.take_entries() else { return Ok(prev) };
        let (files, folder) = (&self.worker.ports.files, JobFolder::for_job(self.job));
        let place = (self.message.group, self.message.chunk);
        if let (None, Some(prev)) = (&self.header, &prev) {
            self.header = read_header(files, folder, place, prev).await;
        }
        let header = Header::behind(self.round(), prev, self.header.as_ref());
        let (file, key) = (WorkFile { header, entries }, folder.work_key(place, token));
        let bytes = file.to_bytes().map_err(|source| ChunkError::WorkFile { key: key.clone(), source })?;
        files.write(&key, "application/x-ndjson", bytes).await?;
        self.header = Some(file.header);
        Ok(Some(token.to_owned()))
    }

    fn next_cursor(&self, token: String, file: Option<String>, end_of_round: bool, now: Timestamp) -> Cursor {
        let (round, deferred) = (self.round(), self.tally.deferred);
        let due = self.cursor.as_ref().and_then(|c| c.due);
        let position = u32::try_from(self.tally.position).unwrap_or(u32::MAX);
        let here = Cursor { round, position, token, file, deferred, due, finished: false, by_sweeper: false };
        match (end_of_round, deferred) {
            (false, _) => here,
            (true, 0) => Cursor { position: 0, finished: true, ..here },
            (true, _) => {
                let step = self.tally.attempts.clamp(1, round + 1);
                let due = retry::due(now, step, self.worker.retry_base_s, fraction(), self.tally.asked_s);
                let by_sweeper = retry::queue_delay_s(now, due).is_none();
                Cursor { round: round + 1, position: 0, deferred: 0, due: Some(due), by_sweeper, ..here }
            }
        }
    }

    fn round(&self) -> u32 {
        self.cursor.as_ref().map_or(0, |c| c.round)
    }

    async fn end_round(mut self) -> Result<ChunkEnd, ChunkError> {
        let group = match self.commit(true).await? {
            Ok(group) => group,
            Err(end) => return Ok(end),
        };
        if group.is_done() {
            roll_up(self.worker.ports, self.message.job_id, self.message.group, (self.worker.clock)()).await?;
        }
        self.stop_if_intolerable(&group).await?;
        match self.cursor.as_ref().filter(|cursor| !cursor.finished) {
            None => Ok(ChunkEnd::Finished),
            Some(cursor) => self.send_round(cursor).await,
        }
    }

    async fn send_round(&self, cursor: &Cursor) -> Result<ChunkEnd, ChunkError> {
        let due = cursor.due.filter(|_| !cursor.by_sweeper && self.mode == Mode::Work);
        if let Some(delay_s) = due.and_then(|due| retry::queue_delay_s((self.worker.clock)(), due)) {
            let message = ChunkMessage { inline: None, failures: 0, ..self.message.clone() };
            self.worker.ports.queues.send_chunks(&[message], delay_s).await?;
        }
        Ok(ChunkEnd::NextRound)
    }

    /// The job is stopped first: whoever dies between a commit that passes over the item and the order to stop would
    /// leave a job that goes on. If the commit comes too late, the item is one of the unprocessed.
    async fn fatal(mut self, rejection: Rejection) -> Result<ChunkEnd, ChunkError> {
        let stop = failed(JobError::new(rejection.code, rejection.message), (self.worker.clock)());
        stop_job(self.worker.ports, self.job, &stop).await?;
        self.commit(false).await?.map_or_else(Ok, |_| Ok(ChunkEnd::NotLive))
    }

    /// Whoever commits failures sums the groups, if the job tolerates only so many. Completion decides again.
    async fn stop_if_intolerable(&self, group: &Group) -> Result<(), ChunkError> {
        if group.counts.failed == 0 || !self.job.tolerance.is_set() {
            return Ok(());
        }
        let (id, first) = (self.message.job_id, self.job.retry.carried_over.groups);
        let Some((groups, job)) = self.worker.ports.store.progress_from(id, first).await? else { return Ok(()) };
        if !job.is_live() || job.all_done() || job.generation != self.job.generation {
            return Ok(());
        }
        if let Some(error) = job.tolerance.exceeded(progress::counts(&job, &groups), false) {
            stop_job(self.worker.ports, self.job, &failed(error, (self.worker.clock)())).await?;
        }
        Ok(())
    }
}

fn next_batch(batch: usize, limit: usize, took_ms: i64) -> usize {
    let next = if took_ms * 2 < BATCH_MS {
        batch * 4
    } else if took_ms > BATCH_MS {
        batch / 2
    } else {
        batch
    };
    next.clamp(1, limit.max(1))
}

fn failed(error: JobError, at: Timestamp) -> Stop {
    Stop { status: Status::Failed, error: Some(error), at }
}
