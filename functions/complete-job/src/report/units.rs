//! The groups of a report in order, and the chunks of each.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use longshore::chunk::{CHAIN_READS, READ_BYTES};
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Group, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::{Files, Store};

use super::chunk::{Chunk, ChunkReader, ChunkRows};
use crate::CompleteError;
use crate::ending::Ending;

/// Chunks that are read concurrently, to hide the bucket's latency, which matters for chunks with many work files.
const READS: usize = 32;

/// Minimum memory assumed for a chunk without a plan, for its work files.
const MIN_CHUNK_BYTES: u64 = 256 << 10;

/// The rows of a group that the report includes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub(super) enum Rows {
    /// The skipped rows of a group of an earlier generation. Its failed and unfinished items were replanned.
    Skipped,
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

/// Returns all groups of a report. The groups are closed or done, so the result is the same in every invocation.
pub(super) fn units(ending: &Ending) -> Result<Vec<Unit<'_>>, CompleteError> {
    let skipped = ending.older.iter().filter(|group| group.counts.skipped > 0);
    let mut units: Vec<_> = skipped.map(|group| Unit { group, rows: Rows::Skipped }).collect();
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
        if matches!(self.rows, Rows::Skipped | Rows::Ended) {
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
