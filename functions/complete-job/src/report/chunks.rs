//! The groups of a report in order, and the rows of their chunks: the items in their work files, and the items that
//! have not ended.

use std::collections::VecDeque;
use std::ops::Range;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use longshore::chunk::{CHAIN_READS, ChunkError, OpenItems, READ_BYTES, open_items, read_chain};
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{Files, Read, Store};
use longshore_domain::records::records;
use longshore_domain::work_file::{End, Entry, OutputSlice};

use crate::CompleteError;
use crate::ending::Ending;

/// Chunks that are read concurrently, to hide the bucket's latency, which matters for chunks with many work files.
const READS: usize = 32;

/// Minimum memory assumed for a chunk without a plan, for its work files.
const MIN_CHUNK_BYTES: u64 = 256 << 10;

/// The rows of a group that the report includes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Rows {
    /// The skipped rows and the results of a group of an earlier generation. Its failed and unfinished items were
    /// replanned.
    CarriedOver,
    /// All rows of a group whose items have all ended: only chunks with work files are read, and no plan is needed.
    Ended,
    /// All rows of a group that was closed before its end.
    All,
    /// The remaining items of an earlier generation that this one has not replanned, from this chunk on: unprocessed.
    Remaining(usize),
}

/// A group, and the rows of it that the report includes.
#[derive(Copy, Clone, Debug)]
pub(super) struct Unit<'a> {
    pub(super) group: &'a Group,
    pub(super) rows: Rows,
}

/// Returns all groups of a report, with or without results. The groups are closed or done, so the units are the same in
/// every invocation.
pub(super) fn units(ending: &Ending, with_results: bool) -> Result<Vec<Unit<'_>>, CompleteError> {
    let is_included = |group: &&Group| group.counts.skipped > 0 || (with_results && group.counts.succeeded > 0);
    let older = ending.older.iter().filter(is_included);
    let mut units: Vec<_> = older.map(|group| Unit { group, rows: Rows::CarriedOver }).collect();
    units.extend(ending.groups.iter().map(|group| {
        let rows = if ending.is_stopped() && !group.is_done() { Rows::All } else { Rows::Ended };
        Unit { group, rows }
    }));
    let ChunkId { group: from, chunk: first } = ending.job.retry.replanned;
    for number in from..ending.job.retry.carried_over.groups {
        let group = ending.older.iter().find(|group| group.number == number);
        let group = group.ok_or(CompleteError::ManifestMissing(number))?;
        units.push(Unit { group, rows: Rows::Remaining(if number == from { first as usize } else { 0 }) });
    }
    Ok(units)
}

impl Unit<'_> {
    /// Returns the plan of the group's chunks, if it is needed.
    pub(super) async fn manifest(
        &self,
        store: &impl Store,
        ending: &Ending,
    ) -> Result<Option<Manifest>, CompleteError> {
        if matches!(self.rows, Rows::CarriedOver | Rows::Ended) {
            return Ok(None);
        }
        let manifest = store.manifest(ending.job.job_id, self.group.number).await?;
        manifest.map(Some).ok_or(CompleteError::ManifestMissing(self.group.number))
    }

    /// Returns the group's chunks in order.
    pub(super) fn chunks<'a>(&'a self, manifest: Option<&'a Manifest>) -> VecDeque<Chunk<'a>> {
        let group = self.group;
        let Some(manifest) = manifest else {
            let bytes = (group.bytes / group.cursors.len().max(1) as u64).max(MIN_CHUNK_BYTES);
            let with_files = group.cursors.iter().filter(|(_, cursor)| cursor.file.is_some());
            let chunks = with_files.map(|(n, cursor)| {
                let (id, bytes) = (ChunkId::new(group.number, *n), bytes * reads_of(Some(cursor)));
                Chunk { id, cursor: Some(cursor), plan: None, bytes }
            });
            return chunks.collect();
        };
        let skip = if let Rows::Remaining(first) = self.rows { first } else { 0 };
        let chunks = (0..).zip(&manifest.chunks).skip(skip).map(|(n, plan)| {
            let cursor = group.cursors.get(&n);
            let bytes = (plan.end - plan.start).max(MIN_CHUNK_BYTES) * reads_of(cursor);
            Chunk { id: ChunkId::new(group.number, n), cursor, plan: Some(plan), bytes }
        });
        chunks.collect()
    }
}

/// Returns the number of a chunk's files that are in memory while it is read, in units of the chunk's size: the files
/// of one round together are at most as large as the chunk.
fn reads_of(cursor: Option<&Cursor>) -> u64 {
    cursor.map_or(1, |cursor| (u64::from(cursor.round) + 1).min(CHAIN_READS as u64))
}

/// A chunk whose group is closed or done.
#[derive(Copy, Clone, Debug)]
pub(super) struct Chunk<'a> {
    id: ChunkId,
    /// Committed position, if any.
    cursor: Option<&'a Cursor>,
    /// Plan of the chunk, if some of its items may not have ended.
    plan: Option<&'a ChunkPlan>,
    /// Approximate bytes in memory.
    bytes: u64,
}

/// The outputs of one commit.
#[derive(Clone, Eq, PartialEq, Debug)]
pub(super) struct Slice {
    /// Key of the object.
    pub(super) key: String,
    /// The chunk.
    pub(super) id: ChunkId,
    /// Token of the commit's work file.
    pub(super) token: String,
    /// The header's description of the object.
    pub(super) outputs: OutputSlice,
}

/// Rows of one chunk in the report, in the order of the items.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct ChunkRows {
    /// Failed and skipped items.
    pub(super) ended: Vec<Entry>,
    /// Outputs of the items that succeeded, in the order of the commits.
    pub(super) slices: Vec<Slice>,
    /// Numbers of the items that have not ended, and the ranges of their bytes.
    open: Vec<(u64, Range<usize>)>,
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
    pub(super) job: &'a Job,
    /// The only item of a job without a file.
    pub(super) options: &'a [u8],
}

impl<F: Files> ChunkReader<'_, F> {
    /// Reads a chunk's work files, and its range of the source if some of its items are unread.
    ///
    /// # Errors
    /// If the bucket fails, a work file is missing or damaged, or the range does not match the plan.
    async fn read(&self, chunk: Chunk<'_>) -> Result<ChunkRows, CompleteError> {
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
        let tokens =
            last.map(str::to_owned).into_iter().chain(chain.iter().filter_map(|file| file.header.prev.clone()));
        let slices = tokens.zip(&chain).filter_map(|(token, file)| Some((token, file.header.outputs.clone()?)));
        let folder = self.folder.chunk(chunk.id);
        rows.slices = slices
            .map(|(token, outputs)| Slice { key: folder.outputs_key(&token), id: chunk.id, token, outputs })
            .collect();
        rows.slices.reverse();
        let entries = chain.into_iter().flat_map(|file| file.entries);
        rows.ended.extend(entries.filter(|entry| !matches!(entry.end, End::Transient { .. })));
        rows.ended.sort_unstable_by_key(|entry| entry.n);
        Ok(rows)
    }

    /// Reads the records of the chunk from `position` on, for which no work was committed.
    async fn unread(&self, plan: &ChunkPlan, position: usize, rows: &mut ChunkRows) -> Result<(), ChunkError> {
        let numbers = plan.first..plan.first + u64::from(plan.items);
        let Some(source) = self.job.chunk_file(plan) else {
            numbers.skip(position).for_each(|n| rows.push(n, self.options));
            return Ok(());
        };
        let read = if plan.oversize { Read::Absent } else { self.range(&source, plan).await? };
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

/// Chunks that are read ahead, in order.
pub(super) struct ReadAhead<'a, F> {
    reader: &'a ChunkReader<'a, F>,
    waiting: VecDeque<Chunk<'a>>,
    reads: FuturesOrdered<BoxFuture<'a, Result<ChunkRows, CompleteError>>>,
    sizes: VecDeque<u64>,
}

impl<'a, F: Files> ReadAhead<'a, F> {
    pub(super) fn new(reader: &'a ChunkReader<'a, F>, group: &Group, mut chunks: VecDeque<Chunk<'a>>) -> Self {
        for chunk in &mut chunks {
            let items = chunk.plan.map_or(group.average_chunk_items(), |plan| u64::from(plan.items));
            let cursor = chunk.cursor.filter(|cursor| cursor.file.is_some());
            chunk.bytes += cursor.map_or(0, |cursor| group.entries_bytes(cursor, items));
        }
        Self { reader, waiting: chunks, reads: FuturesOrdered::new(), sizes: VecDeque::new() }
    }

    /// Returns the rows of the next chunk; `None` after the last one.
    pub(super) async fn next(&mut self) -> Result<Option<ChunkRows>, CompleteError> {
        while let Some(chunk) = self.waiting.front().filter(|chunk| self.has_room(chunk)) {
            self.sizes.push_back(chunk.bytes);
            self.reads.push_back(Box::pin(self.reader.read(*chunk)));
            self.waiting.pop_front();
        }
        let rows = self.reads.next().await;
        self.sizes.pop_front();
        rows.transpose()
    }

    /// Returns true if there is another chunk.
    pub(super) fn has_more(&self) -> bool {
        !self.reads.is_empty() || !self.waiting.is_empty()
    }

    fn has_room(&self, chunk: &Chunk<'_>) -> bool {
        let bytes: u64 = self.sizes.iter().sum();
        self.reads.is_empty() || (self.reads.len() < READS && bytes + chunk.bytes <= READ_BYTES)
    }
}
