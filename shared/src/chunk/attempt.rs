//! One attempt at a chunk's round: batch after batch to the handler, a commit every second and at the end.

use std::mem;
use std::panic::AssertUnwindSafe;

use futures::FutureExt;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, Group};
use longshore_domain::ids::{fraction, nonce};
use longshore_domain::job::{Job, JobError, Status, Stop};
use longshore_domain::message::ChunkMessage;
use longshore_domain::outcome::{Counts, Outcome, Rejection};
use longshore_domain::ports::{ChunkState, Files, Queues, Store};
use longshore_domain::progress;
use longshore_domain::retry;
use longshore_domain::time_stamp::Timestamp;
use longshore_domain::work_file::{End, Entry, Header, WorkFile};

use super::items::{Found, Items, find};
use super::{ChunkEnd, ChunkError, KnownJob, Mode, Worker, end_of, roll_up, stop_job};
use crate::handler::JobContext;
use crate::ports::work_key;

/// Between two commits: progress moves once a second, at one write unit.
const COMMIT_MS: i64 = 1_000;
/// Between two looks whether the job still runs: no item starts later than 3 s after the last look.
const LOOK_MS: i64 = 1_500;
/// Filed and failed rows kept in memory until the next commit.
const ENTRY_BYTES: usize = 2 << 20;
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
    // What has been done since the last commit.
    position: usize,
    counts: Counts,
    filed: u32,
    entries: Vec<Entry>,
    entry_bytes: usize,
    asked_s: i64,
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
            position: cursor.as_ref().map_or(0, |c| c.position as usize),
            filed: cursor.as_ref().map_or(0, |c| c.filed),
            worker,
            message,
            job: &state.job,
            known,
            mode,
            deadline,
            nonce: nonce(),
            commits: 0,
            cursor,
            counts: Counts::default(),
            entries: Vec::new(),
            entry_bytes: 0,
            asked_s: 0,
            committed_at: now,
            looked_at: now,
        }
    }

    pub(super) async fn run(mut self) -> Result<ChunkEnd, ChunkError> {
        let ports = self.worker.ports;
        let options = &self.known.definition.options;
        let items =
            match find(&ports.files, self.message, self.cursor.as_ref(), self.job.source.as_ref(), options).await? {
                Found::Items(items) => items,
                Found::SourceGone(error) => {
                    stop_job(ports, self.message.job_id, &failed(error, (self.worker.clock)())).await?;
                    return Ok(ChunkEnd::NotLive);
                }
            };
        let mut batch = 16;
        while self.position < items.len() {
            if let Some(end) = self.pause().await? {
                return Ok(end);
            }
            let began = (self.worker.clock)();
            let Some(outcomes) = self.outcomes(&items, batch).await? else {
                batch = 1;
                continue;
            };
            batch = next_batch(batch, self.known.limits().batch_items, (self.worker.clock)().millis_since(began));
            if let Some(rejection) = self.take(&items, outcomes) {
                return self.fatal(rejection).await;
            }
        }
        self.end_round().await
    }

    /// Between batches: commit if it is time, see whether the job still runs, stop before the function's deadline.
    async fn pause(&mut self) -> Result<Option<ChunkEnd>, ChunkError> {
        let now = (self.worker.clock)();
        let over = now >= self.deadline;
        let dirty = self.counts != Counts::default() || !self.entries.is_empty();
        let due = now.millis_since(self.committed_at) >= COMMIT_MS || self.entry_bytes >= ENTRY_BYTES;
        if dirty && (over || due) {
            match self.commit(false).await? {
                Ok(group) => self.stop_if_intolerable(&group).await?,
                Err(end) => return Ok(Some(end)),
            }
        }
        if over {
            self.worker.ports.queues.send_chunks(std::slice::from_ref(self.message), 0).await?;
            return Ok(Some(ChunkEnd::Continued));
        }
        if now.millis_since(self.looked_at) >= LOOK_MS {
            self.looked_at = now;
            let job = self.worker.ports.store.job(self.message.job_id).await?;
            if !job.is_some_and(|job| job.is_live()) {
                return Ok(Some(ChunkEnd::NotLive));
            }
        }
        Ok(None)
    }

    /// The outcomes of the next items; `None` if the handler panicked over several: one of them is the culprit, and
    /// offered one by one it fails alone.
    async fn outcomes(&self, items: &Items, batch: usize) -> Result<Option<Vec<Outcome>>, ChunkError> {
        let count = batch.min(items.len() - self.position);
        let Some(prepared) = self.known.prepared.as_ref().filter(|_| self.mode == Mode::Work) else {
            return Ok(Some(vec![Outcome::Reject(dead_lettered()); count]));
        };
        if items.oversize {
            return Ok(Some(vec![Outcome::Reject(oversize(self.known.limits().item_bytes))]));
        }
        let context = JobContext {
            job_id: self.message.job_id,
            tenant: self.job.tenant.clone(),
            round: self.cursor.as_ref().map_or(0, |c| c.round),
        };
        let range = self.position..self.position + count;
        let raw: Vec<_> = range.map(|i| items.item(i, self.job.source.as_ref(), self.known)).collect();
        match AssertUnwindSafe(prepared.run(&context, &raw)).catch_unwind().await {
            Ok(outcomes) if outcomes.is_empty() || outcomes.len() > count => {
                Err(ChunkError::Handler { outcomes: outcomes.len(), items: count })
            }
            Ok(outcomes) => Ok(Some(outcomes)),
            Err(_) if count > 1 => Ok(None),
            Err(_) => Ok(Some(vec![Outcome::Reject(panicked())])),
        }
    }

    /// Counts outcomes and files what did not succeed; the rejection if one was fatal.
    fn take(&mut self, items: &Items, outcomes: Vec<Outcome>) -> Option<Rejection> {
        for outcome in outcomes {
            let i = self.position;
            self.position += 1;
            let end = match outcome {
                Outcome::Ok => {
                    self.counts.succeeded += 1;
                    continue;
                }
                Outcome::Skip { reason } => End::Skipped { reason },
                Outcome::Reject(rejection) => End::Failed(rejection),
                Outcome::Retry { after, reason } => {
                    self.asked_s =
                        self.asked_s.max(after.map_or(0, |a| i64::try_from(a.as_secs()).unwrap_or(i64::MAX)));
                    self.transient(items.attempts(i) + 1, reason)
                }
                Outcome::Fatal(rejection) => {
                    self.file(items, i, End::Failed(rejection.clone()));
                    return Some(rejection);
                }
            };
            self.file(items, i, end);
        }
        None
    }

    fn transient(&self, attempts: u32, reason: String) -> End {
        if attempts <= self.known.limits().item_retries {
            return End::Transient { attempts, reason };
        }
        End::Failed(Rejection::new(
            "retries_exhausted",
            None,
            format!("tried {attempts} times; the last time: {reason}"),
        ))
    }

    fn file(&mut self, items: &Items, i: usize, end: End) {
        match &end {
            End::Failed(_) => self.counts.failed += 1,
            End::Skipped { .. } => self.counts.skipped += 1,
            End::Transient { .. } => self.filed += 1,
        }
        let raw = String::from_utf8_lossy(items.raw(i)).into_owned();
        self.entry_bytes += raw.len() + 100;
        self.entries.push(Entry { n: items.number(i), end, raw });
    }

    /// The one conditional write, and before it the file that it vouches for.
    async fn commit(&mut self, end_of_round: bool) -> Result<Result<Box<Group>, ChunkEnd>, ChunkError> {
        self.commits += 1;
        let token = Cursor::token(&self.nonce, self.commits);
        let file = self.write_entries(&token).await?;
        let at = (self.worker.clock)();
        let to = self.next_cursor(token, file, end_of_round, at);
        let commit =
            Commit { chunk: self.message.chunk, from: self.cursor.take(), to, counts: mem::take(&mut self.counts), at };
        let outcome = self.worker.ports.store.commit(self.message.job_id, self.message.group, &commit).await?;
        self.cursor = Some(commit.to);
        self.committed_at = at;
        Ok(end_of(outcome))
    }

    async fn write_entries(&mut self, token: &str) -> Result<Option<String>, ChunkError> {
        let prev = self.cursor.as_ref().and_then(|c| c.file.clone());
        if self.entries.is_empty() {
            return Ok(prev);
        }
        let round = self.cursor.as_ref().map_or(0, |c| c.round);
        let file = WorkFile { header: Header { round, prev }, entries: mem::take(&mut self.entries) };
        self.entry_bytes = 0;
        let key = work_key(self.message.job_id, self.message.group, self.message.chunk, token);
        let bytes = file.to_bytes().map_err(|source| ChunkError::WorkFile { key: key.clone(), source })?;
        self.worker.ports.files.write(&key, "application/x-ndjson", bytes).await?;
        Ok(Some(token.to_owned()))
    }

    fn next_cursor(&self, token: String, file: Option<String>, end_of_round: bool, now: Timestamp) -> Cursor {
        let round = self.cursor.as_ref().map_or(0, |c| c.round);
        let due = self.cursor.as_ref().and_then(|c| c.due);
        let position = u32::try_from(self.position).unwrap_or(u32::MAX);
        let here = Cursor { round, position, token, file, filed: self.filed, due, finished: false };
        match (end_of_round, self.filed) {
            (false, _) => here,
            (true, 0) => Cursor { position: 0, finished: true, ..here },
            (true, _) => {
                let due = retry::due(now, round + 1, self.worker.retry_base_s, fraction(), self.asked_s);
                Cursor { round: round + 1, position: 0, filed: 0, due: Some(due), ..here }
            }
        }
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
        match self.cursor.as_ref().and_then(|c| c.due.filter(|_| !c.finished)) {
            None => Ok(ChunkEnd::Finished),
            Some(due) => self.send_round(due).await,
        }
    }

    async fn send_round(&self, due: Timestamp) -> Result<ChunkEnd, ChunkError> {
        let delay_s = retry::queue_delay_s((self.worker.clock)(), due);
        if let Some(delay_s) = delay_s.filter(|_| self.mode == Mode::Work) {
            let message = ChunkMessage { inline: None, ..self.message.clone() };
            self.worker.ports.queues.send_chunks(&[message], delay_s).await?;
        }
        Ok(ChunkEnd::NextRound)
    }

    /// The item's failure is committed, then the job is stopped: its other items are unprocessed.
    async fn fatal(mut self, rejection: Rejection) -> Result<ChunkEnd, ChunkError> {
        if let Err(end) = self.commit(false).await? {
            return Ok(end);
        }
        let stop = failed(JobError::new(rejection.code, rejection.message), (self.worker.clock)());
        stop_job(self.worker.ports, self.message.job_id, &stop).await?;
        Ok(ChunkEnd::NotLive)
    }

    /// Whoever commits failures sums the groups, if the job tolerates only so many. Completion decides again.
    async fn stop_if_intolerable(&self, group: &Group) -> Result<(), ChunkError> {
        if group.counts.failed == 0 || !self.job.tolerance.is_set() {
            return Ok(());
        }
        let Some((groups, job)) = self.worker.ports.store.progress(self.message.job_id).await? else { return Ok(()) };
        if !job.is_live() || job.all_done() {
            return Ok(());
        }
        if let Some(error) = job.tolerance.exceeded(progress::sum(&groups), false) {
            stop_job(self.worker.ports, self.message.job_id, &failed(error, (self.worker.clock)())).await?;
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

fn dead_lettered() -> Rejection {
    let message = "the workers that tried this row's chunk died or failed again and again; the message is in the dead-letter queue";
    Rejection::new("dead_lettered", None, message)
}

fn panicked() -> Rejection {
    Rejection::new("handler_panicked", None, "the handler panicked over this row; its log says where")
}

fn oversize(limit_bytes: u64) -> Rejection {
    let message = format!(
        "the row is longer than {} MiB, the most that one row may be; it is not repeated here",
        limit_bytes >> 20
    );
    Rejection::new("row_too_long", None, message)
}
