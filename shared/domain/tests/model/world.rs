//! One state of the modelled system: stored data, messages in flight, running functions, and history.
//!
//! The job, the groups and the cursors are the domain's own types, so that the model uses the production functions for
//! its decisions. Work files are reduced to the outcome of each item.

use std::collections::{BTreeMap, BTreeSet};
use std::hash::{DefaultHasher, Hash, Hasher};

use longshore_domain::cursor::Cursor;
use longshore_domain::group::Group;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Job, Status};
use longshore_domain::timestamp::Timestamp;

use crate::item::{File, Report};
use crate::pauses::Pauses;
use crate::record::{Bounds, Record};
use crate::step::{Message, Run, Step};
use crate::sweeper::Push;

/// One state.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct World {
    pub(crate) job: Job,
    pub(crate) groups: Vec<Group>,
    /// Items of each group's chunks.
    pub(crate) manifests: Vec<Vec<Vec<u8>>>,
    pub(crate) files: BTreeMap<String, File>,
    /// Reports by name, with the status of each. A report counts if the job names it.
    pub(crate) reports: BTreeMap<String, (Report, Status)>,
    pub(crate) queue: BTreeMap<Message, u8>,
    /// The dead-letter queue.
    pub(crate) dead: BTreeSet<Message>,
    /// Used deduplication ids: messages and their positions.
    pub(crate) sent: BTreeSet<(Message, u32)>,
    pub(crate) runs: Vec<Run>,
    /// Pushes that the sweeper has sent and not counted yet.
    pub(crate) uncounted: Vec<Push>,
    pub(crate) pauses: Pauses,
    /// Groups that a status call has read, before it reads the job.
    pub(crate) reading: Option<Vec<Group>>,
    pub(crate) left: Bounds,
    pub(crate) record: Record,
}

impl Hash for World {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash_readable(state);
        self.groups.iter().for_each(|g| (g.open, g.resends).hash(state));
        self.files.hash(state);
        self.reports.hash(state);
        (&self.manifests, &self.queue, &self.dead, &self.sent, &self.runs).hash(state);
        self.reading.iter().flatten().for_each(|g| hash_group(g, state));
        self.reading.is_some().hash(state);
        (&self.left, &self.record, &self.uncounted, &self.pauses).hash(state);
    }
}

impl World {
    /// Returns the modelled time. It changes only at the end of a generation, so that `updated_at` reveals a late
    /// write.
    pub(crate) fn now(&self) -> Timestamp {
        Timestamp(i64::from(self.job.generation) * 2 + i64::from(self.job.status.is_final()))
    }

    /// Returns a fingerprint of everything a client can read.
    pub(crate) fn readable(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        self.hash_readable(&mut hasher);
        hasher.finish()
    }

    /// Returns a fingerprint of the groups and reports of earlier generations.
    pub(crate) fn history(&self) -> u64 {
        let (mut hasher, job) = (DefaultHasher::new(), &self.job);
        self.groups[..job.retry.carried_over.groups as usize].iter().for_each(|g| hash_group(g, &mut hasher));
        let reports = self.record.reports.iter().take(job.generation as usize);
        reports.for_each(|name| self.reports.get(name).hash(&mut hasher));
        hasher.finish()
    }

    /// Puts a message into its queue.
    pub(crate) fn send(&mut self, message: Message) {
        *self.queue.entry(message).or_default() += 1;
    }

    /// Puts a message into its queue unless one with this position was sent before.
    pub(crate) fn send_once(&mut self, message: Message, position: u32) {
        if self.sent.insert((message, position)) {
            self.send(message);
        }
    }

    /// Removes one copy of a message from its queue.
    pub(crate) fn take(&mut self, message: Message) {
        let left = self.queue.remove(&message).unwrap_or(1) - 1;
        if left > 0 {
            self.queue.insert(message, left);
        }
    }

    /// Returns true if nothing is in flight and no function is at work.
    pub(crate) fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.runs.is_empty()
    }

    /// Returns the items of a chunk.
    pub(crate) fn items(&self, chunk: ChunkId) -> &[u8] {
        &self.manifests[chunk.group as usize][chunk.chunk as usize]
    }

    /// Returns the stored cursor of a chunk.
    pub(crate) fn cursor(&self, chunk: ChunkId) -> Option<&Cursor> {
        self.groups[chunk.group as usize].cursors.get(&chunk.chunk)
    }

    /// Sorts the runs, because their order is irrelevant.
    pub(crate) fn sort_runs(&mut self) {
        self.runs.sort_by_cached_key(|run| {
            let mut hasher = DefaultHasher::new();
            run.hash(&mut hasher);
            hasher.finish()
        });
    }

    /// Removes the files that no cursor names, directly or through another file.
    pub(crate) fn remove_unnamed_files(&mut self) {
        let mut named: Vec<String> = self.cursors().filter_map(|c| c.file.clone()).collect();
        let mut i = 0;
        while i < named.len() {
            let prev = self.files.get(&named[i]).and_then(|f| f.prev.clone());
            named.extend(prev);
            i += 1;
        }
        self.files.retain(|name, _| named.contains(name));
    }

    /// Returns every cursor that is stored or in use by a running function.
    pub(crate) fn cursors(&self) -> impl Iterator<Item = &Cursor> {
        let stored = self.groups.iter().flat_map(|g| g.cursors.values());
        let in_use = self.runs.iter().flat_map(|run| match &run.step {
            Step::Commit(attempt) => [attempt.from.as_ref(), Some(&attempt.to)],
            Step::Continue(from) => [Some(from), None],
            _ => [None, None],
        });
        stored.chain(in_use.flatten())
    }

    /// Returns a token that is no longer in use: equivalent to a fresh one, with fewer states.
    pub(crate) fn free_token(&self) -> String {
        let used = |token: &str| {
            let names = |c: &Cursor| c.token == token || c.file.as_deref() == Some(token);
            self.files.contains_key(token) || self.cursors().any(names)
        };
        let alphabet = ('a'..='z').map(String::from);
        alphabet.chain((0_u32..).map(|n| format!("z{n}"))).find(|token| !used(token)).unwrap_or_default()
    }

    fn hash_readable(&self, state: &mut impl Hasher) {
        let job = &self.job;
        (job.status, job.stage, job.split.groups, job.split.sent_groups, job.split.ended, job.split.item_count)
            .hash(state);
        (&job.split.done_groups, job.stop.is_some(), job.completion.totals, job.resends, job.times.updated_at)
            .hash(state);
        (job.generation, job.retry.carried_over, &job.retry.selection, job.retry.replanned).hash(state);
        (job.split.offset, &job.split.place).hash(state);
        self.groups.iter().for_each(|g| hash_group(g, state));
        self.report().hash(state);
    }

    /// Returns the report that the job names.
    pub(crate) fn report(&self) -> Option<&(Report, Status)> {
        self.reports.get(self.job.completion.report.as_ref()?)
    }
}

fn hash_group(group: &Group, state: &mut impl Hasher) {
    (group.counts, &group.cursors, group.progressed_at).hash(state);
}
