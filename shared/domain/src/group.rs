//! The ledger: groups of chunks, and the one conditional commit that makes counting exactly-once.
//!
//! A chunk's commit adds to its group's counts and moves the chunk's cursor, on condition that the cursor still has the
//! value that the worker started from. A redelivery, a retried call or a second worker finds it moved and adds nothing.
//! The pure [`Group::commit`] below is the specification; the DynamoDB adapter writes the same as one update.

use std::collections::BTreeMap;
use std::ops::Range;

use crate::cost::ChunkUsage;
use crate::cursor::Cursor;
use crate::ids::ChunkId;
pub use crate::manifest::{ChunkPlan, Manifest};
use crate::outcome::Counts;
use crate::records::Reading;
use crate::timestamp::Timestamp;

/// Maximum number of chunks in a group. A cursor takes up to 54 bytes with its name, so that sixteen of them and the
/// counts stay under 1,024 bytes: one DynamoDB write unit for every commit.
pub const CHUNKS_PER_GROUP: usize = 16;

/// Maximum memory of a work file's entry, without its row: a rejection with the longest message, code and field.
const ENTRY_BYTES: u64 = 3 << 10;

/// The progress of up to sixteen chunks: one small record that all their workers write.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Group {
    /// Number of the group within the job, from 0.
    pub number: u32,
    /// Items in its chunks.
    pub items: u64,
    /// Bytes of the source in its chunks, for the percentage.
    pub bytes: u64,
    /// Items that ended, by outcome.
    pub counts: Counts,
    /// Billed units of its commits, and the reads of the walk that has found its items.
    pub usage: ChunkUsage,
    /// False once completion has closed it: no commit can follow.
    pub open: bool,
    /// Each chunk's cursor; absent until its first commit.
    pub cursors: BTreeMap<u32, Cursor>,
    /// Time of the last commit, or of the last wake of one of its chunks.
    pub progressed_at: Timestamp,
    /// Number of times that the sweeper has sent the group's chunks again since then, or since one of their messages
    /// has arrived during a pause.
    pub resends: u32,
    /// Last time at which messages for its chunks are known to have been sent: at its commit, by a re-send, or when a
    /// chunk was woken.
    pub sent_at: Timestamp,
}

impl Group {
    /// Creates a group as the splitter commits it.
    pub fn new(number: u32, items: u64, bytes: u64, now: Timestamp) -> Self {
        Self {
            number,
            items,
            bytes,
            counts: Counts::default(),
            usage: ChunkUsage::default(),
            open: true,
            cursors: BTreeMap::new(),
            progressed_at: now,
            resends: 0,
            sent_at: now,
        }
    }

    /// Creates the group of a plan.
    pub fn from_plan(plan: &GroupPlan, now: Timestamp) -> Self {
        let GroupPlan { manifest, .. } = plan;
        let bytes = manifest.bytes() + plan.replanned.values().map(|replanned| replanned.bytes).sum::<u64>();
        let failed = plan.replanned.values().map(|replanned| replanned.failed).sum();
        let cursors = plan.replanned.iter().map(|(chunk, replanned)| (*chunk, replanned.cursor.clone())).collect();
        let counts = Counts { failed, ..Counts::default() };
        let usage = ChunkUsage { reads: plan.walk_reads, ..ChunkUsage::default() };
        Self { counts, usage, cursors, ..Self::new(manifest.group, manifest.items(), bytes, now) }
    }

    /// Returns true if every item of the group has ended.
    pub fn is_done(&self) -> bool {
        self.counts.done() == self.items
    }

    /// Maximum memory of the entries in the work files of a chunk with `items` items, without their rows. The ledger
    /// bounds the number of failed and skipped items; the number of deferred items is bounded only by `items`.
    pub fn entries_bytes(&self, cursor: &Cursor, items: u64) -> u64 {
        let ended = self.counts.failed + self.counts.skipped;
        let has_waited = cursor.round > 0 || !cursor.finished;
        ENTRY_BYTES * if has_waited { items } else { items.min(ended) }
    }

    /// Returns the average number of items per chunk.
    pub fn average_chunk_items(&self) -> u64 {
        self.items.div_ceil(self.cursors.len().max(1) as u64)
    }

    /// Records that a message of one of its chunks has arrived during a pause: the re-sends so far had an effect.
    /// Idempotent. Moves no time, so that a lost message is overdue as before. Without effect on a closed group.
    pub fn reset_resends(&mut self) {
        if self.open {
            self.resends = 0;
        }
    }

    /// Adds the counts and the usage, and moves the cursor, if and only if the group is open and the cursor is still
    /// the old one.
    pub fn commit(&mut self, commit: &Commit) -> CommitOutcome {
        let current = self.cursors.get(&commit.chunk);
        if !self.open || current != commit.from.as_ref() {
            return CommitOutcome::from_refused_write(current, commit, self);
        }
        self.counts += commit.counts;
        self.usage += commit.usage;
        self.cursors.insert(commit.chunk, commit.to.clone());
        self.progressed_at = commit.at;
        self.resends = 0;
        CommitOutcome::Committed(Box::new(self.clone()))
    }
}

/// A worker's request to commit its progress.
#[derive(Clone, Eq, PartialEq, Debug)]
pub struct Commit {
    /// Number of the chunk within its group, from 0.
    pub chunk: u32,
    /// The cursor that the worker started from; `None` if the chunk had none.
    pub from: Option<Cursor>,
    /// The cursor that the worker has reached.
    pub to: Cursor,
    /// Outcomes of the items between the two cursors, without those deferred to another round.
    pub counts: Counts,
    /// Billed units since the last commit, including this one.
    pub usage: ChunkUsage,
    /// Time of the commit.
    pub at: Timestamp,
}

/// The outcome of a commit. All outcomes are expected.
#[derive(Clone, Eq, PartialEq, Debug)]
pub enum CommitOutcome {
    /// Committed, now or in an earlier call whose response was lost. Holds the group as of then.
    Committed(Box<Group>),
    /// Another attempt has moved the cursor: this worker stops.
    Lost,
    /// Completion has closed the group: no commit is possible any more.
    Closed,
    /// The group does not exist, because the job was deleted. Harmless.
    Absent,
}

impl CommitOutcome {
    /// Interprets a refused write: the stored cursor is this commit's own, or another attempt's.
    pub fn from_refused_write(current: Option<&Cursor>, commit: &Commit, group: &Group) -> Self {
        if current.is_some_and(|c| c.token == commit.to.token) {
            Self::Committed(Box::new(group.clone()))
        } else if group.open {
            Self::Lost
        } else {
            Self::Closed
        }
    }
}

/// The origin of a group's items, as a step of the split from one position to the next. A group is committed only if it
/// begins at the job's split position: otherwise an overtaken splitter would plan rows twice.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub enum SplitStep {
    /// The file, cut up to this byte.
    File {
        /// End of the previous group: the job's split offset.
        from: u64,
        /// First byte after this group.
        upto: u64,
    },
    /// The walk of a dataset's keys in their order, or of the items of another job, up to this place.
    Walk {
        /// Place at which this group begins: the job's place in the walk. `None` at the beginning.
        from: Option<String>,
        /// Place behind this group; the last key for a dataset.
        upto: String,
    },
    /// Remaining items of the previous generation, replanned up to this chunk.
    Replanned {
        /// End of the previous group: the job's position among the chunks to replan.
        from: ChunkId,
        /// First chunk whose remaining items are neither in this group nor in an earlier one.
        upto: ChunkId,
    },
}

/// A chunk whose items are read from a work file instead of the source.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub struct Replanned {
    /// The chunk's initial cursor: a round over the items in the file.
    pub cursor: Cursor,
    /// Items of the chunk that have failed for good and are not processed again.
    pub failed: u64,
    /// Bytes of the chunk's items, for the percentage.
    pub bytes: u64,
}

/// A group that is ready to be committed.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub struct GroupPlan {
    /// The generation that it belongs to.
    pub generation: u32,
    /// The chunks.
    pub manifest: Manifest,
    /// The chunks whose items are in work files, by number.
    pub replanned: BTreeMap<u32, Replanned>,
    /// The range that the group covers.
    pub step: SplitStep,
    /// The reading of a CSV file, in the plan of its first group.
    pub reading: Option<Reading>,
    /// Read units of the table that the walk has used since the last group.
    pub walk_reads: u64,
}

impl GroupPlan {
    /// Plans the next group of the file. `cut` is the range of bytes that it covers.
    pub fn from_file(generation: u32, manifest: Manifest, cut: Range<u64>) -> Self {
        let step = SplitStep::File { from: cut.start, upto: cut.end };
        Self { generation, manifest, replanned: BTreeMap::new(), step, reading: None, walk_reads: 0 }
    }

    /// Plans the next group of a walk, from the place `from` to the place `upto`.
    pub fn from_walk(generation: u32, manifest: Manifest, from: Option<String>, upto: String) -> Self {
        let step = SplitStep::Walk { from, upto };
        Self { generation, manifest, replanned: BTreeMap::new(), step, reading: None, walk_reads: 0 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cursor(token: &str, position: u32) -> Cursor {
        Cursor {
            round: 0,
            position,
            token: token.into(),
            file: None,
            deferred: 0,
            due: None,
            finished: false,
            by_sweeper: false,
        }
    }

    fn commit(from: Option<Cursor>, to: Cursor, succeeded: u64) -> Commit {
        let counts = Counts { succeeded, ..Counts::default() };
        let usage = ChunkUsage { writes: 1, ..ChunkUsage::default() };
        Commit { chunk: 0, from, to, counts, usage, at: Timestamp(1) }
    }

    #[test]
    fn the_reads_of_a_walk_are_in_the_usage_of_the_group() {
        let manifest = Manifest { group: 2, chunks: Vec::new() };
        let plan = GroupPlan { walk_reads: 7, ..GroupPlan::from_walk(0, manifest, None, "k".into()) };
        let usage = ChunkUsage { reads: 7, ..ChunkUsage::default() };
        assert_eq!(Group::from_plan(&plan, Timestamp(1)).usage, usage);
    }

    #[test]
    fn a_commit_counts_once_however_often_it_is_sent() {
        let mut group = Group::new(0, 10, 100, Timestamp(0));
        let first = commit(None, cursor("a1", 4), 4);
        for _ in 0..3 {
            assert!(matches!(group.commit(&first), CommitOutcome::Committed(_)));
        }
        assert_eq!((group.counts.done(), group.usage.writes), (4, 1));
    }

    #[test]
    fn only_one_of_two_workers_commits_from_the_same_cursor() {
        let mut group = Group::new(0, 10, 100, Timestamp(0));
        assert!(matches!(group.commit(&commit(None, cursor("a1", 10), 10)), CommitOutcome::Committed(_)));
        assert_eq!(group.commit(&commit(None, cursor("b1", 10), 10)), CommitOutcome::Lost);
        assert!(group.is_done());
    }

    #[test]
    fn a_paused_chunk_resets_only_the_resends_of_an_open_group() {
        for (open, resends) in [(true, 0), (false, 3)] {
            let mut group = Group { open, resends: 3, ..Group::new(0, 10, 100, Timestamp(0)) };
            let expected = Group { resends, ..group.clone() };
            group.reset_resends();
            assert_eq!(group, expected);
        }
    }

    #[test]
    fn a_closed_group_accepts_no_commit() {
        let mut group = Group { open: false, ..Group::new(0, 10, 100, Timestamp(0)) };
        assert_eq!(group.commit(&commit(None, cursor("a1", 4), 4)), CommitOutcome::Closed);
        assert_eq!(group.counts.done(), 0);
    }
}
