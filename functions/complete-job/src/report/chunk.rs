//! The rows of one chunk: what its work files say of its items, and which items have not ended.

use longshore::chunk::{ChunkError, filed_in, read_chain};
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::ChunkPlan;
use longshore_domain::job::SourceFile;
use longshore_domain::ports::{Files, Read};
use longshore_domain::records::records;
use longshore_domain::work_file::{End, Entry};

use crate::CompleteError;

/// A chunk whose group is closed or done.
#[derive(Copy, Clone, Debug)]
pub(super) struct Chunk<'a> {
    /// Numbers of its group and of itself.
    pub(super) place: (u32, u32),
    /// How far it was committed.
    pub(super) cursor: Option<&'a Cursor>,
    /// Its plan, if items of it may not have ended.
    pub(super) plan: Option<&'a ChunkPlan>,
}

/// What the report says of one chunk, in the order of the items.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub(super) struct ChunkRows {
    /// Failed and skipped items.
    pub(super) ended: Vec<Entry>,
    /// Numbers and bytes of the items that have not ended.
    pub(super) open: Vec<(u64, Vec<u8>)>,
    /// The source cannot be read any more: the open items have a number and no bytes.
    pub(super) source_gone: bool,
}

/// Reads chunks of one job.
pub(super) struct ChunkReader<'a, F> {
    pub(super) files: &'a F,
    pub(super) folder: JobFolder<'a>,
    pub(super) source: Option<&'a SourceFile>,
    /// The item of a job without a file.
    pub(super) options: &'a [u8],
}

impl<F: Files> ChunkReader<'_, F> {
    /// Reads a chunk's work files, and its range of the source if some of its items have not been begun.
    ///
    /// # Errors
    /// If the bucket fails, a work file is missing or damaged, or the range does not hold what the plan says.
    pub(super) async fn read(&self, chunk: Chunk<'_>) -> Result<ChunkRows, CompleteError> {
        let (group, number) = chunk.place;
        self.rows(chunk).await.map_err(|source| CompleteError::Chunk { group, chunk: number, source })
    }

    async fn rows(&self, chunk: Chunk<'_>) -> Result<ChunkRows, ChunkError> {
        let last = chunk.cursor.and_then(|c| c.file.as_deref());
        let chain = read_chain(self.files, self.folder, chunk.place, last, 0).await?;
        let mut rows = ChunkRows::default();
        if let Some(plan) = chunk.plan.filter(|_| !chunk.cursor.is_some_and(|c| c.finished)) {
            let round = chunk.cursor.map_or(0, |c| c.round);
            let position = chunk.cursor.map_or(0, |c| c.position as usize);
            match round.checked_sub(1) {
                None => self.unread(plan, position, &mut rows).await?,
                Some(before) => rows.open.extend(filed_in(&chain, before).into_iter().skip(position).map(numbered)),
            }
            rows.open.extend(filed_in(&chain, round).into_iter().map(numbered));
            rows.open.sort_unstable_by_key(|(n, _)| *n);
        }
        let entries = chain.into_iter().flat_map(|file| file.entries);
        rows.ended.extend(entries.filter(|entry| !matches!(entry.end, End::Transient { .. })));
        rows.ended.sort_unstable_by_key(|entry| entry.n);
        Ok(rows)
    }

    /// The records of the chunk from `position` on, which no handler has seen, or none whose work was committed.
    async fn unread(&self, plan: &ChunkPlan, position: usize, rows: &mut ChunkRows) -> Result<(), ChunkError> {
        let numbers = plan.first..plan.first + u64::from(plan.items);
        let Some(source) = self.source else {
            rows.open.extend(numbers.skip(position).map(|n| (n, self.options.to_vec())));
            return Ok(());
        };
        let read = if plan.oversize { Read::Absent } else { self.range(source, plan).await? };
        let Read::Found(bytes) = read else {
            rows.source_gone = !plan.oversize;
            rows.open.extend(numbers.skip(position).map(|n| (n, Vec::new())));
            return Ok(());
        };
        let spans: Vec<_> = records(source.format, &bytes).collect();
        if spans.len() != plan.items as usize {
            return Err(ChunkError::Plan { found: spans.len(), planned: plan.items });
        }
        let open = numbers.zip(&spans).skip(position);
        rows.open.extend(open.map(|(n, span)| (n, span.content(&bytes).to_vec())));
        Ok(())
    }

    async fn range(&self, source: &SourceFile, plan: &ChunkPlan) -> Result<Read<Vec<u8>>, ChunkError> {
        Ok(self.files.read(&source.key, Some(&source.etag), Some(plan)).await?)
    }
}

fn numbered(entry: &Entry) -> (u64, Vec<u8>) {
    (entry.n, entry.raw.clone().into_bytes())
}
