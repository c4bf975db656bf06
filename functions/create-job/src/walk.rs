//! The walk over a dataset: its keys in order, into key files, chunks and groups.
//!
//! A group has one key file, which is written before the group is committed, under a name that no other attempt uses.
//! The transaction that commits the group names the file with its entity tag, and moves the job's place to the group's
//! last key. It is refused unless the job's place is still the one at which the group begins. So each key is in at most
//! one committed group, and the file of an attempt that lost the race is never read.
//!
//! A delivery that finds no key, because few records are new enough, commits an empty group to move the place: the next
//! delivery would otherwise read the same records again.

use std::collections::VecDeque;

use longshore::handler::AnyRecordReader;
use longshore_domain::dataset::Dataset;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::job::{DatasetSource, Job, JobError, KeyFile};
use longshore_domain::ports::{Files, KeyWalk, Queues, Store};
use longshore_domain::random::nonce;
use longshore_domain::split::{ChunkLimits, Growth, INLINE_BYTES, chunks_in_group};
use longshore_domain::timestamp::Timestamp;

use crate::outcome::{Halt, SplitEnd, SplitError};
use crate::splitter::{Splitter, Turn};

/// Size of a key file at which its group ends: the splitter has the file in memory.
const FILE_BYTES: usize = 32 << 20;

/// Seconds after which a group is committed although it is not full. Longer than a turn, because the groups of a job
/// are few: while keys are found quickly, groups are full long before.
const GROUP_S: i64 = 30;

/// One walk, from the job's place on.
pub(crate) struct Walk<'a, S, Q, F> {
    splitter: &'a Splitter<'a, S, Q, F>,
    reader: &'a dyn AnyRecordReader,
    job: Job,
    dataset: Dataset,
    limits: ChunkLimits,
    turn: Turn,
    /// Time at which the group is committed although it is not full.
    group_ends: Timestamp,
    /// Keys that were read and are in no group yet.
    keys: VecDeque<String>,
    /// Where the next read begins.
    next: KeyWalk,
    ended: bool,
}

/// The next group: the content of its key file, its chunks without the file's name, and the place behind it.
#[derive(Default)]
struct NextGroup {
    bytes: Vec<u8>,
    chunks: Vec<ChunkPlan>,
    upto: Option<String>,
}

impl<'a, S: Store, Q: Queues, F: Files> Walk<'a, S, Q, F> {
    pub(crate) fn new(
        splitter: &'a Splitter<'a, S, Q, F>,
        job: &Job,
        source: &DatasetSource,
        limits: ChunkLimits,
        turn: Turn,
    ) -> Result<Self, Halt> {
        let unusable = || SplitError::Definition(job.job_id.to_string());
        let reader = splitter.registry.records().ok_or_else(unusable)?;
        let dataset = job.dataset().ok_or_else(unusable)?;
        let next = KeyWalk { after: job.split.place.clone(), updated_since: source.updated_since };
        let (job, keys) = (job.clone(), VecDeque::new());
        let group_ends = turn.deadline.min((splitter.clock)().plus_seconds(GROUP_S));
        Ok(Self { splitter, reader, job, dataset, limits, turn, group_ends, keys, next, ended: false })
    }

    pub(crate) async fn run(mut self) -> Result<SplitEnd, Halt> {
        loop {
            let group = self.next_group().await?;
            if group.chunks.is_empty() && self.ended {
                return self.splitter.end(&self.job, self.job.split.groups, &[], self.turn.deadline).await;
            }
            if Growth::from_job(&self.job).is_last() {
                return Err(self.splitter.fail(&self.job, too_large(&self.dataset)).await);
            }
            self.commit(group).await?;
            if (self.splitter.clock)() >= self.turn.ends {
                return self.splitter.send_continuation(&self.job, self.job.split.groups).await;
            }
        }
    }

    /// Reads keys until a group is full, the walk has ended, or it is time for a commit.
    async fn next_group(&mut self) -> Result<NextGroup, Halt> {
        let wanted = chunks_in_group(self.job.split.groups);
        let items = self.limits.items.max(Growth::from_job(&self.job).min_items()).max(1);
        let mut group = NextGroup::default();
        while !group.is_full(wanted, items) {
            if self.keys.is_empty() && !self.read_keys().await? {
                break;
            }
            let Some(key) = self.keys.pop_front() else { continue };
            group.push(&key, items, self.job.split.item_count)?;
            group.upto = Some(key);
        }
        if self.keys.is_empty() {
            // Behind the last key, no record up to this place is new enough.
            group.upto = group.upto.max(self.next.after.clone());
        }
        Ok(group)
    }

    /// Reads the next keys; returns false at the end of the walk, or if it is time for a commit and something was read.
    async fn read_keys(&mut self) -> Result<bool, Halt> {
        let has_read = self.next.after != self.job.split.place;
        if self.ended || (has_read && (self.splitter.clock)() >= self.group_ends) {
            return Ok(false);
        }
        let page = self.reader.walk_keys(&self.dataset, &self.next).await?;
        self.keys.extend(page.keys);
        self.ended = page.next.is_none();
        self.next.after = page.next.or(self.next.after.take());
        Ok(true)
    }

    /// Writes the key file, and only then commits the group that names it.
    async fn commit(&mut self, group: NextGroup) -> Result<(), Halt> {
        let NextGroup { bytes, mut chunks, upto } = group;
        let Some(upto) = upto else { return Ok(()) };
        if !chunks.is_empty() {
            let keys = self.write_key_file(&bytes).await?;
            chunks.iter_mut().for_each(|chunk| chunk.keys = Some(keys.clone()));
        }
        let manifest = Manifest { group: self.job.split.groups, chunks };
        let is_empty = manifest.chunks.is_empty();
        let plan = GroupPlan::from_walk(self.job.generation, manifest, self.job.split.place.clone(), upto);
        let inline = |plan: &ChunkPlan| {
            let rows = bytes.get(plan.start as usize..plan.end as usize);
            rows.filter(|rows| rows.len() as u64 <= INLINE_BYTES)
        };
        self.job = self.splitter.commit(&self.job, &plan, inline).await?;
        if is_empty {
            self.splitter.end_empty_group(&self.job, plan.manifest.group).await?;
        }
        self.group_ends = self.turn.deadline.min((self.splitter.clock)().plus_seconds(GROUP_S));
        Ok(())
    }

    /// Writes a key file of this attempt.
    async fn write_key_file(&self, bytes: &[u8]) -> Result<KeyFile, Halt> {
        let (files, name) = (&self.splitter.ports.files, nonce());
        let key = KeyFile::object_key(&self.job.tenant, self.job.job_id, &name);
        files.write(&key, "application/x-ndjson", bytes.to_vec()).await?;
        // A deleted job's files may be removed at any time.
        let info = files.info(&key).await?.ok_or(Halt::Refused)?;
        Ok(KeyFile { name, etag: info.etag })
    }
}

fn too_large(dataset: &Dataset) -> JobError {
    let message = format!("the dataset {:?} has more keys than one job can hold; use updatedSince", dataset.name);
    JobError::new("dataset_too_large", message)
}

impl NextGroup {
    fn is_full(&self, chunks: usize, items: u32) -> bool {
        let full = self.chunks.iter().filter(|chunk| chunk.items >= items).count();
        full >= chunks || self.bytes.len() >= FILE_BYTES
    }

    /// Appends a key as a line, to the last chunk or to a new one. `before` is the number of items of earlier groups.
    fn push(&mut self, key: &str, items: u32, before: u64) -> Result<(), Halt> {
        let start = self.bytes.len() as u64;
        serde_json::to_writer(&mut self.bytes, key).map_err(|_| Halt::Refused)?;
        self.bytes.push(b'\n');
        let end = self.bytes.len() as u64;
        if let Some(open) = self.chunks.last_mut().filter(|chunk| chunk.items < items) {
            (open.items, open.end) = (open.items + 1, end);
            return Ok(());
        }
        let first = self.chunks.last().map_or(before + 1, |chunk| chunk.first + u64::from(chunk.items));
        self.chunks.push(ChunkPlan { first, items: 1, start, end, oversize: false, keys: None });
        Ok(())
    }
}
