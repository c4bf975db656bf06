//! Objects of the bucket that are read ahead, in order, as far as they fit into memory.

use std::collections::VecDeque;

use futures::StreamExt;
use futures::future::BoxFuture;
use futures::stream::FuturesOrdered;
use longshore::chunk::{ChunkReader, ChunkRows, READ_BYTES, ReportChunk};
use longshore_domain::group::Group;
use longshore_domain::ids::ChunkId;
use longshore_domain::ports::Files;

use crate::CompleteError;

/// Maximum number of concurrent reads. They hide the bucket's latency, which matters for chunks with many work files.
const READS: usize = 32;

/// A read in flight.
type Reading<'a, T> = BoxFuture<'a, Result<T, CompleteError>>;

/// Items whose contents `T` are read ahead, in order.
pub(super) struct ReadAhead<'a, I, T> {
    waiting: VecDeque<I>,
    bytes_of: fn(&I) -> u64,
    read: Box<dyn Fn(I) -> Reading<'a, T> + Send + 'a>,
    in_flight: FuturesOrdered<Reading<'a, T>>,
    /// Bytes of each read in flight.
    in_flight_bytes: VecDeque<u64>,
    max_bytes: u64,
}

impl<'a, I, T> ReadAhead<'a, I, T> {
    /// Creates the reads of `items`, of which those in flight take at most `max_bytes`. A larger one is read alone.
    pub(super) fn new(
        items: VecDeque<I>,
        max_bytes: u64,
        bytes_of: fn(&I) -> u64,
        read: impl Fn(I) -> Reading<'a, T> + Send + 'a,
    ) -> Self {
        let (in_flight, in_flight_bytes) = (FuturesOrdered::new(), VecDeque::new());
        Self { waiting: items, bytes_of, read: Box::new(read), in_flight, in_flight_bytes, max_bytes }
    }

    /// Returns the content of the next item; `None` after the last one.
    pub(super) async fn next(&mut self) -> Result<Option<T>, CompleteError> {
        while let Some(bytes) = self.waiting.front().map(self.bytes_of).filter(|bytes| self.has_room(*bytes)) {
            self.in_flight_bytes.push_back(bytes);
            self.in_flight.extend(self.waiting.pop_front().map(&self.read));
        }
        let content = self.in_flight.next().await;
        self.in_flight_bytes.pop_front();
        content.transpose()
    }

    /// Returns true if there is another item.
    pub(super) fn has_more(&self) -> bool {
        !self.in_flight.is_empty() || !self.waiting.is_empty()
    }

    fn has_room(&self, bytes: u64) -> bool {
        let in_flight: u64 = self.in_flight_bytes.iter().sum();
        self.in_flight.is_empty() || (self.in_flight.len() < READS && in_flight + bytes <= self.max_bytes)
    }
}

/// Reads the rows of a group's chunks ahead.
pub(super) fn read_chunks<'a, F: Files>(
    reader: &'a ChunkReader<'a, F>,
    group: &Group,
    mut chunks: VecDeque<ReportChunk<'a>>,
) -> ReadAhead<'a, ReportChunk<'a>, ChunkRows> {
    chunks.iter_mut().for_each(|chunk| *chunk = chunk.with_entries(group));
    ReadAhead::new(chunks, READ_BYTES, |chunk| chunk.bytes, |chunk| Box::pin(read_chunk(reader, chunk)))
}

async fn read_chunk<F: Files>(reader: &ChunkReader<'_, F>, chunk: ReportChunk<'_>) -> Result<ChunkRows, CompleteError> {
    let ChunkId { group, chunk: number } = chunk.id;
    reader.read(chunk).await.map_err(|source| CompleteError::Chunk { group, chunk: number, source })
}
