//! The items of a part of an ended job, as the items of a walk. The place is a position among the groups of that job,
//! which no longer change.

use std::collections::VecDeque;

use futures::{StreamExt, TryStreamExt, stream};
use longshore::chunk::{ChunkReader, ChunkRows, IncludedRows, READ_BYTES, ReportChunk, ReportGroup, Slice};
use longshore::ports::Ports;
use longshore::result::lines_of;
use longshore_domain::group::{CHUNKS_PER_GROUP, Manifest};
use longshore_domain::job::{JobError, Part};
use longshore_domain::ports::{Files, Read, Store};
use longshore_domain::split::{ChunkLimits, Growth};
use longshore_domain::work_file::{End, Entry};

use crate::item_file_builder::WalkedItem;
use crate::outcome::{Halt, SplitError};
use crate::part_place::PartPlace;
use crate::part_source::{EndedJob, SourceGone, without_file};
use crate::record_copier::RecordCopier;
use crate::splitter::CONCURRENT_CHUNKS;
use crate::unsplit::UnsplitRecords;
use crate::walk::ItemSource;

/// The items of a part, from the job's place on.
pub(crate) struct PartItems<'a, S, F: Files> {
    store: &'a S,
    files: &'a F,
    ended: &'a EndedJob,
    groups: Vec<ReportGroup<'a>>,
    copier: RecordCopier,
    /// Items that were read and not returned, with the place after each of them.
    items: VecDeque<(PartPlace, WalkedItem)>,
    /// Outputs that are not read yet.
    slices: VecDeque<OpenSlice>,
    /// The next chunk to read, with the number of its items that were passed before this walk.
    next: PartPlace,
    /// Place after the last item that was returned; the job's place at first.
    passed: Option<PartPlace>,
    /// The part of the ended job's file that is in no group.
    unsplit: Option<UnsplitRecords<'a, F>>,
}

/// A slice of the results whose rows have not all been passed.
struct OpenSlice {
    slice: Slice,
    /// Place before its first row that was not passed.
    before: PartPlace,
    /// Number of its rows that were passed.
    passed: usize,
}

impl<'a, S: Store, F: Files> PartItems<'a, S, F> {
    pub(crate) fn new<Q>(
        ports: &'a Ports<S, Q, F>,
        ended: &'a EndedJob,
        copier: RecordCopier,
        place: Option<&str>,
    ) -> Result<Self, Halt> {
        let groups = ended.groups().report_groups(ended.part == Part::Results).map_err(SplitError::from)?;
        let passed = place.and_then(PartPlace::decode);
        let next = passed.unwrap_or_default();
        let is_in_unsplit = next.group >= groups.len();
        let start = ended.unsplit_from.map(|start| if is_in_unsplit { start.max(next.item) } else { start });
        let unsplit = ended.job.file().zip(start);
        let unsplit = unsplit.map(|(source, start)| UnsplitRecords::new(&ports.files, source, start, copier));
        let (store, files) = (&ports.store, &ports.files);
        let (items, slices) = Default::default();
        Ok(Self { store, files, ended, groups, copier, items, slices, next, passed, unsplit })
    }

    /// Reads some chunks of the next group.
    async fn read_chunks(&mut self, report_group: ReportGroup<'a>) -> Result<(), Halt> {
        let manifest = manifest(self.store, self.ended, &report_group).await?;
        let chunks = report_group.chunks(manifest.as_ref());
        let batch = batch(&report_group, chunks.iter().skip(self.next.chunk));
        let reader = ChunkReader { files: self.files, job: &self.ended.job, options: &[] };
        let reads: Vec<_> = batch.into_iter().map(|chunk| reader.read(chunk)).collect();
        let read: Vec<_> = stream::iter(reads).buffered(CONCURRENT_CHUNKS).try_collect().await.map_err(without_file)?;
        for rows in read {
            self.take(report_group.rows, rows)?;
            self.next = PartPlace { chunk: self.next.chunk + 1, item: 0, ..self.next };
        }
        if self.next.chunk >= chunks.len() {
            self.next = PartPlace { group: self.next.group + 1, ..PartPlace::default() };
        }
        Ok(())
    }

    /// Takes the items of a chunk that were not passed.
    fn take(&mut self, included: IncludedRows, rows: ChunkRows) -> Result<(), Halt> {
        if self.ended.part == Part::Unprocessed && rows.source_gone {
            return Err(SourceGone::Missing.into());
        }
        if self.ended.part == Part::Results {
            self.take_slices(rows.slices);
            return Ok(());
        }
        let passed = usize::try_from(self.next.item).unwrap_or(usize::MAX);
        let items = items(self.ended.part, included, &rows, self.copier);
        for (item, n) in items.into_iter().zip(1..).skip(passed) {
            self.items.push_back((PartPlace { item: n, ..self.next }, item));
        }
        Ok(())
    }

    fn take_slices(&mut self, slices: Vec<Slice>) {
        let mut first = 0;
        for slice in slices {
            let rows = slice.outputs.rows;
            let passed = self.next.item.saturating_sub(first);
            if passed < rows {
                let before = PartPlace { item: first + passed, ..self.next };
                self.slices.push_back(OpenSlice {
                    slice,
                    before,
                    passed: usize::try_from(passed).unwrap_or(usize::MAX),
                });
            }
            first += rows;
        }
    }

    async fn read_slice(&mut self, OpenSlice { slice, before, passed }: OpenSlice) -> Result<(), Halt> {
        let Read::Found(lines) = self.files.read(&slice.key, None, None).await? else {
            return Err(SourceGone::Missing.into());
        };
        let rows: Vec<_> = lines_of(&lines).collect();
        if rows.len() as u64 != slice.outputs.rows || lines.len() as u64 != slice.outputs.bytes {
            return Err(SourceGone::Changed.into());
        }
        for (row, n) in rows.iter().skip(passed).zip(before.item + 1..) {
            let item = self.copier.output(row, self.ended.is_numbered).map_err(|_| SourceGone::Changed)?;
            self.items.push_back((PartPlace { item: n, ..before }, item));
        }
        Ok(())
    }
}

impl<S: Store, F: Files> ItemSource for PartItems<'_, S, F> {
    /// One chunk of a group is for the items without bytes.
    const CHUNKS: usize = CHUNKS_PER_GROUP - 1;

    async fn read(&mut self) -> Result<bool, Halt> {
        if let Some(slice) = self.slices.pop_front() {
            self.read_slice(slice).await?;
            return Ok(true);
        }
        while let Some(report_group) = self.groups.get(self.next.group).copied() {
            if may_have(self.ended.part, &report_group) {
                self.read_chunks(report_group).await?;
                return Ok(true);
            }
            self.next = PartPlace { group: self.next.group + 1, ..PartPlace::default() };
        }
        let Some(unsplit) = &mut self.unsplit else { return Ok(false) };
        let (items, group) = (&mut self.items, self.groups.len());
        let mut take = |end, item| items.push_back((PartPlace { group, chunk: 0, item: end }, item));
        let has_more = unsplit.read(&mut take).await?;
        self.next = PartPlace { group, chunk: 0, item: unsplit.reached };
        Ok(has_more)
    }

    fn next(&mut self) -> Option<WalkedItem> {
        let (place, item) = self.items.pop_front()?;
        self.passed = Some(place);
        Some(item)
    }

    fn place(&self) -> Option<String> {
        let read = match self.slices.front() {
            _ if !self.items.is_empty() => None,
            Some(slice) => Some(slice.before),
            None => Some(self.next),
        };
        let place = self.passed.max(read);
        place.filter(|place| *place != PartPlace::default()).map(PartPlace::encode)
    }

    fn chunk_bytes(limits: ChunkLimits, growth: Growth) -> u64 {
        growth.copied_bytes(limits)
    }

    fn too_large(&self) -> JobError {
        let message = format!("the part of the job {} has more items than one job can hold", self.ended.job.job_id);
        JobError::new("part_too_large", message)
    }
}

/// Returns the plan of a group's chunks, if it is needed.
async fn manifest(
    store: &impl Store,
    ended: &EndedJob,
    report_group: &ReportGroup<'_>,
) -> Result<Option<Manifest>, Halt> {
    if !report_group.needs_manifest() {
        return Ok(None);
    }
    let manifest = store.manifest(ended.job.job_id, report_group.group.number).await?;
    Ok(Some(manifest.ok_or(SourceGone::Missing)?))
}

/// Returns true if the group may have items of the part.
fn may_have(part: Part, ReportGroup { group, rows }: &ReportGroup<'_>) -> bool {
    match (part, rows) {
        (Part::Results, IncludedRows::Remaining(_)) => false,
        (Part::Results, _) => group.counts.succeeded > 0,
        (Part::Failed, IncludedRows::Ended | IncludedRows::All) => group.counts.failed > 0,
        (Part::Skipped, IncludedRows::Ended | IncludedRows::All | IncludedRows::CarriedOver) => {
            group.counts.skipped > 0
        }
        (Part::Unprocessed, IncludedRows::All | IncludedRows::Remaining(_)) => true,
        (Part::Failed | Part::Skipped | Part::Unprocessed, _) => false,
    }
}

/// Returns the next chunks that are read at once: as many as fit into memory, and at least one.
fn batch<'a>(
    report_group: &ReportGroup<'_>,
    chunks: impl Iterator<Item = &'a ReportChunk<'a>>,
) -> Vec<ReportChunk<'a>> {
    let (mut batch, mut bytes) = (Vec::new(), 0);
    for chunk in chunks.take(CONCURRENT_CHUNKS) {
        bytes += chunk.with_entries(report_group.group).bytes;
        if !batch.is_empty() && bytes > READ_BYTES {
            break;
        }
        batch.push(*chunk);
    }
    batch
}

/// Returns the items of a part in a chunk, in their order. They are those that a report lists.
fn items(part: Part, included: IncludedRows, rows: &ChunkRows, copier: RecordCopier) -> Vec<WalkedItem> {
    let is_of = |entry: &&Entry| match (&entry.end, part) {
        (End::Failed(_), Part::Failed) | (End::Skipped { .. }, Part::Skipped) => true,
        // What no generation has run again is left, whether it had failed or not.
        (End::Failed(_), Part::Unprocessed) => matches!(included, IncludedRows::Remaining(_)),
        _ => false,
    };
    let ended = rows.ended.iter().filter(is_of).map(|entry| (entry.n, copier.entry(entry)));
    if part != Part::Unprocessed {
        return ended.map(|(_, item)| item).collect();
    }
    let mut left: Vec<_> = ended.chain(rows.open().map(|(n, raw)| (n, copier.record(raw)))).collect();
    left.sort_by_key(|(n, _)| *n);
    left.into_iter().map(|(_, item)| item).collect()
}
