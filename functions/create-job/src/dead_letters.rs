//! Replayed dead letters: the items that were given up with their chunks.
//!
//! The items of a dead letter are read from the work files of its own chunk, of whichever generation, so they need not
//! be stored. They are read when an item comes up that the dead letter may have taken: a delivery that replans a few
//! chunks reads few dead letters, regardless of their total number.

use std::mem;
use std::ops::RangeInclusive;

use futures::{StreamExt, TryStreamExt, stream};
use longshore::chunk::{ChunkError, DEAD_LETTERED, read_chain};
use longshore::ports::JobFolder;
use longshore_domain::group::{ChunkPlan, Group, Manifest};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;
use longshore_domain::outcome::Rejection;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::work_file::{End, Entry};

use crate::outcome::{Halt, SplitError};
use crate::splitter::Splitter;
use crate::splitter::at_once;

/// Items that were given up with chunks, as far as the dead letters have been read.
#[derive(Debug, Default)]
pub(crate) struct DeadItems {
    unread: Vec<TakenChunk>,
    /// Numbers of the items, as sorted runs.
    taken: Vec<RangeInclusive<u64>>,
}

/// The chunk of a dead letter that is not read yet.
#[derive(Clone, Eq, PartialEq, Debug)]
struct TakenChunk {
    place: ChunkId,
    items: Items,
    /// Token of the last work file of the chunk.
    last: String,
    /// First round that the workers of the chunk have written.
    from_round: u32,
    /// Maximum memory of the chunk's entries, in bytes.
    bytes: u64,
}

/// Items that a dead letter may have taken.
#[derive(Clone, Eq, PartialEq, Debug)]
enum Items {
    /// Only those of its own chunk, which this generation replans.
    OfChunk,
    /// A run of items.
    Run(RangeInclusive<u64>),
    /// Any item: its chunk was replanned from a work file.
    Any,
}

impl TakenChunk {
    /// Returns the chunk of a dead letter, or `None` if the chunk has no work file.
    fn new(job: &Job, group: &Group, chunk: u32, plan: &ChunkPlan) -> Option<Self> {
        let cursor = group.cursors.get(&chunk)?;
        let (place, was_deferred) = (ChunkId { group: group.number, chunk }, job.source.is_some() && plan.end == 0);
        let items = match was_deferred {
            // Every item is in exactly one of the chunks that are replanned.
            _ if place >= job.retry.carried_over.replanned => Items::OfChunk,
            true => Items::Any,
            false => Items::Run(plan.first..=plan.first + u64::from(plan.items).saturating_sub(1)),
        };
        Some(Self {
            place,
            items,
            last: cursor.file.clone()?,
            // The work file with which a chunk was replanned counts as round 0: items that stay failed in it were not
            // given up with this chunk.
            from_round: u32::from(was_deferred),
            bytes: group.entries_bytes(cursor, u64::from(plan.items)),
        })
    }

    /// Returns true if it may have taken one of these items of a replanned chunk.
    fn may_have_taken(&self, of: ChunkId, dead: &[u64]) -> bool {
        !dead.is_empty()
            && match &self.items {
                Items::OfChunk => self.place == of,
                Items::Run(run) => dead.iter().any(|n| run.contains(n)),
                Items::Any => true,
            }
    }

    /// Returns true if all given-up items of its chunk were given up with it.
    fn took_all_of(&self, of: ChunkId) -> bool {
        self.place == of && self.from_round == 0
    }
}

impl DeadItems {
    /// Removes and returns the dead letters that must be read before these items of a chunk are replanned.
    fn due(&mut self, of: ChunkId, entries: &[Entry]) -> Vec<TakenChunk> {
        let dead: Vec<u64> = given_up(entries).collect();
        let (due, unread) =
            mem::take(&mut self.unread).into_iter().partition(|dead_letter| dead_letter.may_have_taken(of, &dead));
        self.unread = unread;
        due
    }

    /// Adds items that a dead letter took.
    pub(crate) fn add(&mut self, numbers: impl IntoIterator<Item = u64>) {
        let mut runs = mem::take(&mut self.taken);
        runs.extend(numbers.into_iter().map(|n| n..=n));
        runs.sort_unstable_by_key(|run| *run.start());
        for run in runs {
            match self.taken.last_mut() {
                Some(last) if *run.start() <= *last.end() + 1 => *last = *last.start()..=*last.end().max(run.end()),
                _ => self.taken.push(run),
            }
        }
    }

    /// Returns true if an item with this failure is one of them.
    pub(crate) fn took(&self, n: u64, why: &Rejection) -> bool {
        let run = self.taken.partition_point(|run| *run.end() < n);
        why.code == DEAD_LETTERED && self.taken.get(run).is_some_and(|run| run.contains(&n))
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
        let places = job.retry.selected_chunks.iter().flatten();
        let first = places.clone().next().map_or(0, |place| place.group);
        let (groups, _) = self.ports.store.progress_from(job.job_id, first).await?.ok_or(Halt::Refused)?;
        let (mut items, mut manifest) = (DeadItems::default(), None::<Manifest>);
        for place in places {
            let Some(group) = groups.iter().find(|group| group.number == place.group) else { continue };
            let read = match manifest.take().filter(|manifest| manifest.group == place.group) {
                Some(manifest) => Some(manifest),
                None => self.ports.store.manifest(job.job_id, place.group).await?,
            };
            let chunks = manifest.insert(read.ok_or(SplitError::ManifestMissing(place.group))?);
            let plan = chunks.chunks.get(place.chunk as usize);
            items.unread.extend(plan.and_then(|plan| TakenChunk::new(job, group, place.chunk, plan)));
        }
        Ok(items)
    }

    /// Reads the dead letters that may have taken one of these items of a replanned chunk.
    pub(crate) async fn read_dead_letters(
        &self,
        job: &Job,
        of: ChunkId,
        entries: &[Entry],
        items: &mut DeadItems,
    ) -> Result<(), Halt> {
        let (known, unread): (Vec<_>, Vec<_>) =
            items.due(of, entries).into_iter().partition(|dead_letter| dead_letter.took_all_of(of));
        if !known.is_empty() {
            items.add(given_up(entries));
        }
        let at_once = at_once(unread.iter().map(|dead_letter| dead_letter.bytes).max().unwrap_or(0));
        let reads: Vec<_> = unread.iter().map(|dead_letter| self.taken_by(job, dead_letter)).collect();
        let taken: Vec<Vec<u64>> = stream::iter(reads).buffer_unordered(at_once).try_collect().await?;
        items.add(taken.into_iter().flatten());
        Ok(())
    }

    /// Returns the items that were given up with this dead letter's chunk.
    async fn taken_by(&self, job: &Job, dead_letter: &TakenChunk) -> Result<Vec<u64>, ChunkError> {
        let TakenChunk { place, last, from_round, .. } = dead_letter;
        let (files, folder) = (&self.ports.files, JobFolder::for_job(job).chunk(*place));
        let chain = read_chain(files, folder, Some(last), *from_round).await?;
        Ok(chain.iter().flat_map(|file| given_up(&file.entries)).collect())
    }
}
