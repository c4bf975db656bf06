//! A job whose counts can no longer change: every item has ended, or every group is closed.

use longshore_domain::group::Group;
use longshore_domain::job::{Finish, Job, JobError, Stage, Status, Stop};
use longshore_domain::outcome::Counts;
use longshore_domain::progress;
use longshore_domain::timestamp::Timestamp;

/// A job that is about to get its final status, with its final groups.
pub(crate) struct Ending {
    pub(crate) job: Job,
    pub(crate) groups: Vec<Group>,
    /// The groups of earlier generations.
    pub(crate) older: Vec<Group>,
}

impl Ending {
    /// Returns true if the job was stopped: items that have not ended are unprocessed.
    pub(crate) fn is_stopped(&self) -> bool {
        self.job.stage == Stage::Stopping
    }

    /// Returns all groups of all generations.
    pub(crate) fn all_groups(&self) -> impl Iterator<Item = &Group> {
        self.older.iter().chain(&self.groups)
    }

    /// Returns the counts of the job.
    pub(crate) fn totals(&self) -> Counts {
        progress::counts(&self.job, &self.groups)
    }

    /// Returns the final status to be written with the report of this attempt: the reason for the stop, or completed
    /// unless too many items failed.
    pub(crate) fn finish(&self, report: Option<String>, at: Timestamp) -> Finish {
        let totals = self.totals();
        let (status, error) = match &self.job.stop {
            Some(Stop { status, error, .. }) if self.is_stopped() => (*status, error.clone()),
            _ if self.is_stopped() => (Status::Failed, Some(stopped_without_reason())),
            _ => match self.job.tolerance.exceeded_at_end(totals) {
                Some(error) => (Status::Failed, Some(error)),
                None => (Status::Completed, None),
            },
        };
        Finish { generation: self.job.generation, status, totals, report, error, at }
    }
}

fn stopped_without_reason() -> JobError {
    JobError::new("stopped", "the job was stopped for an unknown reason")
}

/// Returns the milliseconds until no worker can start an item: at most the grace period, regardless of clock
/// differences.
pub(crate) fn grace_left_ms(job: &Job, grace_ms: i64, now: Timestamp) -> u64 {
    let stopped_at = job.stop.as_ref().map_or(job.times.updated_at, |stop| stop.at);
    let remaining = if job.split.groups == job.retry.carried_over.groups {
        0
    } else {
        (stopped_at.0 + grace_ms - now.0).min(grace_ms)
    };
    u64::try_from(remaining).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use longshore_domain::ids::JobId;
    use serde_json::json;

    use super::*;

    fn stopping(groups: u32) -> Job {
        let job = json!({
            "jobId": JobId::generate(), "tenant": "t", "jobType": "probe", "generation": 0, "status": "running",
            "stage": "stopping", "source": null, "tolerance": {}, "splitOffset": 0, "itemCount": 0, "groups": groups,
            "sentGroups": 0, "splitEnded": false, "totals": null, "error": null, "issues": [], "resends": 0,
            "stop": { "status": "canceled", "error": null, "at": 10_000 }, "createdAt": 0, "startedAt": 0,
            "finishedAt": null, "updatedAt": 10_000, "deadlineAt": 0, "expiresAt": 0,
        });
        serde_json::from_value(job).unwrap()
    }

    #[test]
    fn completion_waits_at_most_for_the_grace_period() {
        for (groups, now, expected) in [
            (1, 10_000, 5_000),
            (1, 12_000, 3_000),
            (1, 15_000, 0),
            (1, 99_000, 0),
            (1, 0, 5_000), // this machine's clock is behind
            (0, 10_000, 0),
        ] {
            assert_eq!(grace_left_ms(&stopping(groups), 5_000, Timestamp(now)), expected, "{groups} {now}");
        }
    }

    #[test]
    fn the_status_of_a_stopped_job_is_that_of_its_stop() {
        let ending = Ending { job: stopping(0), groups: Vec::new(), older: Vec::new() };
        assert_eq!(ending.finish(None, Timestamp(1)).status, Status::Canceled);
        let unexplained = Ending { job: Job { stop: None, ..stopping(0) }, groups: Vec::new(), older: Vec::new() };
        assert_eq!(unexplained.finish(None, Timestamp(1)).status, Status::Failed);
    }
}
