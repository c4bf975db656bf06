//! The chunks of the next group of replanned items: ranges that are taken over unchanged, and items that are collected
//! in work files. Each file is one chunk, whose cursor is at the start of a round over that file.

use std::collections::BTreeMap;
use std::mem;

use longshore::chunk::ChunkError;
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{CHUNKS_PER_GROUP, ChunkPlan, GroupPlan, Manifest, Replanned, SplitStep};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;
use longshore_domain::ports::Files;
use longshore_domain::random::nonce;
use longshore_domain::split::ChunkLimits;
use longshore_domain::work_file::{End, Entry, WorkFile, WorkFileHeader};

use crate::outcome::Halt;

/// The chunks of the next group.
#[derive(Debug, Default)]
pub(crate) struct ReplannedChunks {
    chunks: Vec<ChunkPlan>,
    /// The chunks with work files.
    replanned: BTreeMap<u32, Replanned>,
    /// Entries of the file that is being collected.
    entries: Vec<Entry>,
    entry_bytes: u64,
}

impl ReplannedChunks {
    /// Appends a chunk that is taken over unchanged.
    pub(crate) fn push_plan(&mut self, plan: ChunkPlan) {
        self.chunks.push(plan);
    }

    /// Appends an item to the file that is being collected.
    pub(crate) fn push(&mut self, entry: Entry) {
        self.entry_bytes += entry.raw.len() as u64;
        self.entries.push(entry);
    }

    /// Returns true if there is neither a chunk nor an item.
    pub(crate) fn is_empty(&self) -> bool {
        self.chunks.is_empty() && self.entries.is_empty()
    }

    /// Returns true if the group has room for so many more chunks, the file being collected among them.
    pub(crate) fn has_room(&self, chunks: usize) -> bool {
        self.chunks.len() + chunks <= CHUNKS_PER_GROUP
    }

    /// Returns true if the file being collected is as large as a chunk should be, and the group has room for one more
    /// chunk after it.
    pub(crate) fn is_full(&self, limits: ChunkLimits) -> bool {
        let is_large = self.entries.len() >= limits.items as usize || self.entry_bytes >= limits.bytes;
        is_large && self.has_room(2)
    }

    /// Writes the collected items as the work file of a new chunk of the job's next group. Without items, nothing is
    /// written.
    pub(crate) async fn write_file(&mut self, files: &impl Files, job: &Job) -> Result<(), Halt> {
        let Some(first) = self.entries.first().map(|entry| entry.n) else { return Ok(()) };
        let chunk = u32::try_from(self.chunks.len()).unwrap_or(u32::MAX);
        let token = Cursor::token(&nonce(), 0);
        let (entries, bytes) = (mem::take(&mut self.entries), mem::take(&mut self.entry_bytes));
        let items = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let failed = entries.iter().filter(|entry| matches!(entry.end, End::Failed(_))).count() as u64;
        let file = WorkFile { header: WorkFileHeader::default(), entries };
        let key = JobFolder::for_job(job).chunk(ChunkId::new(job.split.groups, chunk)).work_key(&token);
        let content = file.to_bytes().map_err(|source| ChunkError::WorkFile { key: key.clone(), source })?;
        files.write(&key, "application/x-ndjson", content).await?;
        let finished = failed == u64::from(items);
        let cursor = Cursor { finished, ..Cursor::for_round(u32::from(!finished), token) };
        self.replanned.insert(chunk, Replanned { cursor, failed, bytes });
        self.chunks.push(ChunkPlan::in_work_file(first, items));
        Ok(())
    }

    /// Returns the chunks as the job's next group, and starts another one.
    pub(crate) fn take(&mut self, job: &Job, step: SplitStep) -> GroupPlan {
        let manifest = Manifest { group: job.split.groups, chunks: mem::take(&mut self.chunks) };
        GroupPlan {
            generation: job.generation,
            manifest,
            replanned: mem::take(&mut self.replanned),
            step,
            reading: None,
            walk_reads: 0,
        }
    }
}
