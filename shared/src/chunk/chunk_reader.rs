//! The rows of a chunk of an ended job: the items in its work files, their outputs, and the items that have not ended.

use std::ops::Range;

use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, SourceFile};
use longshore_domain::ports::{Files, Read};
use longshore_domain::work_file::{End, Entry, OutputSlice};

use super::chain::{OpenItems, open_items, read_chain};
use super::chunk_records::chunk_records;
use super::delivery::ChunkError;
use super::report_groups::ReportChunk;
use crate::ports::JobFolder;

/// The outputs of one commit.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Slice {
    /// Key of the object.
    pub key: String,
    /// The chunk.
    pub id: ChunkId,
    /// Token of the commit's work file.
    pub token: String,
    /// The header's description of the object.
    pub outputs: OutputSlice,
}

/// Rows of one chunk in the report, in the order of the items.
#[derive(Clone, Eq, PartialEq, Debug, Default)]
pub struct ChunkRows {
    /// Failed and skipped items.
    pub ended: Vec<Entry>,
    /// Outputs of the items that succeeded, in the order of the commits.
    pub slices: Vec<Slice>,
    /// Numbers of the items that have not ended, and the ranges of their bytes.
    open: Vec<(u64, Range<usize>)>,
    /// Bytes of the items that have not ended: one block for all of them.
    bytes: Vec<u8>,
    /// True if the source can no longer be read: the open items have a number, but no bytes.
    pub source_gone: bool,
}

impl ChunkRows {
    /// Returns numbers and bytes of the items that have not ended.
    pub fn open(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.open.iter().map(|(number, range)| (*number, &self.bytes[range.clone()]))
    }

    fn push(&mut self, number: u64, raw: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(raw);
        self.open.push((number, start..self.bytes.len()));
    }
}

/// A reader of the chunks of one job.
#[derive(Debug)]
pub struct ChunkReader<'a, F> {
    /// The bucket.
    pub files: &'a F,
    /// The job.
    pub job: &'a Job,
    /// The only item of a job without a file.
    pub options: &'a [u8],
}

impl<F: Files> ChunkReader<'_, F> {
    /// Reads a chunk's work files, and its range of the source if some of its items are unread.
    ///
    /// # Errors
    /// If the bucket fails, a work file is missing or damaged, or the range does not match the plan.
    pub async fn read(&self, chunk: ReportChunk<'_>) -> Result<ChunkRows, ChunkError> {
        let last = chunk.cursor.and_then(|c| c.file.as_deref());
        let chain = read_chain(self.files, JobFolder::for_job(self.job).chunk(chunk.id), last, 0).await?;
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
        let folder = JobFolder::for_job(self.job).chunk(chunk.id);
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
        if plan.oversize {
            numbers.skip(position).for_each(|n| rows.push(n, &[]));
            return Ok(());
        }
        let Some(source) = self.job.chunk_file(plan) else {
            numbers.skip(position).for_each(|n| rows.push(n, self.options));
            return Ok(());
        };
        let Read::Found(bytes) = self.range(&source, plan).await? else {
            rows.source_gone = true;
            numbers.skip(position).for_each(|n| rows.push(n, &[]));
            return Ok(());
        };
        let (mut found, encoding) = (0, source.reading.unwrap_or_default().encoding);
        rows.open.reserve((plan.items as usize).saturating_sub(position));
        rows.bytes = chunk_records(&source, encoding, u64::MAX, bytes, |record| {
            if found >= position {
                rows.open.push((plan.first + found as u64, record.range));
            }
            found += 1;
        });
        if found != plan.items as usize {
            return Err(ChunkError::Plan { found, planned: plan.items });
        }
        Ok(())
    }

    async fn range(&self, source: &SourceFile, plan: &ChunkPlan) -> Result<Read<Vec<u8>>, ChunkError> {
        Ok(self.files.read(&source.key, Some(&source.etag), Some(plan)).await?)
    }
}
