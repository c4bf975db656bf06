//! The groups of an ended job in the order of its report, and their chunks. The groups are closed or done, so they are
//! the same whoever reads them.

use std::collections::VecDeque;

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;

use super::chain::CHAIN_READS;

/// Minimum memory assumed for a chunk without a plan, for its work files.
const MIN_CHUNK_BYTES: u64 = 256 << 10;

/// The rows of a group that the report includes.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum IncludedRows {
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
pub struct ReportGroup<'a> {
    /// The group.
    pub group: &'a Group,
    /// The rows.
    pub rows: IncludedRows,
}

/// The ledger names a group that does not exist.
#[derive(Copy, Clone, Eq, PartialEq, Debug, thiserror::Error)]
#[error("group {0} is missing")]
pub struct GroupMissing(pub u32);

/// A job whose counts no longer change, with its groups.
#[derive(Copy, Clone, Debug)]
pub struct EndedGroups<'a> {
    /// The job.
    pub job: &'a Job,
    /// The groups of its generation.
    pub groups: &'a [Group],
    /// The groups of earlier generations.
    pub older: &'a [Group],
}

impl<'a> EndedGroups<'a> {
    /// Returns all groups of a report, with or without results. Only a stopped job has groups that are not done.
    ///
    /// # Errors
    /// If a group that was not replanned is missing.
    pub fn report_groups(self, with_results: bool) -> Result<Vec<ReportGroup<'a>>, GroupMissing> {
        let is_included = |group: &&Group| group.counts.skipped > 0 || (with_results && group.counts.succeeded > 0);
        let older = self.older.iter().filter(is_included);
        let mut groups: Vec<_> = older.map(|group| ReportGroup { group, rows: IncludedRows::CarriedOver }).collect();
        groups.extend(self.groups.iter().map(|group| {
            let rows = if group.is_done() { IncludedRows::Ended } else { IncludedRows::All };
            ReportGroup { group, rows }
        }));
        let ChunkId { group: from, chunk: first } = self.job.retry.replanned;
        for number in from..self.job.retry.carried_over.groups {
            let group = self.older.iter().find(|group| group.number == number);
            let group = group.ok_or(GroupMissing(number))?;
            let first = if number == from { first as usize } else { 0 };
            groups.push(ReportGroup { group, rows: IncludedRows::Remaining(first) });
        }
        Ok(groups)
    }
}

impl ReportGroup<'_> {
    /// Returns true if the plan of the group's chunks is needed.
    pub const fn needs_manifest(&self) -> bool {
        !matches!(self.rows, IncludedRows::CarriedOver | IncludedRows::Ended)
    }

    /// Returns the group's chunks in order.
    pub fn chunks<'a>(&'a self, manifest: Option<&'a Manifest>) -> VecDeque<ReportChunk<'a>> {
        let group = self.group;
        let Some(manifest) = manifest else {
            let bytes = (group.bytes / group.cursors.len().max(1) as u64).max(MIN_CHUNK_BYTES);
            let with_files = group.cursors.iter().filter(|(_, cursor)| cursor.file.is_some());
            let chunks = with_files.map(|(n, cursor)| {
                let (id, bytes) = (ChunkId::new(group.number, *n), bytes * reads_of(Some(cursor)));
                ReportChunk { id, cursor: Some(cursor), plan: None, bytes }
            });
            return chunks.collect();
        };
        let skip = if let IncludedRows::Remaining(first) = self.rows { first } else { 0 };
        let chunks = (0..).zip(&manifest.chunks).skip(skip).map(|(n, plan)| {
            let cursor = group.cursors.get(&n);
            let bytes = (plan.end - plan.start).max(MIN_CHUNK_BYTES) * reads_of(cursor);
            ReportChunk { id: ChunkId::new(group.number, n), cursor, plan: Some(plan), bytes }
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
pub struct ReportChunk<'a> {
    /// Id of the chunk.
    pub id: ChunkId,
    /// Committed position, if any.
    pub cursor: Option<&'a Cursor>,
    /// Plan of the chunk, if some of its items may not have ended.
    pub plan: Option<&'a ChunkPlan>,
    /// Approximate bytes in memory.
    pub bytes: u64,
}

impl ReportChunk<'_> {
    /// Returns the chunk with the memory for all entries that its work files may have.
    #[must_use]
    pub fn with_entries(self, group: &Group) -> Self {
        let items = self.plan.map_or(group.average_chunk_items(), |plan| u64::from(plan.items));
        let cursor = self.cursor.filter(|cursor| cursor.file.is_some());
        Self { bytes: self.bytes + cursor.map_or(0, |cursor| group.entries_bytes(cursor, items)), ..self }
    }
}
