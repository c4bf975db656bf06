//! Percent, rate, ETA and the sentence that a person reads: derived from the job and its groups at each answer.

use crate::group::Group;
use crate::job::{Job, Stage, Status};
use crate::outcome::Counts;
use crate::time_stamp::Timestamp;

/// What an answer says of a job's progress.
#[derive(Clone, PartialEq, Debug)]
pub struct Progress {
    /// Items known so far; all of them once `item_count_final`.
    pub item_count: u64,
    /// The whole file has been counted.
    pub item_count_final: bool,
    /// Items that have ended.
    pub counts: Counts,
    /// 0 to 100; 100 only when every item has ended. Never decreases.
    pub percent: u8,
    /// Items per second since the job was begun; 0 before the first one ended.
    pub items_per_second: u64,
    /// Seconds until the end at that rate; none while nothing has ended or nothing is left.
    pub eta_seconds: Option<u64>,
    /// When something last changed.
    pub updated_at: Timestamp,
}

impl Progress {
    /// Reads the progress off a job and its groups, which must have been read before the job: then the job counts at
    /// least their items. If the job has totals that the groups do not sum to, they are too old: read them again.
    pub fn new(job: &Job, groups: &[Group], now: Timestamp) -> Self {
        let counts = job.completion.totals.unwrap_or_else(|| counts(job, groups));
        let done_share = done_share(job, groups, counts);
        let elapsed_ms =
            job.times.finished_at.unwrap_or(now).millis_since(job.times.started_at.unwrap_or(now)).max(1) as f64;
        let running = !job.status.is_final() && done_share > 0.0 && done_share < 1.0;
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

    /// Items that have ended.
    pub fn item_progress(&self) -> u64 {
        self.counts.done()
    }
}

/// When the job or one of its generation's groups last changed. An ended job's is its own alone: a late worker may still
/// call in a chunk of a group that nothing closed, and nothing that is shown changes after the end.
pub fn updated_at(job: &Job, groups: &[Group]) -> Timestamp {
    let live = groups.iter().filter(|group| !job.status.is_final() && job.owns(group.number));
    live.map(|group| group.progressed_at).fold(job.times.updated_at, Ord::max)
}

/// The counts of a job: what the generations before have left, and this one's groups.
pub fn counts(job: &Job, groups: &[Group]) -> Counts {
    let mut counts = job.retry.carried_over.counts;
    groups.iter().filter(|g| job.owns(g.number)).for_each(|g| counts += g.counts);
    counts
}

/// The share of the file whose items have ended, by bytes: the number of items is not known until the split ends,
/// and a percentage that changed its measure then could fall. Each group's share only grows, so the sum does. A
/// generation that begins with the number known goes by items.
fn done_share(job: &Job, groups: &[Group], counts: Counts) -> f64 {
    if job.status == Status::Completed || (job.split.ended && counts.done() == job.split.item_count) {
        return 1.0;
    }
    if job.retry.carried_over.split_ended {
        return (counts.done() as f64 / job.split.item_count.max(1) as f64).min(0.999);
    }
    let total = job.source.as_ref().map_or(0, |s| s.size_bytes).max(1) as f64;
    let done = |g: &Group| g.bytes as f64 * (g.counts.done() as f64 / g.items.max(1) as f64);
    (groups.iter().filter(|g| job.owns(g.number)).map(done).sum::<f64>() / total).min(0.999)
}

fn percent(share: f64) -> u8 {
    (share * 100.0 + 1e-9) as u8
}

/// The stage as a document shows it: `finishing` is `processing` with nothing left to do.
pub fn shown_stage(job: &Job) -> Stage {
    if job.stage == Stage::Processing && job.all_done() { Stage::Finishing } else { job.stage }
}

/// The sentence that a person reads.
pub fn sentence(job: &Job, percent: u8) -> String {
    match job.status {
        Status::Waiting if job.stage == Stage::Stopping => "Job stopping...".into(),
        Status::Waiting => "Waiting for job to start...".into(),
        Status::Running if job.stage == Stage::Stopping => format!("Job stopping, {percent}% complete..."),
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

    #[test]
    fn a_group_that_is_touched_after_the_end_changes_nothing_that_is_shown() {
        let carried_over = CarriedOver { groups: 1, ..CarriedOver::default() };
        let retried = Job {
            retry: RetryState { carried_over, ..RetryState::default() },
            split: SplitState { groups: 2, ..SplitState::default() },
            ..Job::waiting(JobId(uuid::Uuid::nil()), "t", "import", Timestamp(5))
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
