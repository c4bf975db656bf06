//! Retry of failed rows: replans the remaining items of the previous generation, chunk by chunk, into groups of the
//! new one.
//!
//! A chunk that was never started is taken over unchanged. The failed and the deferred items of the other chunks are
//! collected in work files. Each file is one new chunk, whose cursor is at the start of a round over that file: a
//! worker processes its items like items that it deferred itself. An item that no retry can fix stays failed, like an
//! item that a corrected file or a replay of dead letters does not select.
//!
//! Resumes from the job's own position: committed chunks are skipped. A work file whose group was never committed is
//! never read.

use longshore::chunk::{EndedChunk, Remaining, RemainingError, read_remaining, roll_up};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Group, SplitStep};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;
use longshore_domain::ports::{Files, JobProgress, Queues, Store};
use longshore_domain::split::{ChunkLimits, Growth};
use longshore_domain::timestamp::Timestamp;

use crate::outcome::{Halt, SplitError};
use crate::replanned_chunks::ReplannedChunks;
use crate::retry_selection::RetrySelection;
use crate::splitter::Splitter;

/// New chunks that an old chunk may need in its group: one for its unread items, and one for a file.
const NEW_CHUNKS_PER_CHUNK: usize = 2;

/// One pass over the previous generation.
pub(crate) struct RetryPlanner<'a, S, Q, F> {
    splitter: &'a Splitter<'a, S, Q, F>,
    job: Job,
    limits: ChunkLimits,
    /// Items that neither succeeded nor were skipped before.
    remaining: u64,
    deadline: Timestamp,
    retry_selection: RetrySelection,
    /// Position of the job after the last group of this pass.
    committed: ChunkId,
    /// The next group.
    planned: ReplannedChunks,
}

impl<'a, S: Store, Q: Queues, F: Files> RetryPlanner<'a, S, Q, F> {
    pub(crate) fn new(splitter: &'a Splitter<'a, S, Q, F>, job: Job, limits: ChunkLimits, deadline: Timestamp) -> Self {
        // Chunk sizes as for a file with only the remaining items, so that few items are spread over workers as well.
        let remaining = job.split.item_count.saturating_sub(job.retry.carried_over.counts.done());
        let size_bytes = job.file().map_or(0, |source| source.size_bytes);
        let remaining_bytes = (size_bytes as f64 * remaining as f64 / job.split.item_count.max(1) as f64) as u64;
        let limits = limits.for_file(remaining_bytes);
        let (committed, retry_selection) = (job.retry.replanned, RetrySelection::All);
        let planned = ReplannedChunks::default();
        Self { splitter, job, limits, remaining, deadline, retry_selection, committed, planned }
    }

    /// Limits the failed items that run again to this selection.
    pub(crate) fn select(self, retry_selection: RetrySelection) -> Self {
        Self { retry_selection, ..self }
    }

    /// Replans everything, and returns the job.
    pub(crate) async fn run(mut self) -> Result<Job, Halt> {
        let (from, end) = (self.job.retry.replanned, self.job.retry.carried_over.groups);
        if from.group >= end {
            return Ok(self.job);
        }
        let store = &self.splitter.ports.store;
        let JobProgress { groups, .. } =
            store.progress_from(self.job.job_id, from.group).await?.ok_or(Halt::Refused)?;
        for number in from.group..end {
            let group = groups.iter().find(|group| group.number == number).ok_or(Halt::Refused)?;
            if has_no_remaining(group) {
                continue;
            }
            let manifest = store.manifest(self.job.job_id, number).await?;
            let manifest = manifest.ok_or(SplitError::ManifestMissing(number))?;
            let first = if number == from.group { from.chunk } else { 0 };
            for (chunk, plan) in (0..).zip(&manifest.chunks).skip(first as usize) {
                self.replan_chunk(group, chunk, plan).await?;
                let turn_over = (self.splitter.clock)() >= self.deadline;
                // With few failures, a group is full only after very many reads. It is committed in time although it is
                // not full, and the next delivery continues after it.
                if turn_over || !self.planned.has_room(NEW_CHUNKS_PER_CHUNK) {
                    let committed = self.commit(ChunkId { group: number, chunk: chunk + 1 }).await?;
                    if turn_over && committed {
                        return Err(Halt::End(
                            self.splitter.send_continuation(&self.job, self.job.split.groups).await?,
                        ));
                    }
                }
            }
        }
        self.commit(ChunkId { group: end, chunk: 0 }).await?;
        Ok(self.job)
    }

    async fn replan_chunk(&mut self, group: &Group, chunk: u32, plan: &ChunkPlan) -> Result<(), Halt> {
        let cursor = group.cursors.get(&chunk);
        if cursor.is_some_and(Cursor::has_nothing_left) {
            return Ok(());
        }
        let files = &self.splitter.ports.files;
        let id = ChunkId::new(group.number, chunk);
        let Remaining { entries, unread } =
            match read_remaining(files, &self.job, EndedChunk { id, cursor, plan }).await {
                Ok(remaining) => remaining,
                Err(RemainingError::Source(error)) => return Err(self.splitter.fail(&self.job, error).await),
                Err(RemainingError::Chunk(error)) => return Err(error.into()),
            };
        unread.into_iter().for_each(|plan| self.planned.push_plan(plan));
        if let RetrySelection::Dead(items) = &mut self.retry_selection {
            self.splitter.read_dead_letters(&self.job, id, &entries, items).await?;
        }
        for entry in entries {
            self.planned.push(self.retry_selection.replan(entry));
            if self.planned.is_full(self.chunk_limits()) {
                self.write_work_file().await?;
            }
        }
        Ok(())
    }

    /// Returns the limits of the next chunk.
    fn chunk_limits(&self) -> ChunkLimits {
        let (job, growth) = (&self.job, Growth::from_job(&self.job));
        let corrected = job.retry.selection.corrected().map_or(0, |file| file.size_bytes);
        growth.replanned(self.limits, self.remaining, growth.size_bytes + corrected)
    }

    async fn write_work_file(&mut self) -> Result<(), Halt> {
        self.planned.write_file(&self.splitter.ports.files, &self.job).await
    }

    /// Commits the new chunks as a group; returns false if there are none. In that case, the position does not move,
    /// and at most the remaining part of one group was read without a result, because every further group has remaining
    /// items.
    async fn commit(&mut self, upto: ChunkId) -> Result<bool, Halt> {
        self.write_work_file().await?;
        if self.planned.is_empty() {
            return Ok(false);
        }
        let plan = self.planned.take(&self.job, SplitStep::Replanned { from: self.committed, upto });
        self.job = self.splitter.commit(&self.job, &plan, |_| None).await?;
        self.committed = upto;
        let now = (self.splitter.clock)();
        if Group::from_plan(&plan, now).is_done() {
            roll_up(self.splitter.ports, self.job.job_id, plan.manifest.group, now).await?;
        }
        Ok(true)
    }
}

/// Returns true if every item of the group succeeded or was skipped. The work files of such a group are not read: a
/// turn that reads many files and finds nothing does not move the position, so the next turn would read them again.
fn has_no_remaining(group: &Group) -> bool {
    group.is_done() && group.counts.failed == 0
}
