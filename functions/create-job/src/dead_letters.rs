//! Replayed dead letters: the items that were given up with their chunks.
//!
//! The items of a dead letter are read from the work files of its chunk, of any generation, so they need not be stored.
//! They are read only when an item is replanned that the dead letter may contain: a delivery that replans a few
//! chunks reads few dead letters, regardless of their total number.

use std::mem;
use std::ops::RangeInclusive;

use futures::{StreamExt, TryStreamExt, stream};
use longshore::chunk::{ChunkError, DEAD_LETTERED, concurrent_reads, read_chain};
use longshore::ports::JobFolder;
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;
use longshore_domain::outcome::Rejection;
use longshore_domain::ports::{Files, JobProgress, Queues, Store};
use longshore_domain::work_file::{End, Entry};

use crate::outcome::{Halt, SplitError};
use crate::splitter::{CONCURRENT_CHUNKS, Splitter};

/// Items that were given up with chunks: those of the dead letters that were read, and the unread dead letters.
#[derive(Debug, Default)]
pub(crate) struct DeadItems {
    unread: Vec<GivenUpChunk>,
    /// Numbers of the items, as sorted runs.
    items: Vec<RangeInclusive<u64>>,
}

/// The chunk of a dead letter that is not read yet.
#[derive(Clone, Eq, PartialEq, Debug)]
struct GivenUpChunk {
    id: ChunkId,
    items: Items,
    /// Token of the last work file of the chunk.
    last: String,
    /// First round that the workers of the chunk have written.
    from_round: u32,
    /// Maximum memory of the chunk's entries, in bytes.
    bytes: u64,
}

/// Items that a dead letter may contain.
#[derive(Clone, Eq, PartialEq, Debug)]
enum Items {
    /// Only those of its own chunk, which this generation replans.
    OfChunk,
    /// A run of items.
    Run(RangeInclusive<u64>),
    /// Any item: its chunk was replanned from a work file.
    Any,
}

impl GivenUpChunk {
    /// Returns the chunk of a dead letter, or `None` if the chunk has no work file.
    fn new(job: &Job, group: &Group, chunk: u32, plan: &ChunkPlan) -> Option<Self> {
        let cursor = group.cursors.get(&chunk)?;
        let is_range = plan.end > 0 || plan.oversize;
        let (id, was_replanned) = (ChunkId { group: group.number, chunk }, job.source.is_some() && !is_range);
        let items = match was_replanned {
            // Every item is in exactly one of the chunks that are replanned.
            _ if id >= job.retry.carried_over.replanned => Items::OfChunk,
            true => Items::Any,
            false => Items::Run(plan.first..=plan.first + u64::from(plan.items).saturating_sub(1)),
        };
        Some(Self {
            id,
            items,
            last: cursor.file.clone()?,
            // The work file with which a chunk was replanned counts as round 0: items that stay failed in it were not
            // given up with this chunk.
            from_round: u32::from(was_replanned),
            bytes: group.entries_bytes(cursor, u64::from(plan.items)),
        })
    }

    /// Returns true if the dead letter may contain one of these items of a replanned chunk.
    fn may_contain(&self, chunk: ChunkId, dead: &[u64]) -> bool {
        !dead.is_empty()
            && match &self.items {
                Items::OfChunk => self.id == chunk,
                Items::Run(run) => dead.iter().any(|n| run.contains(n)),
                Items::Any => true,
            }
    }

    /// Returns true if all given-up items of this chunk were given up with the dead letter.
    fn contains_all_of(&self, chunk: ChunkId) -> bool {
        self.id == chunk && self.from_round == 0
    }
}

impl DeadItems {
    /// Removes and returns the dead letters that must be read before these items of a chunk are replanned.
    fn needed(&mut self, chunk: ChunkId, entries: &[Entry]) -> Vec<GivenUpChunk> {
        let dead: Vec<u64> = given_up(entries).collect();
        let (needed, unread) =
            mem::take(&mut self.unread).into_iter().partition(|dead_letter| dead_letter.may_contain(chunk, &dead));
        self.unread = unread;
        needed
    }

    /// Adds items that a dead letter contains.
    pub(crate) fn add(&mut self, numbers: impl IntoIterator<Item = u64>) {
        let mut runs = mem::take(&mut self.items);
        runs.extend(numbers.into_iter().map(|n| n..=n));
        runs.sort_unstable_by_key(|run| *run.start());
        for run in runs {
            match self.items.last_mut() {
                Some(last) if *run.start() <= *last.end() + 1 => *last = *last.start()..=*last.end().max(run.end()),
                _ => self.items.push(run),
            }
        }
    }

    /// Returns true if an item with this failure is in one of the dead letters.
    pub(crate) fn contains(&self, n: u64, why: &Rejection) -> bool {
        let run = self.items.partition_point(|run| *run.end() < n);
        why.code == DEAD_LETTERED && self.items.get(run).is_some_and(|run| run.contains(&n))
    }
}

/// Returns the numbers of the items that were given up with a chunk.
fn given_up(entries: &[Entry]) -> impl Iterator<Item = u64> {
    let dead = |entry: &&Entry| matches!(&entry.end, End::Failed(why) if why.code == DEAD_LETTERED);
    entries.iter().filter(dead).map(|entry| entry.n)
}

impl<S: Store, Q: Queues, F: Files> Splitter<'_, S, Q, F> {
    /// Returns the dead letters that the job's current generation replays, unread.
    pub(crate) async fn dead_items(&self, job: &Job) -> Result<DeadItems, Halt> {
        let ids = job.retry.selection.chunks().into_iter().flatten();
        let first = ids.clone().next().map_or(0, |id| id.group);
        let JobProgress { groups, .. } =
            self.ports.store.progress_from(job.job_id, first).await?.ok_or(Halt::Refused)?;
        let (mut items, mut manifest) = (DeadItems::default(), None::<Manifest>);
        for id in ids {
            let Some(group) = groups.iter().find(|group| group.number == id.group) else { continue };
            let current = match manifest.take().filter(|manifest| manifest.group == id.group) {
                Some(manifest) => Some(manifest),
                None => self.ports.store.manifest(job.job_id, id.group).await?,
            };
            let current = manifest.insert(current.ok_or(SplitError::ManifestMissing(id.group))?);
            let plan = current.chunks.get(id.chunk as usize);
            items.unread.extend(plan.and_then(|plan| GivenUpChunk::new(job, group, id.chunk, plan)));
        }
        Ok(items)
    }

    /// Reads the dead letters that may contain one of these items of a replanned chunk.
    pub(crate) async fn read_dead_letters(
        &self,
        job: &Job,
        chunk: ChunkId,
        entries: &[Entry],
        items: &mut DeadItems,
    ) -> Result<(), Halt> {
        let (known, unread): (Vec<_>, Vec<_>) =
            items.needed(chunk, entries).into_iter().partition(|dead_letter| dead_letter.contains_all_of(chunk));
        if !known.is_empty() {
            items.add(given_up(entries));
        }
        let largest = unread.iter().map(|dead_letter| dead_letter.bytes).max().unwrap_or(0);
        let reads: Vec<_> = unread.iter().map(|dead_letter| self.items_given_up_with(job, dead_letter)).collect();
        let numbers: Vec<Vec<u64>> =
            stream::iter(reads).buffer_unordered(concurrent_reads(largest, CONCURRENT_CHUNKS)).try_collect().await?;
        items.add(numbers.into_iter().flatten());
        Ok(())
    }

    /// Returns the items that were given up with this dead letter's chunk.
    async fn items_given_up_with(&self, job: &Job, dead_letter: &GivenUpChunk) -> Result<Vec<u64>, ChunkError> {
        let GivenUpChunk { id, last, from_round, .. } = dead_letter;
        let (files, folder) = (&self.ports.files, JobFolder::for_job(job).chunk(*id));
        let chain = read_chain(files, folder, Some(last), *from_round).await?;
        Ok(chain.iter().flat_map(|file| given_up(&file.entries)).collect())
    }
}
