//! The items of an undo behind those of the import's file: what the import's own splitter filed again for later
//! generations.
//!
//! A retry replans failed rows into work files, with the contents of a corrected file if there is one. The workers of
//! that generation were offered these contents, so an undo must look at their keys, too. They are numbered on behind the
//! rows of the file. Chunks that a retry took over unchanged are ranges of the file, which is read anyway.
//!
//! The place of the pass is the next chunk of the import. The transaction that commits a group moves it, on condition
//! that it still is where the group begins. So an overtaken splitter plans no item twice, and the work file of a group
//! that was not committed is never read.

use std::collections::BTreeMap;
use std::mem;

use longshore::chunk::{ChunkError, read_first};
use longshore::ports::JobFolder;
use longshore_domain::cursor::Cursor;
use longshore_domain::group::{CHUNKS_PER_GROUP, ChunkPlan, Group, GroupPlan, Manifest, Replanned, SplitStep};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, JobError, UndoneImport};
use longshore_domain::ports::{Files, JobProgress, Queues, Store};
use longshore_domain::random::nonce;
use longshore_domain::split::ChunkLimits;
use longshore_domain::work_file::{End, Entry, WorkFile, WorkFileHeader};

use crate::outcome::{Halt, SplitEnd, SplitError};
use crate::splitter::{Splitter, Turn};

/// Maximum number of groups of an undo: those of a file and as many again. All of them are read for each answer about
/// the job.
const MAX_GROUPS: u32 = 900;

/// One pass over the chunks of the import, from the job's place on.
pub(crate) struct Behind<'a, S, Q, F> {
    splitter: &'a Splitter<'a, S, Q, F>,
    job: Job,
    import: UndoneImport,
    limits: ChunkLimits,
    turn: Turn,
    /// Number of the next item.
    next_item: u64,
    chunks: Vec<ChunkPlan>,
    replanned: BTreeMap<u32, Replanned>,
    /// Entries of the file that is being collected.
    entries: Vec<Entry>,
    entry_bytes: u64,
}

impl<'a, S: Store, Q: Queues, F: Files> Behind<'a, S, Q, F> {
    pub(crate) fn new(
        splitter: &'a Splitter<'a, S, Q, F>,
        job: Job,
        import: UndoneImport,
        limits: ChunkLimits,
        turn: Turn,
    ) -> Self {
        let next_item = job.split.item_count + 1;
        let (chunks, replanned, entries) = Default::default();
        Self { splitter, job, import, limits, turn, next_item, chunks, replanned, entries, entry_bytes: 0 }
    }

    /// Plans everything, and ends the split.
    pub(crate) async fn run(mut self, issues: &[JobError]) -> Result<SplitEnd, Halt> {
        let (from, end) = (parse(self.job.split.place.as_deref()), self.import.groups);
        let splitter = self.splitter;
        let store = &splitter.ports.store;
        let groups = match store.progress_from(self.import.job_id, from.group).await? {
            Some(JobProgress { groups, job }) if job.generation > 0 => groups,
            // Without a retry, nothing was filed again. The import is kept until its undo has ended.
            _ => Vec::new(),
        };
        for group in groups.iter().filter(|group| (from.group..end).contains(&group.number)) {
            let manifest = store.manifest(self.import.job_id, group.number).await?;
            let manifest = manifest.ok_or(SplitError::ManifestMissing(group.number))?;
            let first = if group.number == from.group { from.chunk } else { 0 };
            for (chunk, plan) in (0..).zip(&manifest.chunks).skip(first as usize) {
                if is_filed_again(plan) {
                    self.take_chunk(group, chunk).await?;
                }
                let turn_over = (self.splitter.clock)() >= self.turn.ends;
                if turn_over || self.chunks.len() + 2 > CHUNKS_PER_GROUP {
                    self.commit(ChunkId { group: group.number, chunk: chunk + 1 }).await?;
                }
                if turn_over {
                    return self.splitter.send_continuation(&self.job, self.job.split.groups).await;
                }
            }
        }
        if !self.entries.is_empty() || !self.chunks.is_empty() {
            self.commit(ChunkId { group: self.import.groups, chunk: 0 }).await?;
        }
        self.splitter.end(&self.job, self.job.split.groups, issues, self.turn.deadline).await
    }

    /// Takes the items that the import's splitter filed again as this chunk.
    async fn take_chunk(&mut self, group: &Group, chunk: u32) -> Result<(), Halt> {
        let file = group.cursors.get(&chunk).and_then(|cursor| cursor.file.as_deref());
        let Some(file) = file else { return Ok(()) };
        let folder = JobFolder { tenant: &self.job.tenant, id: self.import.job_id };
        let folder = folder.chunk(ChunkId::new(group.number, chunk));
        let filed = read_first(&self.splitter.ports.files, folder, file).await?;
        for entry in filed.entries.into_iter().filter(|entry| matches!(entry.end, End::Transient { .. })) {
            let end = End::Transient { attempts: 0, reason: String::from("undo") };
            self.entry_bytes += entry.raw.len() as u64;
            self.entries.push(Entry { n: self.next_item, end, ..entry });
            self.next_item += 1;
            if self.is_full() {
                self.write_work_file().await?;
            }
        }
        Ok(())
    }

    /// Returns true if the file being collected is as large as a chunk should be, and the group has room for one more.
    fn is_full(&self) -> bool {
        let is_large = self.entries.len() >= self.limits.items as usize || self.entry_bytes >= self.limits.bytes;
        is_large && self.chunks.len() + 1 < CHUNKS_PER_GROUP
    }

    /// Writes the collected file as a chunk of its own.
    async fn write_work_file(&mut self) -> Result<(), Halt> {
        let Some(first) = self.entries.first().map(|entry| entry.n) else { return Ok(()) };
        let chunk = u32::try_from(self.chunks.len()).unwrap_or(u32::MAX);
        let (entries, token) = (mem::take(&mut self.entries), Cursor::token(&nonce(), 0));
        let items = u32::try_from(entries.len()).unwrap_or(u32::MAX);
        let file = WorkFile { header: WorkFileHeader::default(), entries };
        let key = JobFolder::for_job(&self.job).chunk(ChunkId::new(self.job.split.groups, chunk)).work_key(&token);
        let bytes = file.to_bytes().map_err(|source| ChunkError::WorkFile { key: key.clone(), source })?;
        self.splitter.ports.files.write(&key, "application/x-ndjson", bytes).await?;
        let cursor = Cursor {
            round: 1,
            position: 0,
            file: Some(token.clone()),
            token,
            deferred: 0,
            due: None,
            finished: false,
            by_sweeper: false,
        };
        self.replanned.insert(chunk, Replanned { cursor, failed: 0, bytes: mem::take(&mut self.entry_bytes) });
        self.chunks.push(ChunkPlan { first, items, start: 0, end: 0, oversize: false, keys: None });
        Ok(())
    }

    /// Commits the new chunks as a group, and moves the place. A group without chunks only moves the place, so that the
    /// next delivery does not read the same chunks again.
    async fn commit(&mut self, upto: ChunkId) -> Result<(), Halt> {
        if self.job.split.groups >= MAX_GROUPS {
            return Err(self.splitter.fail(&self.job, too_large()).await);
        }
        self.write_work_file().await?;
        let plan = GroupPlan {
            generation: self.job.generation,
            manifest: Manifest { group: self.job.split.groups, chunks: mem::take(&mut self.chunks) },
            replanned: mem::take(&mut self.replanned),
            step: SplitStep::Walk { from: self.job.split.place.clone(), upto: place(upto) },
        };
        self.job = self.splitter.commit(&self.job, &plan, |_| None).await?;
        if plan.manifest.chunks.is_empty() {
            self.splitter.end_empty_group(&self.job, plan.manifest.group).await?;
        }
        Ok(())
    }
}

/// Returns true if the items of a chunk are in a work file and not in a range of the import's file.
fn is_filed_again(plan: &ChunkPlan) -> bool {
    plan.start == plan.end && !plan.oversize
}

/// The place of the pass as the job stores it.
fn place(chunk: ChunkId) -> String {
    format!("{}-{}", chunk.group, chunk.chunk)
}

/// Parses the output of [`place`]; the first chunk if there is none.
fn parse(place: Option<&str>) -> ChunkId {
    let numbers = place.and_then(|place| place.split_once('-'));
    let chunk = numbers.and_then(|(group, chunk)| Some(ChunkId::new(group.parse().ok()?, chunk.parse().ok()?)));
    chunk.unwrap_or_default()
}

fn too_large() -> JobError {
    let message = "the import was retried too often with too many rows for one undo; undo its rows by an import";
    JobError::new("undo_too_large", message)
}
