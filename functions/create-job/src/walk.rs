//! The walk over a source of unknown length: its items in order, into item files, chunks and groups.
//!
//! A group has one item file, which is written before the group is committed, under a name that no other attempt uses.
//! The transaction that commits the group names the file with its entity tag, and moves the job's place after the
//! group's last item. It is refused unless the job's place is still the one at which the group begins. So each item is
//! in at most one committed group, and the file of an attempt that lost the race is never read.
//!
//! The read units of the walk are stored with the group, as part of its cost.
//!
//! A delivery that finds no item, because there are few in much data, commits an empty group to move the place: the next
//! delivery would otherwise read the same data again.

use std::mem;

use longshore::metering;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::job::{ItemFile, Job, JobError};
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::random::nonce;
use longshore_domain::records::Format;
use longshore_domain::split::{ChunkLimits, Growth, INLINE_BYTES, chunks_in_group};
use longshore_domain::timestamp::Timestamp;

use crate::item_file_builder::{GroupLimits, ItemFileBuilder, WalkedItem};
use crate::outcome::{Halt, SplitEnd};
use crate::splitter::{Splitter, Turn};

/// Seconds after which a group is committed although it is not full. Longer than a turn, because the groups of a job
/// are few: while items are found quickly, groups are full long before.
const GROUP_S: i64 = 30;

/// The items of a source in an order that is the same for every reader.
pub(crate) trait ItemSource {
    /// Maximum number of chunks with items in a group.
    const CHUNKS: usize;

    /// Reads the next items; returns false at the end of the source.
    async fn read(&mut self) -> Result<bool, Halt>;

    /// Returns the next item that was read.
    fn next(&mut self) -> Option<WalkedItem>;

    /// Returns the place after the items that were returned, and after everything that was read once none is left.
    /// `None` at the beginning.
    fn place(&self) -> Option<String>;

    /// Returns the size of a chunk after which it is cut, in bytes.
    fn chunk_bytes(limits: ChunkLimits, growth: Growth) -> u64;

    /// Returns the error of a source with more items than one job can hold.
    fn too_large(&self) -> JobError;
}

/// One walk, from the job's place on.
pub(crate) struct Walk<'a, S, Q, F, I> {
    splitter: &'a Splitter<'a, S, Q, F>,
    source: I,
    job: Job,
    limits: ChunkLimits,
    turn: Turn,
    /// Time at which the group is committed although it is not full.
    group_ends: Timestamp,
    ended: bool,
    /// Read units since the last group.
    reads: u64,
}

impl<'a, S: Store, Q: Queues, F: Files, I: ItemSource> Walk<'a, S, Q, F, I> {
    pub(crate) fn new(
        splitter: &'a Splitter<'a, S, Q, F>,
        job: &Job,
        source: I,
        limits: ChunkLimits,
        turn: Turn,
    ) -> Self {
        let group_ends = group_ends(turn, (splitter.clock)());
        Self { splitter, source, job: job.clone(), limits, turn, group_ends, ended: false, reads: 0 }
    }

    /// Commits group after group. `issues` are those of the source.
    pub(crate) async fn run(mut self, issues: &[JobError]) -> Result<SplitEnd, Halt> {
        loop {
            let group = self.next_group().await?;
            if group.is_empty() && self.ended {
                return self.splitter.end(&self.job, self.job.split.groups, issues, self.turn.deadline).await;
            }
            if Growth::from_job(&self.job).is_last() {
                return Err(self.splitter.fail(&self.job, self.source.too_large()).await);
            }
            self.commit(group).await?;
            if (self.splitter.clock)() >= self.turn.ends {
                return self.splitter.send_continuation(&self.job, self.job.split.groups).await;
            }
        }
    }

    /// Takes items until a group is full, the source has ended, or it is time for a commit.
    async fn next_group(&mut self) -> Result<ItemFileBuilder, Halt> {
        let growth = Growth::from_job(&self.job);
        let mut group = ItemFileBuilder::new(GroupLimits {
            chunks: chunks_in_group(self.job.split.groups).min(I::CHUNKS),
            items: self.limits.items.max(growth.min_items()).max(1),
            bytes: I::chunk_bytes(self.limits, growth),
        });
        while !group.is_full() {
            match self.source.next() {
                Some(item) => group.push(item),
                None if self.read().await? => {}
                None => break,
            }
        }
        Ok(group)
    }

    /// Reads the next items; returns false at the end of the source, or if it is time for a commit and something was
    /// read.
    async fn read(&mut self) -> Result<bool, Halt> {
        let has_read = self.source.place() != self.job.split.place;
        if self.ended || (has_read && (self.splitter.clock)() >= self.group_ends) {
            return Ok(false);
        }
        let before = metering::read();
        self.ended = !self.source.read().await?;
        self.reads += (metering::read() - before).reads;
        Ok(true)
    }

    /// Writes the item file, and only then commits the group that names it.
    async fn commit(&mut self, group: ItemFileBuilder) -> Result<(), Halt> {
        let Some(upto) = self.source.place() else { return Ok(()) };
        let (bytes, mut chunks) = group.finish(self.job.split.item_count + 1);
        if !bytes.is_empty() {
            let file = write_item_file(&self.splitter.ports.files, &self.job, &bytes).await?;
            let ranges = chunks.iter_mut().filter(|chunk| !chunk.oversize);
            ranges.for_each(|chunk| chunk.keys = Some(file.clone()));
        }
        let manifest = Manifest { group: self.job.split.groups, chunks };
        let is_empty = manifest.chunks.is_empty();
        let plan = GroupPlan::from_walk(self.job.generation, manifest, self.job.split.place.clone(), upto);
        let plan = GroupPlan { walk_reads: mem::take(&mut self.reads), ..plan };
        let inline = |plan: &ChunkPlan| {
            let rows = bytes.get(plan.start as usize..plan.end as usize);
            rows.filter(|rows| !plan.oversize && rows.len() as u64 <= INLINE_BYTES)
        };
        self.job = self.splitter.commit(&self.job, &plan, inline).await?;
        if is_empty {
            self.splitter.end_empty_group(&self.job, plan.manifest.group).await?;
        }
        self.group_ends = group_ends(self.turn, (self.splitter.clock)());
        Ok(())
    }
}

/// Writes an item file of this attempt into the job's folder.
async fn write_item_file(files: &impl Files, job: &Job, bytes: &[u8]) -> Result<ItemFile, Halt> {
    let name = nonce();
    let key = ItemFile::object_key(&job.tenant, job.job_id, &name);
    let content_type = match job.record_format() {
        Some(Format::Csv) => "text/csv",
        Some(Format::JsonLines) | None => "application/x-ndjson",
    };
    files.write(&key, content_type, bytes.to_vec()).await?;
    // A deleted job's files may be removed at any time.
    let info = files.info(&key).await?.ok_or(Halt::Refused)?;
    Ok(ItemFile { name, etag: info.etag })
}

fn group_ends(turn: Turn, now: Timestamp) -> Timestamp {
    turn.deadline.min(now.plus_seconds(GROUP_S))
}
