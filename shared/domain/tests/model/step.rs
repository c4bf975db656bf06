//! Actions of the whole system, and the steps of its functions.
//!
//! A step is one write or one send. A step keeps what its function has read, so that a zombie acts on stale state.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Group, SplitStep};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{CarriedOver, Job, RetryState, Status};
use longshore_domain::outcome::Counts;

use crate::item::Output;
use crate::protocol::split_offset;

/// A message, identified by its request. Copies are indistinguishable, and are counted.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub(crate) enum Message {
    /// A request to split this generation of the job.
    Create(u32),
    /// A request to process this chunk.
    Chunk(ChunkId),
    /// A request to report on this generation, and set the final status.
    Complete(u32),
}

/// Source of the outcomes of a run's items.
#[derive(Clone, Copy, Eq, PartialEq, Debug)]
pub(crate) enum Mode {
    /// The handler; `choice` selects one of the possible outcomes of the run.
    Work { choice: usize },
    /// The sweeper gives up the chunk: all remaining items fail.
    GiveUp,
}

/// A worker's pending commit, with the data for its next step.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Attempt {
    pub(crate) from: Option<Cursor>,
    pub(crate) to: Cursor,
    pub(crate) counts: Counts,
    /// Outputs of the items that it counts as succeeded.
    pub(crate) outputs: Vec<Output>,
}

/// A chunk of an older generation to replan, and the position of the replanning that the splitter read.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Replan {
    pub(crate) from: ChunkId,
    pub(crate) chunk: ChunkId,
}

/// A splitter's next write.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Cut {
    /// The remaining items of a chunk of an older generation, as a group.
    Replan(Replan),
    /// A part of the file, as a group.
    Part(usize),
    /// The end of the split.
    End,
}

/// A function's view of a job that it has read.
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
            split_offset: split_offset(split),
        }
    }

    /// Returns the domain's sum over the groups of this view.
    pub(crate) fn counts(&self, job: &Job, groups: &[Group]) -> Counts {
        let job = Job { retry: RetryState { carried_over: self.carried_over, ..job.retry.clone() }, ..job.clone() };
        longshore_domain::progress::counts(&job, &groups[..self.groups as usize])
    }
}

/// A function's next step with its message. The function can die between any two steps.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Step {
    /// Splitter: reads the job and decides on the next step.
    Look,
    /// Splitter: sends the message of this chunk. `groups` are committed; `own` if this delivery committed the last
    /// one.
    Send { chunk: ChunkId, groups: u32, cut: Cut, own: bool },
    /// Splitter: commits the next group, or the end of the split.
    Advance { groups: u32, cut: Cut, own: bool },
    /// Splitter: its group is committed; it reads the job, which others may have changed since.
    ReadBack { group: u32, upto: SplitStep },
    /// Worker: commits what it has processed and deferred.
    Commit(Attempt),
    /// Worker: processes the next run from its own cursor.
    Continue(Cursor),
    /// Worker: another attempt committed first; it stops.
    Lost,
    /// Worker: sends its chunk's message again, for a round that it opened.
    OpenRound,
    /// Worker: every item of its group has ended; adds it to the done groups.
    RollUp,
    /// Splitter after a number of groups, and worker: time is nearly over; it sends a continuation.
    HandOver { groups: u32 },
    /// Completion: reads the job.
    Read,
    /// Completion of a stopping job: closes this group.
    Close { group: u32, view: View },
    /// Completion: writes the report.
    Report { status: Status, view: View },
    /// Completion: sets the final status.
    Finish { totals: Counts, status: Status, view: View },
    /// Any function that saw the end of this generation: sends the complete message.
    Announce(u32),
    /// Splitter and worker: the job is paused; resets the count of pushes, of which it has seen this number.
    Paused { seen: u32 },
}

/// A function at work on a message.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Run {
    pub(crate) message: Message,
    pub(crate) step: Step,
    /// True for the sweeper at a dead letter: every remaining item fails.
    pub(crate) gives_up: bool,
}

/// One step of the whole system.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Action {
    /// A function receives a message. `choice` selects the handlers' outcomes in its first run.
    Take { message: Message, choice: usize },
    /// The function at this index does its next step.
    Next { run: usize, choice: usize },
    /// The function does its next step, but the reply is lost, so it will repeat the step.
    LoseReply { run: usize },
    /// The function crashes.
    Crash { run: usize, redelivery: Redelivery },
    /// The function's message is redelivered while the function runs.
    Duplicate { run: usize },
    /// The function's time is nearly over: it hands over.
    HandOver { run: usize },
    /// The client cancels, and the API sends the complete message.
    Stop { send: ApiSend },
    /// The client retries the remaining items, and the API sends the create message.
    Retry { send: ApiSend },
    /// The client retries the items that failed for one reason.
    RetryForOneReason,
    /// An operator replays this dead letter.
    Replay { dead_letter: Message },
    /// The sweeper reads this dead letter, and gives up the work that it requests.
    GiveUp { dead_letter: Message },
    /// The sweeper sends whatever the ledger shows as unfinished.
    Sweep,
    /// A status call reads the groups.
    ReadGroups,
    /// The status call then reads the job, and answers.
    ReadJob,
    /// A function receives a message and sees a pause.
    EndPaused { message: Message },
    /// The worker at this index sees a pause between two of its runs of items, and acknowledges.
    EndPausedRun { run: usize },
    /// The sweeper counts its first uncounted push.
    CountPush,
    /// An operator pauses the job.
    Pause,
    /// The pause ends.
    Resume,
    /// Every view of the pauses from before their last change expires.
    ForgetViews,
}

/// Outcome of a send after a write of the API.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum ApiSend {
    /// The message is sent.
    Sent,
    /// The API crashes before it sends the message.
    Lost,
}

/// Redelivery of the message of a function that crashes.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Redelivery {
    /// The message is delivered again.
    Again,
    /// The message is lost.
    Lost,
    /// The message has reached the maximum number of deliveries, and is in the dead-letter queue.
    Dead,
}
