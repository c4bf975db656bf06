//! Chunks of a report that are read ahead, in order.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use longshore::chunk::{ChunkReader, ChunkRows, READ_BYTES, UnitChunk};
use longshore_domain::group::Group;
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::Files;

use crate::CompleteError;

/// Chunks that are read concurrently, to hide the bucket's latency, which matters for chunks with many work files.
const READS: usize = 32;

/// Chunks that are read ahead, in order.
pub(super) struct ReadAhead<'a, F> {
    reader: &'a ChunkReader<'a, F>,
    waiting: VecDeque<UnitChunk<'a>>,
    reads: FuturesOrdered<BoxFuture<'a, Result<ChunkRows, CompleteError>>>,
    sizes: VecDeque<u64>,
}

impl<'a, F: Files> ReadAhead<'a, F> {
    pub(super) fn new(reader: &'a ChunkReader<'a, F>, group: &Group, mut chunks: VecDeque<UnitChunk<'a>>) -> Self {
        chunks.iter_mut().for_each(|chunk| *chunk = chunk.with_entries(group));
        Self { reader, waiting: chunks, reads: FuturesOrdered::new(), sizes: VecDeque::new() }
    }

    /// Returns the rows of the next chunk; `None` after the last one.
    pub(super) async fn next(&mut self) -> Result<Option<ChunkRows>, CompleteError> {
        while let Some(chunk) = self.waiting.front().filter(|chunk| self.has_room(chunk)) {
            self.sizes.push_back(chunk.bytes);
            self.reads.push_back(Box::pin(read(self.reader, *chunk)));
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

    fn has_room(&self, chunk: &UnitChunk<'_>) -> bool {
        let bytes: u64 = self.sizes.iter().sum();
        self.reads.is_empty() || (self.reads.len() < READS && bytes + chunk.bytes <= READ_BYTES)
    }
}

async fn read<F: Files>(reader: &ChunkReader<'_, F>, chunk: UnitChunk<'_>) -> Result<ChunkRows, CompleteError> {
    let ChunkId { group, chunk: number } = chunk.id;
    reader.read(chunk).await.map_err(|source| CompleteError::Chunk { group, chunk: number, source })
}
