//! One state of the modelled system: what is stored, what is in flight, who is at work, and what was seen.
//!
//! The job, the groups and the cursors are the domain's own types, so that the model decides with production's
//! functions. Work files are reduced to what they say of each item.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use longshore_domain::cursor::Cursor;
use longshore_domain::group::Group;
use longshore_domain::job::{Job, Status};
use longshore_domain::outcome::Counts;
use longshore_domain::time_stamp::Timestamp;

use crate::bounds::Bounds;

/// A message by what it asks for. Copies are counted, none is told from another.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub(crate) enum Message {
    /// Split the job.
    Create,
    /// Work this chunk of this group.
    Chunk(u32, u32),
    /// Report, and give the final status.
    Complete,
}

/// What a handler said of an item in one round.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub(crate) enum Mark {
    Ok,
    Failed,
    Skipped,
    Transient,
}

/// A work file: every item of a run that did not simply succeed.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct File {
    pub(crate) chunk: (u32, u32),
    pub(crate) round: u32,
    pub(crate) prev: Option<String>,
    pub(crate) entries: Vec<(u8, Mark)>,
}

/// Where the report puts an item. An item that is in several places is the fault that the model looks for.
#[derive(Clone, Copy, Eq, PartialEq, Ord, PartialOrd, Hash, Debug)]
pub(crate) enum Place {
    Succeeded,
    Failed,
    Skipped,
    Unprocessed,
}

/// The places of every item, by its index.
pub(crate) type Report = Vec<Vec<Place>>;

/// A worker's wish to commit, and what it needs if that takes.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Attempt {
    pub(crate) from: Option<Cursor>,
    pub(crate) to: Cursor,
    pub(crate) counts: Counts,
}

/// The next thing that a function does with the message it holds. Between any two of them it can die.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Step {
    /// Splitter: reads the job and decides where to go on.
    Look,
    /// Splitter: sends the message of this chunk; `groups` are committed.
    Send { group: u32, chunk: u32, groups: u32 },
    /// Splitter: commits the next group, or the end of the split.
    Advance { groups: u32 },
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
    /// Completion: reads the job.
    Read,
    /// Completion of a stopping job: closes this group of so many.
    Close { group: u32, groups: u32 },
    /// Completion: writes the report.
    Report { status: Status },
    /// Completion: gives the final status.
    Finish { totals: Counts, status: Status },
    /// Whoever saw the end: sends the complete message.
    Announce,
}

/// A function at work on a message.
#[derive(Clone, Eq, PartialEq, Hash, Debug)]
pub(crate) struct Run {
    pub(crate) message: Message,
    pub(crate) step: Step,
}

/// An answer of the status call, as far as it must never fall.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Answer {
    pub(crate) counts: Counts,
    pub(crate) item_count: u64,
    pub(crate) percent: u8,
    /// The status was final.
    pub(crate) ended: bool,
}

/// What the model remembers only to judge.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Record {
    /// The last two answers.
    pub(crate) answers: (Answer, Answer),
    /// Final statuses given.
    pub(crate) finishes: u8,
    /// Fingerprint of everything that a client can read, at the final status.
    pub(crate) sealed: Option<u64>,
    /// Each group's counts when it was closed.
    pub(crate) closed: BTreeMap<u32, Counts>,
    /// Items that a handler said ok of, in any attempt.
    pub(crate) effects: u32,
    /// Messages that were lost for ever.
    pub(crate) losses: u8,
    /// Times that the sweeper had to send something.
    pub(crate) sweeps: u8,
}

/// One state.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct World {
    pub(crate) job: Job,
    pub(crate) groups: Vec<Group>,
    pub(crate) files: BTreeMap<String, File>,
    pub(crate) report: Option<Report>,
    /// The status that the report names, where it names one.
    pub(crate) reported: Option<Status>,
    pub(crate) queue: BTreeMap<Message, u8>,
    /// The complete message with the first deduplication id was sent: a second one is swallowed.
    pub(crate) announced: bool,
    pub(crate) runs: Vec<Run>,
    /// The groups that a status call has read, before it reads the job.
    pub(crate) reading: Option<Vec<Group>>,
    pub(crate) left: Bounds,
    pub(crate) record: Record,
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash_readable(state);
        self.files.hash(state);
        (&self.queue, self.announced, &self.runs).hash(state);
        self.reading.as_ref().map(|groups| groups.iter().for_each(|g| hash_group(g, state))).is_some().hash(state);
        (&self.left, &self.record).hash(state);
    }
}

impl World {
    /// Time stands still until the end, and is another after it: a late write shows in `updated_at`.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(i64::from(self.job.status.is_final()))
    }

    /// Everything that a client can read, as one number.
    pub(crate) fn readable(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_readable(&mut hasher);
        hasher.finish()
    }

    /// Puts a message into its queue.
    pub(crate) fn send(&mut self, message: Message) {
        *self.queue.entry(message).or_default() += 1;
    }

    /// Sends the complete message, once: deduplication swallows the others.
    pub(crate) fn announce(&mut self) {
        if !std::mem::replace(&mut self.announced, true) {
            self.send(Message::Complete);
        }
    }

    /// Takes one copy of a message out of its queue.
    pub(crate) fn take(&mut self, message: Message) {
        let left = self.queue.remove(&message).unwrap_or(1) - 1;
        if left > 0 {
            self.queue.insert(message, left);
        }
    }

    /// Nothing is in flight and nobody is at work.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.runs.is_empty()
    }

    /// Forgets what has no meaning: the order of the runs, and files that nobody can name any more.
    pub(crate) fn normalise(&mut self, keep_files: bool) {
        self.runs.sort_by_cached_key(|run| {
            let mut hasher = DefaultHasher::new();
            run.hash(&mut hasher);
            hasher.finish()
        });
        if !keep_files {
            let mut named: Vec<String> = self.cursors().filter_map(|c| c.file.clone()).collect();
            let mut i = 0;
            while i < named.len() {
                let prev = self.files.get(&named[i]).and_then(|f| f.prev.clone());
                named.extend(prev);
                i += 1;
            }
            self.files.retain(|token, _| named.contains(token));
        }
    }

    /// Every cursor that is stored or held by someone at work.
    pub(crate) fn cursors(&self) -> impl Iterator<Item = &Cursor> {
        let stored = self.groups.iter().flat_map(|g| g.cursors.values());
        let held = self.runs.iter().flat_map(|run| match &run.step {
            Step::Commit(attempt) => [attempt.from.as_ref(), Some(&attempt.to)],
            Step::Continue(from) => [Some(from), None],
            _ => [None, None],
        });
        stored.chain(held.flatten())
    }

    fn hash_readable(&self, state: &mut impl Hasher) {
        let job = &self.job;
        (job.status, job.stage, job.groups, job.sent_groups, job.split_ended, job.item_count).hash(state);
        (&job.done_groups, job.stop.is_some(), job.totals, job.resends, job.updated_at).hash(state);
        self.groups.iter().for_each(|g| hash_group(g, state));
        (&self.report, self.reported).hash(state);
    }
}

fn hash_group(group: &Group, state: &mut impl Hasher) {
    (group.counts, group.open, &group.cursors, group.progressed_at).hash(state);
}
