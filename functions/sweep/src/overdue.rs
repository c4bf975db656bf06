//! Chunks without progress: overdue, suspect or parked.
//!
//! A chunk without progress is **overdue** if its message can no longer be waiting: the queue is empty, or a stall time
//! ago workers had already received messages of its tenant that were sent well after it. The stall time is needed
//! because a worker may still be processing the chunk, or may have died and the message is not visible again yet.
//!
//! A chunk is **suspect** if no message of its tenant was received for a stall time: either all of them are lost, or
//! the queue serves other tenants. The sweeper then sends one group again, as a probe. If the probe is received, every
//! older message is lost. No further stall time is needed: before the probe, no message of the tenant was received for
//! so long that no worker can still be processing one. A suspect chunk is never given up, because it may only be
//! queued.
//!
//! A **parked** chunk is not stalled, and is woken if there is a free permit. A worker that dies with a permit wakes no
//! chunk, and its permit expires. So each sweep wakes as many chunks as there are free permits, and removes parked
//! chunks of jobs that have ended.
//!
//! The rules for overdue and suspect chunks are pure. Only `ParkedByType` calls services: it reads and wakes parked
//! chunks, within a `TimeBudget`.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use longshore::chunk::ConcurrencyLimiter;
use longshore::ports::Ports;
use longshore::telemetry;
use longshore_domain::concurrency::ParkedChunk;
use longshore_domain::cursor::Cursor;
use longshore_domain::deliveries::{Deliveries, INTERVAL_S, INTERVALS, MARGIN_S};
use longshore_domain::group::{CHUNKS_PER_GROUP, Group};
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::ports::{PortResult, Queues, Store};
use longshore_domain::timestamp::Timestamp;

/// Time in seconds that the delivery records cover, without the intervals at both ends.
const REACH_S: i64 = (INTERVALS - 2) * INTERVAL_S;

/// Maximum parked chunks of a job type that a sweep reads: about 40 MB. If there are more, the state of the others is
/// unknown.
const MAX_PARKED: usize = 20_000;

/// Inputs of the decision besides the job.
#[derive(Copy, Clone, Debug)]
pub struct Circumstances<'a> {
    /// The current time.
    pub now: Timestamp,
    /// Stall time: seconds without progress that are still healthy, a visibility timeout plus a margin.
    pub stall_s: i64,
    /// State of the queue of the job's chunks.
    pub queue: QueueState,
    /// The job's chunks that are parked at the concurrency limit of their type: they are woken, not pushed.
    pub parked: &'a BTreeSet<ChunkId>,
    /// Beginning of the outage of the handler of the job's type; `None` if it works, or the type is not registered.
    pub outage: Option<Timestamp>,
    /// True if an operator has paused the job's type or tenant: its work is neither lost nor dead.
    pub is_paused: bool,
}

/// State of the queue of a job's chunks, as far as it explains a chunk without progress.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum QueueState {
    /// No message is waiting, delayed or being processed.
    Idle,
    /// The queue has messages.
    Busy {
        /// Newest sending time among the tenant's messages that had been received a stall time ago, or recently after a
        /// quiet period; `None` if unknown.
        passed: Option<Timestamp>,
        /// True if no message of the tenant was received for a stall time.
        quiet: bool,
    },
}

impl QueueState {
    /// Returns the state of a queue with messages, from the records of its deliveries to a tenant.
    pub fn busy(deliveries: &Deliveries, now: Timestamp, stall_s: i64) -> Self {
        // The records do not cover a longer time, and the chunk waits for a stall time in any case.
        let reach_s = stall_s.min(REACH_S);
        let before = now.plus_seconds(-reach_s);
        let probed = deliveries.newest_after_quiet(reach_s, now.plus_seconds(-MARGIN_S));
        let passed = deliveries.newest_by(before).max(probed);
        Self::Busy { passed, quiet: deliveries.is_quiet_since(before) }
    }

    /// Returns true if a message that was sent at this time can no longer be waiting.
    fn is_past(self, sent_at: Timestamp) -> bool {
        match self {
            Self::Idle => true,
            Self::Busy { passed, .. } => passed.is_some_and(|passed| passed >= sent_at.plus_seconds(MARGIN_S)),
        }
    }
}

/// Returns true if a group may have overdue or suspect chunks; otherwise its manifest need not be read.
pub fn may_need_push(group: &Group, at: &Circumstances<'_>) -> bool {
    let is_slow = |chunk| is_overdue(group, chunk, at) || is_suspect(group, chunk, at);
    // The numbers of chunks without a cursor are unknown here; `u32::MAX` represents all of them.
    let unstarted = (group.cursors.len() < CHUNKS_PER_GROUP).then_some(u32::MAX);
    !group.is_done() && group.cursors.keys().copied().chain(unstarted).any(is_slow)
}

pub(crate) fn is_overdue(group: &Group, chunk: u32, at: &Circumstances<'_>) -> bool {
    let Some(open) = Open::new(group, chunk, at) else { return false };
    if let Some(due) = open.unsent_round() {
        return at.now >= due;
    }
    let is_first = open.cursor.is_none() && at.queue != QueueState::Idle;
    // The progress of the group may be that of other chunks if this chunk was never started.
    let since = if is_first { group.sent_at } else { open.idle_since() };
    at.queue.is_past(since) && at.now >= since.plus_seconds(wait_s(group.resends, at))
}

pub(crate) fn is_suspect(group: &Group, chunk: u32, at: &Circumstances<'_>) -> bool {
    let Some(open) = Open::new(group, chunk, at) else { return false };
    let is_quiet = matches!(at.queue, QueueState::Busy { quiet: true, .. });
    let waited = at.now >= open.idle_since().plus_seconds(wait_s(group.resends, at));
    is_quiet && waited && open.unsent_round().is_none()
}

pub(crate) fn is_unsent(group: &Group, chunk: u32, at: &Circumstances<'_>) -> bool {
    Open::new(group, chunk, at).is_some_and(|open| open.unsent_round().is_some())
}

/// Returns the wait in seconds for a group with this many pushes without effect.
pub(crate) fn wait_s(resends: u32, at: &Circumstances<'_>) -> i64 {
    at.stall_s << resends.min(6)
}

/// A chunk that has not ended and is not parked at the concurrency limit of its type.
struct Open<'a> {
    group: &'a Group,
    cursor: Option<&'a Cursor>,
}

impl<'a> Open<'a> {
    fn new(group: &'a Group, chunk: u32, at: &Circumstances<'_>) -> Option<Self> {
        let cursor = group.cursors.get(&chunk);
        let ended =
            cursor.is_some_and(|cursor| cursor.finished) || at.parked.contains(&ChunkId::new(group.number, chunk));
        (!ended).then_some(Self { group, cursor })
    }

    /// Returns the due time of a round whose message has not been sent yet: the sweeper sends it.
    fn unsent_round(&self) -> Option<Timestamp> {
        let due = self.cursor.filter(|cursor| cursor.by_sweeper)?.due?;
        (self.group.sent_at < due).then_some(due)
    }

    /// Returns the latest time at which the chunk's message can have entered the queue.
    fn idle_since(&self) -> Timestamp {
        let due = self.cursor.and_then(|cursor| cursor.due);
        due.into_iter().fold(self.group.progressed_at.max(self.group.sent_at), Timestamp::max)
    }
}

/// The clock, and the time at which a part of the sweep must end.
#[derive(Copy, Clone, Debug)]
pub(crate) struct TimeBudget {
    pub(crate) clock: fn() -> Timestamp,
    pub(crate) until: Timestamp,
}

impl TimeBudget {
    /// Returns true if the time is over.
    pub(crate) fn is_over(&self) -> bool {
        (self.clock)() >= self.until
    }
}

/// Parked chunks by job type, for the types that this sweep has read; `None` for a type whose parked chunks are
/// unknown.
#[derive(Debug, Default)]
pub(crate) struct ParkedByType(BTreeMap<String, Option<BTreeMap<JobId, BTreeSet<ChunkId>>>>);

impl ParkedByType {
    /// Reads the parked chunks of a job type, if this sweep has not read them yet. Returns true if it reads them: a job
    /// that was read before may be older than these chunks. If they cannot be read, the sweep continues with all jobs.
    pub(crate) async fn load<S: Store, Q: Queues, F>(
        &mut self,
        ports: &Ports<S, Q, F>,
        job_type: &str,
        budget: TimeBudget,
    ) -> bool {
        if self.0.contains_key(job_type) {
            return false;
        }
        let parked = read_and_wake(ports, job_type, budget).await.unwrap_or_else(|error| {
            let error = telemetry::chain(&error);
            tracing::error!(job.r#type = job_type, error, "cannot read the parked chunks of a job type");
            None
        });
        self.0.insert(job_type.to_owned(), parked);
        true
    }

    /// Returns the parked chunks of a job; `None` if unknown.
    pub(crate) fn parked(&self, job_type: &str, id: JobId) -> Option<BTreeSet<ChunkId>> {
        self.0.get(job_type)?.as_ref().map(|by_job| by_job.get(&id).cloned().unwrap_or_default())
    }
}

/// Wakes chunks for the free permits, and returns the parked chunks by job; `None` if there are more than are read.
async fn read_and_wake<S: Store, Q: Queues, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    budget: TimeBudget,
) -> PortResult<Option<BTreeMap<JobId, BTreeSet<ChunkId>>>> {
    let all = ports.store.parked(job_type, MAX_PARKED).await?;
    let Some(concurrency) = all.iter().map(|parked| parked.limit).max() else { return Ok(Some(BTreeMap::new())) };
    let is_complete = all.len() < MAX_PARKED;
    let Some(by_job) = live_parked(ports, job_type, all, budget).await? else { return Ok(None) };
    let lowered = ports.store.handler_state(job_type).await?.state.concurrency;
    let limit = lowered.now(concurrency, (budget.clock)());
    let woken = ConcurrencyLimiter { ports, job_type, limit, clock: budget.clock }.wake().await?;
    let parked = by_job.values().map(BTreeSet::len).sum::<usize>();
    tracing::info!(job.r#type = job_type, parked, woken, "parked chunks of a job type");
    Ok(is_complete.then_some(by_job))
}

/// Returns the parked chunks of live jobs, by job, and removes the others; `None` if there is no time to read all jobs.
async fn live_parked<S: Store, Q, F>(
    ports: &Ports<S, Q, F>,
    job_type: &str,
    all: Vec<ParkedChunk>,
    budget: TimeBudget,
) -> PortResult<Option<BTreeMap<JobId, BTreeSet<ChunkId>>>> {
    let (mut jobs, mut by_job) = (BTreeMap::new(), BTreeMap::<_, BTreeSet<ChunkId>>::new());
    for parked in all {
        let (id, group) = (parked.message.job_id, parked.message.group);
        if let Entry::Vacant(unknown) = jobs.entry(id) {
            if budget.is_over() {
                return Ok(None);
            }
            unknown.insert(ports.store.job(id).await?);
        }
        if jobs[&id].as_ref().is_some_and(|job| job.is_live() && job.owns(group)) {
            by_job.entry(id).or_default().insert(parked.message.id());
        } else if !budget.is_over() {
            // Without time, the next sweep removes them.
            ports.store.unpark(job_type, &parked).await?;
        }
    }
    Ok(Some(by_job))
}

#[cfg(test)]
#[path = "overdue_tests.rs"]
mod tests;
