//! Progress of a job: percent, rate, ETA and a sentence for people, derived from the job and its groups at each
//! request.

use crate::group::Group;
use crate::job::{Job, Stage, Status};
use crate::outcome::Counts;
use crate::timestamp::Timestamp;

/// A job's progress as the API reports it.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// Items known so far; all of them once `item_count_final`.
    pub item_count: u64,
    /// True once the whole file has been counted.
    pub item_count_final: bool,
    /// Items that have ended.
    pub counts: Counts,
    /// 0 to 100; 100 only when every item has ended. Never decreases.
    pub percent: u8,
    /// Items per second since the job was started; 0 before the first one has ended.
    pub items_per_second: u64,
    /// Estimated seconds until the end at that rate; `None` while nothing has ended, or once nothing remains.
    pub eta_seconds: Option<u64>,
    /// Time of the last change.
    pub updated_at: Timestamp,
}

impl Progress {
    /// Computes the progress of a job and its groups. The groups must have been read before the job, so that the job
    /// counts at least their items. If the job has totals that differ from the groups' sum, the groups are stale: read
    /// them again.
    pub fn new(job: &Job, groups: &[Group], now: Timestamp) -> Self {
        let counts = job.completion.totals.unwrap_or_else(|| counts(job, groups));
        let done_share = done_share(job, groups, counts);
        let elapsed_ms =
            job.times.finished_at.unwrap_or(now).millis_since(job.times.started_at.unwrap_or(now)).max(1) as f64;
        let has_ended_items = counts.done() > job.retry.carried_over.counts.done();
        let running = !job.status.is_final() && has_ended_items && done_share > 0.0 && done_share < 1.0;
        Self {
            item_count: job.split.item_count,
            item_count_final: job.item_count_final(),
            counts,
            percent: percent(done_share),
            items_per_second: (counts.done().saturating_sub(job.retry.carried_over.counts.done()) as f64 * 1000.0
                / elapsed_ms) as u64,
            eta_seconds: running.then(|| (elapsed_ms * (1.0 / done_share - 1.0) / 1000.0).ceil() as u64),
            updated_at: updated_at(job, groups),
        }
    }

    /// Returns the number of items that have ended.
    pub fn item_progress(&self) -> u64 {
        self.counts.done()
    }
}

/// Returns the time of the last change to the job or one of its generation's groups. For an ended job, only the job's
/// own time counts: a late worker may still wake a chunk of a group that was never closed, and nothing shown changes
/// after the end.
pub fn updated_at(job: &Job, groups: &[Group]) -> Timestamp {
    let live = groups.iter().filter(|group| !job.status.is_final() && job.owns(group.number));
    live.map(|group| group.progressed_at).fold(job.times.updated_at, Ord::max)
}

/// Returns the counts of a job: those carried over from earlier generations, and those of this one's groups.
pub fn counts(job: &Job, groups: &[Group]) -> Counts {
    let mut counts = job.retry.carried_over.counts;
    groups.iter().filter(|g| job.owns(g.number)).for_each(|g| counts += g.counts);
    counts
}

/// Returns the share of the file whose items have ended, by bytes: the number of items is unknown until the split ends,
/// and a percentage that changed its measure then could fall. Each group's share only grows, so the sum does. A
/// generation that starts with a known number of items measures by items.
///
/// The preparation of a file is its first tenth.
fn done_share(job: &Job, groups: &[Group], counts: Counts) -> f64 {
    if job.status == Status::Completed || (job.split.ended && counts.done() == job.split.item_count) {
        return 1.0;
    }
    if job.retry.carried_over.split_ended {
        return (counts.done() as f64 / job.split.item_count.max(1) as f64).min(0.999);
    }
    if job.has_item_files() {
        // The number of items is unknown until the walk ends.
        let total = job.split.item_count.max(1) as f64;
        return if job.split.ended { (counts.done() as f64 / total).min(0.999) } else { 0.0 };
    }
    let is_unprepared = job.file().is_some_and(|file| file.original.is_none());
    if let Some(preparation) = job.preparation.filter(|_| is_unprepared && job.retry.selection.corrected().is_none()) {
        return PREPARATION_SHARE * preparation.share();
    }
    let total = job.file().map_or(0, |s| s.size_bytes).max(1) as f64;
    let done = |g: &Group| g.bytes as f64 * (g.counts.done() as f64 / g.items.max(1) as f64);
    let share = groups.iter().filter(|g| job.owns(g.number)).map(done).sum::<f64>() / total;
    let prepared = if job.file().is_some_and(|file| file.original.is_some()) { PREPARATION_SHARE } else { 0.0 };
    (prepared + (1.0 - prepared) * share).min(0.999)
}

/// The share of a job that the preparation of its file is.
const PREPARATION_SHARE: f64 = 0.1;

fn percent(share: f64) -> u8 {
    (share * 100.0 + 1e-9) as u8
}

/// Returns the stage as the API shows it: `finishing` is `processing` with no items remaining.
pub fn shown_stage(job: &Job) -> Stage {
    if job.stage == Stage::Processing && job.all_done() { Stage::Finishing } else { job.stage }
}

/// Returns a sentence about the job for people.
pub fn sentence(job: &Job, percent: u8) -> String {
    match job.status {
        Status::Waiting if job.stage == Stage::Stopping => "Job stopping...".into(),
        Status::Waiting => match job.times.start_at.filter(|_| job.is_scheduled) {
            Some(start_at) => format!("Job scheduled for {}", start_at.to_rfc3339()),
            None => "Waiting for job to start...".into(),
        },
        Status::Running if job.stage == Stage::Stopping => format!("Job stopping, {percent}% complete..."),
        Status::Running if job.is_preparing() => format!("Converting the file, {percent}% complete..."),
        Status::Running => format!("Job running, {percent}% complete..."),
        Status::Completed => "Job complete".into(),
        Status::Canceled => "Job canceled".into(),
        Status::Failed => match &job.error {
            Some(error) => format!("Job failed: {}", error.message),
            None => "Job failed".into(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ids::JobId;
    use crate::job::{CarriedOver, RetryState, SplitState};
    use crate::tenant::TenantId;

    #[test]
    fn a_group_that_changes_after_the_end_does_not_change_the_shown_time() {
        let carried_over = CarriedOver { groups: 1, ..CarriedOver::default() };
        let retried = Job {
            retry: RetryState { carried_over, ..RetryState::default() },
            split: SplitState { groups: 2, ..SplitState::default() },
            ..Job::waiting(JobId(uuid::Uuid::nil()), TenantId::from_static("t"), "import", Timestamp(5))
        };
        let of = |number, touched| Group::new(number, 3, 30, Timestamp(touched));
        for (status, first, second, shown) in [
            (Status::Running, 1, 4, 5),
            (Status::Running, 1, 9, 9),
            (Status::Running, 9, 1, 5),
            (Status::Canceled, 9, 1, 5),
            (Status::Failed, 1, 9, 5),
            (Status::Completed, 9, 9, 5),
        ] {
            let (job, groups) = (Job { status, ..retried.clone() }, [of(0, first), of(1, second)]);
            assert_eq!(updated_at(&job, &groups), Timestamp(shown), "{status:?}, {first}, {second}");
        }
    }
}
