//! One pass over the source: from blocks to records, chunks and groups.

use longshore::chunk::{source_changed, source_missing};
use longshore::files::ResumingReader;
use longshore_domain::group::{ChunkPlan, GroupPlan};
use longshore_domain::job::{Job, JobError, SourceFile};
use longshore_domain::ports::{Files, Queues, Read, Store};
use longshore_domain::records::Cutter;
use longshore_domain::split::{ChunkLimits, Chunker, Growth, INLINE_BYTES};

use crate::group_builder::GroupBuilder;
use crate::inline_rows::InlineRows;
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
            cutter: Cutter::starting_at(source.format, start),
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
        let plan = GroupPlan::from_file(self.job.generation, manifest, self.committed..upto);
        self.splitter.commit(self.job, &plan, |plan| rows?.rows_of(plan)).await?;
        if let Some(rows) = &mut self.rows {
            rows.sent();
        }
        (self.groups, self.committed) = (self.groups + 1, upto);
        Ok(())
    }
}
