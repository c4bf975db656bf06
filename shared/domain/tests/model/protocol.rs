//! A configuration of the protocol: the file, the functions, the faults, and the flaw.

use longshore_domain::group::ChunkPlan;
use longshore_domain::job::Job;

use crate::flaw::Flaw;
use crate::item::Nature;
use crate::record::Bounds;
use crate::step::Message;
use crate::world::World;

/// Bytes of every item, so that a percentage can be checked.
pub(crate) const ITEM_BYTES: u64 = 10;

/// Returns the plan of a chunk that is a range of the file's items.
pub(crate) fn chunk_plan(items: &[u8]) -> ChunkPlan {
    let start = items.first().map_or(0, |i| u64::from(*i)) * ITEM_BYTES;
    let end = start + items.len() as u64 * ITEM_BYTES;
    ChunkPlan { first: start / ITEM_BYTES + 1, items: items.len() as u32, start, end, oversize: false }
}

/// One configuration.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    /// Items of each chunk of each group.
    pub(crate) file: Vec<Vec<Vec<Nature>>>,
    /// Number of items after which a worker commits.
    pub(crate) checkpoint: usize,
    /// Maximum concurrent functions: splitters, workers, completions.
    pub(crate) runs: [usize; 3],
    /// True if the sweeper runs. Without it, crashes alone must not stop a job.
    pub(crate) sweeper: bool,
    /// True if the FIFO queues drop a message that was sent before.
    pub(crate) deduplication: bool,
    /// Faults that may occur.
    pub(crate) bounds: Bounds,
    /// Sights that the configuration must reach.
    pub(crate) sights: &'static [&'static str],
    /// The flaw in the protocol.
    pub(crate) flaw: Flaw,
}

impl Protocol {
    /// Creates the sound protocol over this file: one commit per round, two workers, no sweeper, and no faults.
    pub(crate) fn new(file: Vec<Vec<Vec<Nature>>>) -> Self {
        let (bounds, sights, flaw) = (Bounds::default(), &[][..], Flaw::None);
        let (sweeper, deduplication) = (false, true);
        Self { file, checkpoint: usize::MAX, runs: [1, 2, 1], sweeper, deduplication, bounds, sights, flaw }
    }

    /// Returns the numbers of the items of each chunk of a part of the file.
    pub(crate) fn part(&self, part: usize) -> Vec<Vec<u8>> {
        let mut next = self.file[..part].iter().flatten().map(Vec::len).sum::<usize>() as u8..;
        self.file[part].iter().map(|chunk| next.by_ref().take(chunk.len()).collect()).collect()
    }

    /// Returns the part of the file that begins at this byte.
    pub(crate) fn part_at(&self, offset: u64) -> Option<usize> {
        let mut start = 0;
        for (part, chunks) in self.file.iter().enumerate() {
            if start == offset {
                return Some(part);
            }
            start += chunks.iter().map(Vec::len).sum::<usize>() as u64 * ITEM_BYTES;
        }
        None
    }

    /// Returns the behavior of an item.
    pub(crate) fn nature(&self, item: u8) -> Option<Nature> {
        self.file.iter().flatten().flatten().nth(item as usize).copied()
    }

    /// Returns the number of items of the file.
    pub(crate) fn item_count(&self) -> usize {
        self.file.iter().flatten().map(Vec::len).sum()
    }

    /// Sends a control message. Deduplication drops it if it was sent at this position before.
    pub(crate) fn send_fifo(&self, world: &mut World, message: Message, position: u32) {
        if self.deduplication { world.send_once(message, position) } else { world.send(message) }
    }

    /// Returns true if every item has ended according to the job record.
    pub(crate) fn all_done(&self, job: &Job) -> bool {
        match self.flaw {
            Flaw::DoneBeforeSplitEnd => {
                job.split.groups > 0 && job.split.done_groups.len() == job.split.groups as usize
            }
            _ => job.all_done(),
        }
    }
}
