//! The rows of one chunk: the items in its work files, and the items that have not ended.

use std::ops::Range;

use longshore::chunk::{ChunkError, OpenItems, open_items, read_chain};
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{Files, Read};
use longshore_domain::records::records;
use longshore_domain::work_file::{End, Entry};

use crate::CompleteError;

/// A chunk whose group is closed or done.
#[derive(Copy, Clone, Debug)]
pub(super) struct Chunk<'a> {
    pub(super) id: ChunkId,
    /// Committed position, if any.
    pub(super) cursor: Option<&'a Cursor>,
    /// Plan of the chunk, if some of its items may not have ended.
    pub(super) plan: Option<&'a ChunkPlan>,
    /// Approximate bytes in memory.
    pub(super) bytes: u64,
}

/// Rows of one chunk in the report, in the order of the items.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct ChunkRows {
    /// Failed and skipped items.
    pub(super) ended: Vec<Entry>,
    /// Numbers of the items that have not ended, and the ranges of their bytes.
    pub(super) open: Vec<(u64, Range<usize>)>,
    /// Bytes of the items that have not ended: one block for all of them.
    bytes: Vec<u8>,
    /// True if the source can no longer be read: the open items have a number, but no bytes.
    pub(super) source_gone: bool,
}

impl ChunkRows {
    /// Returns numbers and bytes of the items that have not ended.
    pub(super) fn open(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.open.iter().map(|(number, range)| (*number, &self.bytes[range.clone()]))
    }

    fn push(&mut self, number: u64, raw: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(raw);
        self.open.push((number, start..self.bytes.len()));
    }
}

/// A reader of the chunks of one job.
pub(super) struct ChunkReader<'a, F> {
    pub(super) files: &'a F,
    pub(super) folder: JobFolder<'a>,
    pub(super) source: Option<&'a SourceFile>,
    /// The only item of a job without a file.
    pub(super) options: &'a [u8],
}

impl<F: Files> ChunkReader<'_, F> {
    /// Reads a chunk's work files, and its range of the source if some of its items are unread.
    ///
    /// # Errors
    /// If the bucket fails, a work file is missing or damaged, or the range does not match the plan.
    pub(super) async fn read(&self, chunk: Chunk<'_>) -> Result<ChunkRows, CompleteError> {
        let ChunkId { group, chunk: number } = chunk.id;
        self.rows(chunk).await.map_err(|source| CompleteError::Chunk { group, chunk: number, source })
    }

    async fn rows(&self, chunk: Chunk<'_>) -> Result<ChunkRows, ChunkError> {
        let last = chunk.cursor.and_then(|c| c.file.as_deref());
        let chain = read_chain(self.files, self.folder.chunk(chunk.id), last, 0).await?;
        let mut rows = ChunkRows::default();
        if let Some(plan) = chunk.plan {
            let OpenItems { unread_from, deferred } = open_items(chunk.cursor, &chain);
            if let Some(position) = unread_from {
                self.unread(plan, position as usize, &mut rows).await?;
            }
            deferred.into_iter().for_each(|entry| rows.push(entry.n, entry.raw.as_bytes()));
            rows.open.sort_unstable_by_key(|(n, _)| *n);
        }
        let entries = chain.into_iter().flat_map(|file| file.entries);
        rows.ended.extend(entries.filter(|entry| !matches!(entry.end, End::Transient { .. })));
        rows.ended.sort_unstable_by_key(|entry| entry.n);
        Ok(rows)
    }

    /// Reads the records of the chunk from `position` on, for which no work was committed.
    async fn unread(&self, plan: &ChunkPlan, position: usize, rows: &mut ChunkRows) -> Result<(), ChunkError> {
        let numbers = plan.first..plan.first + u64::from(plan.items);
        let Some(source) = self.source else {
            numbers.skip(position).for_each(|n| rows.push(n, self.options));
            return Ok(());
        };
        let read = if plan.oversize { Read::Absent } else { self.range(source, plan).await? };
        let Read::Found(bytes) = read else {
            rows.source_gone = !plan.oversize;
            numbers.skip(position).for_each(|n| rows.push(n, &[]));
            return Ok(());
        };
        let mut found = 0;
        rows.open.reserve((plan.items as usize).saturating_sub(position));
        for (number, span) in (plan.first..).zip(records(source.format, &bytes)) {
            if found >= position {
                rows.open.push((number, span.start as usize..span.content_end as usize));
            }
            found += 1;
        }
        rows.bytes = bytes;
        if found != plan.items as usize {
            return Err(ChunkError::Plan { found, planned: plan.items });
        }
        Ok(())
    }

    async fn range(&self, source: &SourceFile, plan: &ChunkPlan) -> Result<Read<Vec<u8>>, ChunkError> {
        Ok(self.files.read(&source.key, Some(&source.etag), Some(plan)).await?)
    }
}
