//! A commit of an attempt: the outputs and the work file, then the conditional write that refers to them.

use futures::future::try_join;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome, Group};
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::retry;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::work_file::{OutputSlice, WorkFile, WorkFileHeader};

use super::attempt::{Attempt, CommitPoint, Interrupt};
use super::chain::read_work_header;
use super::delivery::{ChunkEnd, ChunkError};
use super::tally::Lines;
use crate::crc64;
use crate::fingerprint::{Fingerprint, Fingerprinter};
use crate::metrics::{self, Metric};
use crate::ports::JobFolder;

/// Media type of work files and outputs.
const CONTENT_TYPE: &str = "application/x-ndjson";

impl<S: Store, Q: Queues, F: Files> Attempt<'_, S, Q, F> {
    /// Writes the work file, then the cursor that refers to it, by one conditional write.
    pub(super) async fn commit(&mut self, point: CommitPoint) -> Result<Box<Group>, Interrupt> {
        self.commits += 1;
        let token = Cursor::token(&self.nonce, self.commits);
        let file = self.write_files(&token).await?;
        let at = (self.worker.clock)();
        let to = self.next_cursor(token, file, point, at);
        let counts = self.tally.take_counts();
        let from = self.cursor.take();
        let is_first = from.is_none() && self.is_first_chunk();
        let commit = Commit { chunk: self.message.chunk, from, to, counts, usage: self.usage.take(at), at };
        let outcome = self.worker.ports.store.commit(self.message.job_id, self.message.group, &commit).await?;
        self.usage.committed();
        self.cursor = Some(commit.to);
        self.committed_at = at;
        match outcome {
            CommitOutcome::Committed(group) => {
                let job_type = [self.job.job_type.as_str()];
                metrics::count(Metric::ItemsSucceeded, &job_type, counts.succeeded);
                metrics::count(Metric::ItemsFailed, &job_type, counts.failed);
                metrics::count(Metric::ItemsSkipped, &job_type, counts.skipped);
                if is_first {
                    metrics::time(Metric::TimeToFirstProgress, &[], at.millis_since(self.job.times.queued_at()));
                }
                Ok(group)
            }
            CommitOutcome::Lost => {
                metrics::count(Metric::CommitConflicts, &[], 1);
                Err(Interrupt::End(ChunkEnd::Lost))
            }
            CommitOutcome::Closed => Err(Interrupt::End(ChunkEnd::NotLive)),
            CommitOutcome::Absent => Err(Interrupt::End(ChunkEnd::Absent)),
        }
    }

    /// Returns true if the chunk is the first one of its job, and the job is not a retry.
    fn is_first_chunk(&self) -> bool {
        self.job.generation == 0 && self.message.group == 0 && self.message.chunk == 0
    }

    /// Writes the entries and the outputs since the last commit, if there are any. Returns the token of the chunk's last
    /// work file.
    async fn write_files(&mut self, token: &str) -> Result<Option<String>, ChunkError> {
        let prev = self.cursor.as_ref().and_then(|c| c.file.clone());
        let (entries, outputs) = (self.tally.take_entries(), self.tally.take_outputs());
        if entries.is_none() && outputs.is_none() {
            return Ok(prev);
        }
        let (files, folder) = (&self.worker.ports.files, JobFolder::for_job(self.job).chunk(self.message.id()));
        if let (None, Some(prev)) = (&self.header, &prev) {
            self.header = read_work_header(files, folder, prev).await;
        }
        let mut header = WorkFileHeader::following(self.round(), prev, self.header.as_ref());
        header.outputs = outputs.as_ref().map(slice);
        header.due = self.tally.next_tries.earliest();
        let (file, key) = (WorkFile { header, entries: entries.unwrap_or_default() }, folder.work_key(token));
        let bytes = file.to_bytes().map_err(|source| ChunkError::WorkFile { key: key.clone(), source })?;
        // Neither counts before the commit, so their order does not matter.
        let write_outputs = async {
            match outputs {
                Some(outputs) => files.write(&folder.outputs_key(token), CONTENT_TYPE, outputs.bytes).await,
                None => Ok(()),
            }
        };
        try_join(write_outputs, files.write(&key, CONTENT_TYPE, bytes)).await?;
        self.header = Some(file.header);
        Ok(Some(token.to_owned()))
    }

    /// Adds the earliest next try of the items that earlier attempts of the round have deferred. If it is unknown, the
    /// next round begins at once, and defers again what is not due.
    pub(super) async fn continue_next_tries(&mut self) {
        let Some(cursor) = self.cursor.as_ref().filter(|cursor| cursor.deferred > 0) else { return };
        let (files, folder) = (&self.worker.ports.files, JobFolder::for_job(self.job).chunk(self.message.id()));
        if let Some(file) = &cursor.file {
            self.header = read_work_header(files, folder, file).await;
        }
        let due = self.header.as_ref().filter(|header| header.round == cursor.round).and_then(|header| header.due);
        self.tally.next_tries.not_before(due.unwrap_or((self.worker.clock)()));
    }

    fn next_cursor(&self, token: String, file: Option<String>, point: CommitPoint, now: Timestamp) -> Cursor {
        let (round, deferred) = (self.round(), self.tally.deferred);
        let due = self.cursor.as_ref().and_then(|c| c.due);
        let position = u32::try_from(self.tally.position).unwrap_or(u32::MAX);
        let cursor = Cursor { round, position, token, file, deferred, due, finished: false, by_sweeper: false };
        match (point, deferred) {
            (CommitPoint::InRound, _) => cursor,
            (CommitPoint::EndOfRound, 0) => Cursor { position: 0, finished: true, ..cursor },
            (CommitPoint::EndOfRound, _) => {
                let due = self.tally.next_tries.round_due(now);
                let by_sweeper = retry::queue_delay_s(now, due).is_none();
                Cursor { round: round + 1, position: 0, deferred: 0, due: Some(due), by_sweeper, ..cursor }
            }
        }
    }
}

/// Describes outputs in the header of their work file.
fn slice(outputs: &Lines) -> OutputSlice {
    let mut print = Fingerprinter::default();
    print.take(&outputs.bytes);
    let Fingerprint { size, sha256 } = print.finish();
    OutputSlice { rows: outputs.rows, bytes: size, sha256, crc64: crc64::of(&outputs.bytes) }
}
