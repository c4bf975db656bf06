//! One pass over the source: from blocks to records, chunks and groups. The rows of small chunks are sent in their
//! messages; the memory for them is bounded by one group's rows.

use std::collections::BTreeMap;

use longshore::chunk::{source_changed, source_missing};
use longshore::files::ResumingReader;
use longshore_domain::group::{ChunkPlan, GroupPlan};
use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{Files, Queues, Read, Store};
use longshore_domain::records::Cutter;
use longshore_domain::split::{ChunkLimits, Chunker, Growth, INLINE_BYTES};

use crate::group_builder::{GroupBuilder, MESSAGE_ROWS_BYTES};
use crate::outcome::{Halt, SplitEnd};
use crate::splitter::{Splitter, Turn};

/// Outcome of a block.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
enum BlockEnd {
    /// The next block can be processed.
    Continue,
    /// The turn is over, and everything so far is committed.
    TurnOver,
}

/// One pass over the source.
pub(crate) struct Pass<'a, S, Q, F> {
    splitter: &'a Splitter<'a, S, Q, F>,
    job: &'a Job,
    source: &'a SourceFile,
    start: u64,
    cutter: Cutter,
    chunker: Chunker,
    group: GroupBuilder,
    groups: u32,
    /// Split offset of the job after the last group of this pass.
    committed: u64,
    turn: Turn,
    /// Rows that are sent in messages; `None` unless the chunks are small enough.
    rows: Option<InlineRows>,
}

impl<'a, S: Store, Q: Queues, F: Files> Pass<'a, S, Q, F> {
    pub(crate) fn new(
        splitter: &'a Splitter<'a, S, Q, F>,
        job: &'a Job,
        source: &'a SourceFile,
        limits: ChunkLimits,
        start: u64,
        turn: Turn,
    ) -> Self {
        Self {
            splitter,
            job,
            source,
            start,
            cutter: source.cutter(start),
            chunker: Chunker::new(limits, job.split.item_count + 1).growing(Growth::from_job(job)),
            group: GroupBuilder::new(job.split.groups),
            groups: job.split.groups,
            committed: job.split.offset,
            turn,
            rows: (limits.bytes <= INLINE_BYTES).then(|| InlineRows::starting_at(start)),
        }
    }

    pub(crate) async fn run(mut self, issues: &[JobError]) -> Result<SplitEnd, Halt> {
        let mut reader = ResumingReader::new(&self.splitter.ports.files, self.source, self.start);
        loop {
            match reader.next().await? {
                Read::Found(None) => return self.finish(issues).await,
                Read::Found(Some(block)) => {
                    if self.process_block(&block).await? == BlockEnd::TurnOver {
                        return self.splitter.send_continuation(self.job, self.groups).await;
                    }
                }
                Read::Absent => return Err(self.splitter.fail(self.job, source_missing(self.source)).await),
                Read::Changed => return Err(self.splitter.fail(self.job, source_changed(self.source)).await),
            }
        }
    }

    /// Cuts a block into chunks, and commits the groups that are full.
    async fn process_block(&mut self, block: &[u8]) -> Result<BlockEnd, Halt> {
        if let Some(rows) = &mut self.rows {
            rows.extend(block);
        }
        let (mut plans, chunker) = (Vec::new(), &mut self.chunker);
        self.cutter.feed(block, &mut |span| chunker.push(span, &mut |plan| plans.push(plan)));
        for plan in plans {
            self.push(plan);
            if self.group.is_full() {
                self.commit_group().await?;
                if (self.splitter.clock)() >= self.turn.ends {
                    return Ok(BlockEnd::TurnOver);
                }
            }
        }
        if let Some(rows) = &mut self.rows {
            let open = self.chunker.open_since().or(self.cutter.open_since());
            rows.drop_before(open.unwrap_or(self.cutter.offset()));
        }
        Ok(BlockEnd::Continue)
    }

    fn push(&mut self, plan: ChunkPlan) {
        if let Some(rows) = &mut self.rows {
            rows.cut(&plan);
        }
        self.group.push(plan);
    }

    async fn finish(mut self, issues: &[JobError]) -> Result<SplitEnd, Halt> {
        let (mut plans, chunker) = (Vec::new(), &mut self.chunker);
        if let Some(span) = self.cutter.finish() {
            chunker.push(span, &mut |plan| plans.push(plan));
        }
        plans.extend(chunker.finish());
        for plan in plans {
            self.push(plan);
            if self.group.is_full() {
                self.commit_group().await?;
            }
        }
        if !self.group.is_empty() {
            self.commit_group().await?;
        }
        if let Some(import) = self.job.undo.undoes {
            let deadline = self.turn.deadline;
            return self.splitter.plan_replanned_rows(self.job, self.groups, import, issues, deadline).await;
        }
        let mut issues = issues.to_vec();
        if self.groups == 0 {
            issues.push(JobError::new("no_rows", "the file has a header but no rows"));
        }
        self.splitter.end(self.job, self.groups, &issues, self.turn.deadline).await
    }

    async fn commit_group(&mut self) -> Result<(), Halt> {
        let manifest = self.group.take();
        let upto = manifest.chunks.last().map_or(self.start, |plan| plan.end);
        let rows = self.rows.as_ref();
        let reading = self.source.reading.filter(|_| self.groups == 0);
        let plan = GroupPlan::from_file(self.job.generation, manifest, self.committed..upto);
        let plan = GroupPlan { reading, ..plan };
        self.splitter.commit(self.job, &plan, |plan| rows?.rows_of(plan)).await?;
        if let Some(rows) = &mut self.rows {
            rows.sent();
        }
        (self.groups, self.committed) = (self.groups + 1, upto);
        Ok(())
    }
}

/// The rows of the chunks that are cut but not yet sent, and of the open chunk.
#[derive(Debug)]
struct InlineRows {
    /// The source from byte `from` on.
    tail: Vec<u8>,
    from: u64,
    /// Rows of chunks by their first byte.
    cut: BTreeMap<u64, Vec<u8>>,
}

impl InlineRows {
    fn starting_at(from: u64) -> Self {
        Self { tail: Vec::new(), from, cut: BTreeMap::new() }
    }

    /// Adds the next block of the source.
    fn extend(&mut self, block: &[u8]) {
        self.tail.extend_from_slice(block);
    }

    /// Keeps the rows of a cut chunk if they fit into its message.
    fn cut(&mut self, plan: &ChunkPlan) {
        if plan.oversize || plan.end - plan.start > MESSAGE_ROWS_BYTES || plan.start < self.from {
            return;
        }
        let range = (plan.start - self.from) as usize..(plan.end - self.from) as usize;
        if let Some(rows) = self.tail.get(range) {
            self.cut.insert(plan.start, rows.to_vec());
        }
    }

    /// Drops the bytes before the open chunk, and those of the open chunk too once it is too long for a message.
    fn drop_before(&mut self, open: u64) {
        let gone = (open.saturating_sub(self.from) as usize).min(self.tail.len());
        let gone = if (self.tail.len() - gone) as u64 > MESSAGE_ROWS_BYTES { self.tail.len() } else { gone };
        self.tail.drain(..gone);
        self.from += gone as u64;
    }

    /// Returns the rows of a chunk if they are sent in its message.
    fn rows_of(&self, plan: &ChunkPlan) -> Option<&[u8]> {
        self.cut.get(&plan.start).map(Vec::as_slice)
    }

    /// Drops the rows of the chunks that are sent.
    fn sent(&mut self) {
        self.cut.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(start: u64, end: u64) -> ChunkPlan {
        ChunkPlan::from_range(1, 1, start..end)
    }

    #[test]
    fn a_chunk_keeps_its_rows_until_it_is_sent() {
        let mut rows = InlineRows::starting_at(10);
        rows.extend(b"one\ntwo\nthr");
        rows.cut(&plan(10, 18));
        rows.drop_before(18);
        rows.extend(b"ee\n");
        rows.cut(&plan(18, 24));
        assert_eq!(rows.rows_of(&plan(10, 18)), Some(&b"one\ntwo\n"[..]));
        assert_eq!(rows.rows_of(&plan(18, 24)), Some(&b"three\n"[..]));
        rows.sent();
        assert_eq!(rows.rows_of(&plan(10, 18)), None);
    }

    #[test]
    fn the_rows_of_a_chunk_that_is_too_long_for_a_message_are_dropped() {
        let mut rows = InlineRows::starting_at(0);
        for _ in 0..1_000 {
            rows.extend(&[b'x'; 8_000]);
            rows.drop_before(0);
            assert!(rows.tail.len() as u64 <= MESSAGE_ROWS_BYTES);
        }
        rows.cut(&plan(0, 8_000_000));
        rows.drop_before(8_000_000);
        rows.extend(b"next\n");
        rows.cut(&plan(8_000_000, 8_000_005));
        assert_eq!(rows.rows_of(&plan(0, 8_000_000)), None);
        assert_eq!(rows.rows_of(&plan(8_000_000, 8_000_005)), Some(&b"next\n"[..]));
    }
}
