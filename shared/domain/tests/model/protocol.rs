//! A configuration of the protocol: the file, the functions, the faults, and the flaw.
//!
//! The model must find each flaw. Some are conditions that `cargo xtask prove` removes, under its names for them.

use longshore_domain::group::ChunkPlan;
use longshore_domain::job::{Job, SplitState};
use measurements::CONDITIONS;

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
    ChunkPlan { first: start / ITEM_BYTES + 1, items: items.len() as u32, start, end, oversize: false, keys: None }
}

/// Returns the place of a walk that has passed the items before this byte; `None` at the beginning.
pub(crate) fn place(byte: u64) -> Option<String> {
    (byte > 0).then(|| format!("{:03}", byte / ITEM_BYTES))
}

/// Returns the byte up to which the source is split.
pub(crate) fn split_offset(split: &SplitState) -> u64 {
    let passed = split.place.as_ref().and_then(|place| place.parse::<u64>().ok());
    passed.map_or(split.offset, |items| items * ITEM_BYTES)
}

/// One configuration.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    /// Items of each chunk of each group.
    pub(crate) file: Vec<Vec<Vec<Nature>>>,
    /// True if the items are the records of a dataset, whose keys the splitter walks. A record's key is its number.
    pub(crate) walk: bool,
    /// True if the handler returns an output for each item that succeeds.
    pub(crate) outputs: bool,
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
        let (walk, outputs, checkpoint, runs) = (false, false, usize::MAX, [1, 2, 1]);
        Self { file, walk, outputs, checkpoint, runs, sweeper, deduplication, bounds, sights, flaw }
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

    /// Returns the code with which an item fails.
    pub(crate) fn code(&self, item: u8) -> &'static str {
        self.nature(item).map_or("", Nature::code)
    }

    /// Returns the number of items of the file.
    pub(crate) fn item_count(&self) -> usize {
        self.file.iter().flatten().map(Vec::len).sum()
    }

    /// Returns true if the sweeper counts its pushes, and gives up work after some.
    pub(crate) fn counts_pushes(&self) -> bool {
        self.bounds.pauses > 0
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

/// A flaw in the protocol; the model must find each.
#[derive(Clone, Copy, Eq, PartialEq, Debug)]
pub(crate) enum Flaw {
    /// None: the unmodified protocol.
    None,
    /// Counts are added unconditionally.
    UnconditionalAdd,
    /// A commit checks that its group is open, but not the cursor.
    CursorUnchecked,
    /// A commit does not check that its group is open.
    CommitsAfterClose,
    /// A cursor value consists of round and position alone, so that two attempts can write the same value.
    CursorsRepeat,
    /// A work file is named by its chunk, round and position alone.
    FilesShareNames,
    /// A commit whose items all succeed writes no work file, although they have outputs.
    OutputsNeedEntries,
    /// Completion reads every work file of a chunk, including those that no cursor names.
    UnvouchedFiles,
    /// A report is named by its generation alone, so that each completion overwrites earlier reports.
    ReportsShareNames,
    /// The final status is written before the groups are closed.
    StatusBeforeClose,
    /// A final status is set on a job that already has one.
    StatusTwice,
    /// Completion acknowledges when its final status is refused.
    CompletionGivesUp,
    /// Only the worker of the last commit rolls up its group; no later delivery does.
    WorkerAlone,
    /// A status call uses the totals of a job that ended after its groups were read.
    StaleAnswer,
    /// A roll-up does not check that the job is still live.
    RollUpAfterEnd,
    /// The end of the split is recorded after the last send, without a check for "all done".
    CountAfterLastSend,
    /// The splitter acknowledges its message before it records the end.
    UnsealedSplit,
    /// A group is committed regardless of the split cursor.
    SplitCursorUnchecked,
    /// A group is committed regardless of the split position, and its splitter continues from any state it then reads.
    ContinuesFromForeignState,
    /// A group is committed regardless of the split position.
    PositionUnchecked,
    /// A splitter continues from any state it reads after its commit.
    AnswerUnchecked,
    /// The splitter treats a refusal as a lost race, and stops.
    SplitterGivesUp,
    /// "All done" does not check that the split has ended.
    DoneBeforeSplitEnd,
    /// A worker acknowledges when it opens the round, before it has sent the round's message.
    RoundUnsent,
    /// Group, end of split and final status are accepted from any generation.
    AnyGeneration,
    /// A replay runs everything that has failed, not only its chunk.
    ReplayRunsAll,
    /// A retry also replans items that have succeeded.
    ReplansAll,
    /// A worker does not look at the pauses.
    PauseIgnoredByWorker,
    /// The sweeper pushes a paused job.
    PauseIgnoredBySweeper,
    /// A worker that acknowledges a paused chunk does not reset the count of its group's pushes.
    HeldChunkCounts,
    /// A splitter that acknowledges its message during a pause does not reset the count of the job's pushes.
    HeldSplitCounts,
    /// The count of pushes is reset only if it is as it was read.
    ResetOnlyIfUnchanged,
}

/// The conditions that the model has, by the names under which they are removed. The others concern only the stored
/// job.
const MODELLED: [(&str, Flaw); 12] = [
    ("cursor-condition", Flaw::CursorUnchecked),
    ("unique-cursors", Flaw::CursorsRepeat),
    ("open-group", Flaw::CommitsAfterClose),
    ("attempt-in-names", Flaw::FilesShareNames),
    ("attempt-in-reports", Flaw::ReportsShareNames),
    ("closed-before-status", Flaw::StatusBeforeClose),
    ("final-count-first", Flaw::CountAfterLastSend),
    ("split-cursor", Flaw::SplitCursorUnchecked),
    ("place-of-the-split", Flaw::ContinuesFromForeignState),
    ("final-status", Flaw::StatusTwice),
    ("generation", Flaw::AnyGeneration),
    ("no-roll-up-after-the-end", Flaw::RollUpAfterEnd),
];

impl Flaw {
    /// Returns true if a commit does not check that its group begins at the split position.
    pub(crate) fn ignores_the_position(self) -> bool {
        matches!(self, Self::ContinuesFromForeignState | Self::PositionUnchecked | Self::SplitCursorUnchecked)
    }

    /// Returns true if the state read after a commit may differ from the written one.
    pub(crate) fn accepts_any_answer(self) -> bool {
        matches!(self, Self::ContinuesFromForeignState | Self::AnswerUnchecked | Self::SplitCursorUnchecked)
    }

    /// Returns the protocol without the condition of this name; `None` if the model does not have it.
    pub(crate) fn without(condition: &str) -> Option<Self> {
        MODELLED.iter().find(|(name, _)| *name == condition).map(|(_, flaw)| *flaw)
    }
}

#[test]
fn every_modelled_condition_can_be_removed() {
    for (modelled, _) in MODELLED {
        assert!(CONDITIONS.iter().any(|(name, _)| *name == modelled), "{modelled}");
    }
}
