//! The maximum cost of a run of a job: the job is stopped before it is exceeded.
//!
//! The cost of a job is the sum over its groups, and reading them has a cost itself. So it is read after commits that
//! have cost ten times as much: an **interval**. Each group counts its own cost, and the intervals of the groups begin
//! at different amounts. So checks are spread over a run, however many workers there are and however small the chunks
//! are, and no state is kept besides the groups. A job is stopped if its cost, the cost of its end, and that of the
//! chunks under way would exceed the maximum.

use super::steps::{self, End, Ledger, SourceSize};
use super::{ChunkUsage, NanoDollars, Prices};
use crate::group::Group;
use crate::job::{Job, JobError};
use crate::outcome::Counts;
use crate::progress;

/// Cost of the commits between two checks, in checks.
const CHECKS: u64 = 10;

/// Highest cost of the commits between two checks, in intervals, besides the commit that makes the second one due. It
/// is up to 2 if the groups are processed one after the other, and up to 3.3 if they take turns.
const UNCHECKED: f64 = 4.0;

/// Milliseconds after which a worker has noticed a stop: no item starts later.
const NOTICE_MS: f64 = 3_000.0;

/// Lowest time in milliseconds of the work that a worker then ends and commits.
const COMMIT_MS: f64 = 1_000.0;

/// The golden ratio in units of 2^-16: its multiples, without their whole parts, are spread evenly.
const SPREAD: u64 = 40_503;

/// Returns true if the cost of a job has to be checked after a commit with this usage, which has returned this group.
/// The check costs a tenth of the commits since the last one at most.
pub fn is_check_due(job: &Job, usage: ChunkUsage, group: &Group) -> bool {
    let interval = interval(job).0.max(1);
    let offset = ((u64::from(group.number).wrapping_mul(SPREAD) & 0xffff) * interval) >> 16;
    let begun = |usage: ChunkUsage| {
        let ledger = Ledger { usage, ..Ledger::default() };
        let cost = Prices::current().cost(&steps::chunks(SourceSize::new(job), &ledger)).total();
        cost.0.saturating_add(offset) / interval
    };
    begun(group.usage) > begun(group.usage - usage)
}

/// Returns the cost of the commits between two checks. A check reads the groups of the current generation.
fn interval(job: &Job) -> NanoDollars {
    let groups = job.split.groups.saturating_sub(job.retry.carried_over.groups);
    let check = Prices::current().cost(&steps::check(groups.into())).total();
    NanoDollars(CHECKS.saturating_mul(check.0))
}

/// Returns the number of items that have not ended. Before the split of a file has ended, it is estimated from the
/// bytes that are split. `None` if it is unknown: the splitter can be slower than the workers, so that all items that
/// are split have ended again and again.
fn items_left(job: &Job, source: SourceSize, counts: Counts) -> Option<f64> {
    let (split, counted) = (job.split.offset, job.split.item_count as f64);
    let all = if job.item_count_final() {
        counted
    } else if split > 0 && source.bytes > 0 {
        counted * (source.bytes as f64 / split as f64).max(1.0)
    } else {
        return None;
    };
    Some((all - counts.done() as f64).max(0.0))
}

/// The maximum cost of a run, and what bounds the cost of the chunks under way.
#[derive(Copy, Clone, PartialEq, Debug)]
pub struct SpendingLimit {
    /// The maximum, of each generation.
    pub max: NanoDollars,
    /// Maximum number of chunks that are processed at once.
    pub chunks_at_once: u32,
    /// Memory of their workers in GB.
    pub worker_gb: f64,
    /// Milliseconds of work that the last commit has recorded. A call that has begun is not ended by a stop, and takes
    /// about as long.
    pub commit_ms: f64,
}

impl SpendingLimit {
    /// Returns the limit for a caller that is no worker: no chunk is known to be under way.
    pub const fn without_workers(max: NanoDollars) -> Self {
        Self { max, chunks_at_once: 0, worker_gb: 0.0, commit_ms: 0.0 }
    }

    /// Returns the error of a running job, whose groups were read before it, if its cost could exceed the maximum
    /// before its workers notice a stop. A job whose items have all ended is not stopped: that would save nothing.
    pub fn exceeded(&self, job: &Job, groups: &[Group]) -> Option<JobError> {
        let (source, ledger, counts) = (SourceSize::new(job), Ledger::new(job, groups), progress::counts(job, groups));
        let left = job.split.item_count.saturating_sub(counts.done());
        if left == 0 && job.item_count_final() {
            return None;
        }
        let cost = |units| Prices::current().cost(&units).total();
        let of_chunks = cost(steps::chunks(source, &ledger));
        let spent = cost(steps::split(SourceSize::to_split(job), &ledger)) + of_chunks;
        let end = cost(steps::end(source, &ledger, counts, End::Stopped));
        let ended = counts.done().saturating_sub(job.retry.carried_over.counts.done());
        let under_way = self.under_way(of_chunks, &ledger) + interval(job).times(UNCHECKED);
        // No more than the items that are left cost at the present average.
        let under_way = items_left(job, source, counts)
            .map_or(under_way, |left| under_way.min(of_chunks.times(left / ended.max(1) as f64)));
        (spent + end + under_way > self.max).then(|| self.error(spent))
    }

    /// Returns the cost of as many chunks as are processed at once, and of the one that begins before the next check,
    /// until their workers notice a stop and have ended their call: an average chunk each, or that work if it is less.
    fn under_way(&self, of_chunks: NanoDollars, ledger: &Ledger) -> NanoDollars {
        let worked_ms = ledger.usage.gb_ms as f64 / self.worker_gb.max(0.001);
        let stop_ms = NOTICE_MS + self.commit_ms.max(COMMIT_MS);
        let share = (1.0 / ledger.chunks.max(1) as f64).min(stop_ms / worked_ms.max(1.0));
        of_chunks.times(share * (1.0 + f64::from(self.chunks_at_once)))
    }

    fn error(&self, spent: NanoDollars) -> JobError {
        let message = format!(
            "the run has cost about ${:.6}, and with its end and the chunks under way it could exceed its maximum of \
             ${:.6}; retry the job to continue with as much again, or create it with a higher maxCost",
            spent.dollars(),
            self.max.dollars(),
        );
        JobError::new("cost_limit", message)
    }
}

#[cfg(test)]
#[path = "limit_tests.rs"]
mod tests;
