//! What functions are at work on, and the next thing that each will do.
//!
//! A step is one write or one send. What a function has read is kept in it, so that a zombie acts on what it knew.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Group, Source};
use longshore_domain::job::{CarriedOver, ChunkId, Job, RetryState, Status};
use longshore_domain::outcome::Counts;

/// A message by what it asks for. Copies are counted, none is told from another.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub(crate) enum Message {
    /// Split this generation of the job.
    Create(u32),
    /// Work this chunk of this group.
    Chunk(u32, u32),
    /// Report on this generation, and give the final status.
    Complete(u32),
}

/// A worker's wish to commit, and what it needs if that takes.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Attempt {
    pub(crate) from: Option<Cursor>,
    pub(crate) to: Cursor,
    pub(crate) counts: Counts,
}

/// What a splitter writes next.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Cut {
    /// What this chunk of an older generation has left, as a group of its own, behind what was filed before.
    RetryPlanner { from: ChunkId, chunk: ChunkId },
    /// This part of the file, as a group.
    Part(usize),
    /// The end of the split.
    End,
}

/// What a function knows of a job that it has read.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) struct View {
    pub(crate) generation: u32,
    pub(crate) carried_over: CarriedOver,
    pub(crate) groups: u32,
    pub(crate) replanned: ChunkId,
    pub(crate) split_offset: u64,
}

impl View {
    pub(crate) fn new(job: &Job) -> Self {
        let Job { generation, retry, split, .. } = job;
        Self {
            generation: *generation,
            carried_over: retry.carried_over,
            groups: split.groups,
            replanned: retry.replanned,
            split_offset: split.offset,
        }
    }

    /// Sums as the domain does, over the groups that were read.
    pub(crate) fn counts(&self, job: &Job, groups: &[Group]) -> Counts {
        let seen = Job { retry: RetryState { carried_over: self.carried_over, ..job.retry.clone() }, ..job.clone() };
        longshore_domain::progress::counts(&seen, &groups[..self.groups as usize])
    }
}

/// The next thing that a function does with the message it holds. Between any two of them it can die.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Step {
    /// Splitter: reads the job and decides where to go on.
    Look,
    /// Splitter: sends the message of this chunk. `groups` are committed, `own` if the last of them by this delivery.
    Send { group: u32, chunk: u32, groups: u32, cut: Cut, own: bool },
    /// Splitter: commits the next group, or the end of the split.
    Advance { groups: u32, cut: Cut, own: bool },
    /// Splitter: its group is committed; it reads the job, which others may have written since.
    ReadBack { group: u32, upto: Source },
    /// Worker: commits what it has processed and filed.
    Commit(Attempt),
    /// Worker: processes the next run from its own cursor.
    Continue(Cursor),
    /// Worker: another attempt was first; it stops.
    Lost,
    /// Worker: sends its chunk's message again, for a round that it opened.
    OpenRound,
    /// Worker: its group is full; adds it to the groups that are done.
    RollUp,
    /// Splitter, after so many groups, and worker: its time is nearly over; a message goes on in its place.
    HandOver { groups: u32 },
    /// Completion: reads the job.
    Read,
    /// Completion of a stopping job: closes this group.
    Close { group: u32, view: View },
    /// Completion: writes the report.
    Report { status: Status, view: View },
    /// Completion: gives the final status.
    Finish { totals: Counts, status: Status, view: View },
    /// Whoever saw the end of this generation: sends the complete message.
    Announce(u32),
}

/// A function at work on a message.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Run {
    pub(crate) message: Message,
    pub(crate) step: Step,
    /// The sweeper at a dead letter: every item that is left fails.
    pub(crate) gives_up: bool,
}
