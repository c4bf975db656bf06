//! The items of an undo after those of the import's file: the rows that the import's retries replanned.
//!
//! A retry replans failed rows into work files, with the contents of a corrected file if there is one. Workers have
//! processed these contents, so an undo must look at their keys, too. Their numbers continue those of the file. A chunk
//! that a retry took over unchanged is a range of the file, which is read anyway.
//!
//! The place of the pass is the next chunk of the import. The transaction that commits a group moves it, if it is still
//! the place at which the group begins. So two splitters never plan the same item, and the work file of a group that
//! was not committed is never read.

use longshore::chunk::{ChunkError, read_first};
use longshore::ports::JobFolder;
use longshore_domain::group::{Group, SplitStep};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, JobError, UndoneImport};
use longshore_domain::ports::{Files, JobProgress, Queues, Store};
use longshore_domain::split::ChunkLimits;
use longshore_domain::work_file::{End, Entry};

use crate::outcome::{Halt, SplitEnd, SplitError};
use crate::replanned_chunks::ReplannedChunks;
use crate::splitter::{Splitter, Turn};

/// Maximum number of groups of an undo: those of a file and as many again. All of them are read for each answer about
/// the job.
const MAX_GROUPS: u32 = 900;

/// New chunks that a chunk of the import may need in a group: one for a full file, and one for the next file.
const NEW_CHUNKS_PER_CHUNK: usize = 2;

/// One pass over the chunks of the import, from the job's place on.
pub(crate) struct UndoPlanner<'a, S, Q, F> {
    splitter: &'a Splitter<'a, S, Q, F>,
    job: Job,
    import: UndoneImport,
    limits: ChunkLimits,
    turn: Turn,
    /// Number of the next item.
    next_item: u64,
    /// The next group.
    planned: ReplannedChunks,
}

impl<'a, S: Store, Q: Queues, F: Files> UndoPlanner<'a, S, Q, F> {
    pub(crate) fn new(
        splitter: &'a Splitter<'a, S, Q, F>,
        job: Job,
        import: UndoneImport,
        limits: ChunkLimits,
        turn: Turn,
    ) -> Self {
        let next_item = job.split.item_count + 1;
        Self { splitter, job, import, limits, turn, next_item, planned: ReplannedChunks::default() }
    }

    /// Plans everything, and ends the split.
    pub(crate) async fn run(mut self, issues: &[JobError]) -> Result<SplitEnd, Halt> {
        let from = parse(self.job.split.place.as_deref());
        let splitter = self.splitter;
        let store = &splitter.ports.store;
        for group in self.groups(from.group).await? {
            let manifest = store.manifest(self.import.job_id, group.number).await?;
            let Some(manifest) = manifest else { return Err(self.import_is_gone(group.number).await) };
            let first = if group.number == from.group { from.chunk } else { 0 };
            for (chunk, plan) in (0..).zip(&manifest.chunks).skip(first as usize) {
                if plan.is_in_work_file() {
                    self.plan_chunk(&group, chunk).await?;
                }
                let turn_over = (self.splitter.clock)() >= self.turn.ends;
                if turn_over || !self.planned.has_room(NEW_CHUNKS_PER_CHUNK) {
                    self.commit(ChunkId { group: group.number, chunk: chunk + 1 }).await?;
                }
                if turn_over {
                    return self.splitter.send_continuation(&self.job, self.job.split.groups).await;
                }
            }
        }
        if !self.planned.is_empty() {
            self.commit(ChunkId { group: self.import.groups, chunk: 0 }).await?;
        }
        self.splitter.end(&self.job, self.job.split.groups, issues, self.turn.deadline).await
    }

    /// Reads the groups of the import from this one on. Without a retry, nothing was replanned, and none is read.
    async fn groups(&self, from: u32) -> Result<Vec<Group>, Halt> {
        let read = self.splitter.ports.store.progress_from(self.import.job_id, from).await?;
        let read = read.filter(|read| !read.job.is_deleted());
        let Some(JobProgress { mut groups, job }) = read else { return Err(self.import_is_gone(from).await) };
        if job.generation == 0 {
            return Ok(Vec::new());
        }
        let numbers = from..self.import.groups;
        groups.retain(|group| numbers.contains(&group.number));
        // Items of the table expire in any order, so a group can be gone before its job.
        if groups.len() == numbers.len() { Ok(groups) } else { Err(self.import_is_gone(from).await) }
    }

    /// Returns the end of the split of a preview whose import was removed meanwhile, which fails the job. An undo keeps
    /// its import, so that this is an error of ours.
    async fn import_is_gone(&self, group: u32) -> Halt {
        if !self.import.preview {
            return SplitError::ManifestMissing(group).into();
        }
        let message = format!("the import {} was deleted or has expired during the preview", self.import.job_id);
        self.splitter.fail(&self.job, JobError::new("source_missing", message)).await
    }

    /// Plans the items that a retry of the import replanned as this chunk.
    async fn plan_chunk(&mut self, group: &Group, chunk: u32) -> Result<(), Halt> {
        let file = group.cursors.get(&chunk).and_then(|cursor| cursor.file.as_deref());
        let Some(file) = file else { return Ok(()) };
        let folder = JobFolder { tenant: &self.job.tenant, id: self.import.job_id };
        let folder = folder.chunk(ChunkId::new(group.number, chunk));
        let replanned = match read_first(&self.splitter.ports.files, folder, file).await {
            Err(ChunkError::WorkFileMissing(_)) => return Err(self.import_is_gone(group.number).await),
            replanned => replanned?,
        };
        for entry in replanned.entries.into_iter().filter(|entry| matches!(entry.end, End::Transient { .. })) {
            let end = End::Transient { attempts: 0, reason: String::from("undo"), due: None };
            self.planned.push(Entry { n: self.next_item, end, ..entry });
            self.next_item += 1;
            if self.planned.is_full(self.limits) {
                self.write_work_file().await?;
            }
        }
        Ok(())
    }

    async fn write_work_file(&mut self) -> Result<(), Halt> {
        self.planned.write_file(&self.splitter.ports.files, &self.job).await
    }

    /// Commits the new chunks as a group, and moves the place. A group without chunks only moves the place, so that the
    /// next delivery does not read the same chunks again.
    async fn commit(&mut self, upto: ChunkId) -> Result<(), Halt> {
        if self.job.split.groups >= MAX_GROUPS {
            return Err(self.splitter.fail(&self.job, too_large()).await);
        }
        self.write_work_file().await?;
        let step = SplitStep::Walk { from: self.job.split.place.clone(), upto: place(upto) };
        let plan = self.planned.take(&self.job, step);
        self.job = self.splitter.commit(&self.job, &plan, |_| None).await?;
        if plan.manifest.chunks.is_empty() {
            self.splitter.end_empty_group(&self.job, plan.manifest.group).await?;
        }
        Ok(())
    }
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
