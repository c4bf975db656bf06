//! The end of a job: closes its groups, so that their counts no longer change, and derives the final status.

use std::time::Duration;

use longshore::chunk::{EndedGroups, ReportGroup};
use longshore::telemetry;
use longshore_domain::cost::Charge;
use longshore_domain::group::{Group, Manifest};
use longshore_domain::job::{Finish, Job, JobError, Stage, Status, Stop};
use longshore_domain::message::CompleteMessage;
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Files, JobProgress, MultipartFiles, Queues, Store};
use longshore_domain::progress;
use longshore_domain::timestamp::Timestamp;

use crate::completer::Completer;
use crate::outcome::{CompleteEnd, CompleteError, Halt};

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

    /// Returns true if the job was stopped before its split ended.
    pub(crate) fn has_unsplit(&self) -> bool {
        self.is_stopped() && !self.job.item_count_final()
    }

    /// Returns the job with its groups.
    pub(crate) fn ended_groups(&self) -> EndedGroups<'_> {
        EndedGroups { job: &self.job, groups: &self.groups, older: &self.older }
    }

    /// Returns the plan of a group's chunks, if it is needed.
    ///
    /// # Errors
    /// If the store fails, or if the plan does not exist.
    pub(crate) async fn manifest(
        &self,
        store: &impl Store,
        report_group: &ReportGroup<'_>,
    ) -> Result<Option<Manifest>, CompleteError> {
        if !report_group.needs_manifest() {
            return Ok(None);
        }
        let manifest = store.manifest(self.job.job_id, report_group.group.number).await?;
        manifest.map(Some).ok_or(CompleteError::ManifestMissing(report_group.group.number))
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
        let charge = Some(Charge::new(&self.job, &self.groups));
        Finish { generation: self.job.generation, status, totals, report, error, charge, at }
    }
}

impl<S: Store, Q: Queues, F: Files + MultipartFiles> Completer<'_, S, Q, F> {
    /// Returns the job and its groups once their counts no longer change, or stops if the job cannot be ended.
    pub(crate) async fn load_ending(&self, message: &CompleteMessage) -> Result<Ending, Halt> {
        let Some(JobProgress { groups, job }) = self.ports.store.progress(message.job_id).await? else {
            return Err(Halt::End(CompleteEnd::Absent));
        };
        telemetry::record_job(&job);
        if let Some(end) = nothing_to_end(&job, message.generation) {
            return Err(Halt::End(end));
        }
        let (groups, older): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| job.owns(group.number));
        let groups = match job.stage {
            Stage::Stopping => self.close(&job, &groups).await?,
            _ => self.finished_groups(&job, groups).await?,
        };
        match groups {
            Some(groups) => Ok(Ending { job, groups, older }),
            None => Err(Halt::End(CompleteEnd::Absent)),
        }
    }

    /// Closes every group of a stopping job; returns `None` if the job was deleted meanwhile. The job's own number of
    /// groups is final, because no group is committed to a stopping job.
    async fn close(&self, job: &Job, groups: &[Group]) -> Result<Option<Vec<Group>>, CompleteError> {
        let wait_ms = grace_left_ms(job, self.stop_grace_ms, (self.clock)());
        if wait_ms > 0 {
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        }
        let mut closed = Vec::new();
        for number in job.retry.carried_over.groups..job.split.groups {
            // A closed group no longer changes: a continuing completion already has it.
            let already_closed = groups.iter().find(|group| group.number == number && !group.open).cloned();
            let group = if already_closed.is_some() {
                already_closed
            } else {
                self.ports.store.close(job.job_id, number).await?
            };
            let Some(group) = group else { return Ok(None) };
            closed.push(group);
        }
        Ok(Some(closed))
    }

    /// Returns the groups of a job whose groups are all marked as done. The groups were read before the job, so the
    /// last of them may have ended in between: then they are read again.
    async fn finished_groups(&self, job: &Job, groups: Vec<Group>) -> Result<Option<Vec<Group>>, CompleteError> {
        if unfinished(job, &groups) == 0 {
            return Ok(Some(groups));
        }
        let Some(JobProgress { mut groups, .. }) = self.ports.store.progress(job.job_id).await? else {
            return Ok(None);
        };
        groups.retain(|group| job.owns(group.number));
        match unfinished(job, &groups) {
            0 => Ok(Some(groups)),
            n => Err(CompleteError::Unfinished(n)),
        }
    }
}

fn stopped_without_reason() -> JobError {
    JobError::new("stopped", "the job was stopped for an unknown reason")
}

/// Returns the milliseconds until no worker can start an item: at most the grace period, regardless of clock
/// differences.
fn grace_left_ms(job: &Job, grace_ms: i64, now: Timestamp) -> u64 {
    let stopped_at = job.stop.as_ref().map_or(job.times.updated_at, |stop| stop.at);
    let remaining = if job.split.groups == job.retry.carried_over.groups {
        0
    } else {
        (stopped_at.0 + grace_ms - now.0).min(grace_ms)
    };
    u64::try_from(remaining).unwrap_or(0)
}

/// Returns the outcome if there is nothing to end.
pub(crate) fn nothing_to_end(job: &Job, generation: u32) -> Option<CompleteEnd> {
    if job.generation != generation {
        return Some(CompleteEnd::OtherGeneration);
    }
    if job.status.is_final() {
        return Some(CompleteEnd::AlreadyFinished);
    }
    (job.stage != Stage::Stopping && !job.all_done()).then_some(CompleteEnd::NothingToDo)
}

/// Returns the number of a generation's groups that are missing or have items that have not ended.
fn unfinished(job: &Job, groups: &[Group]) -> usize {
    ((job.split.groups - job.retry.carried_over.groups) as usize)
        .saturating_sub(groups.iter().filter(|group| group.is_done()).count())
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use longshore::ports::Ports;
    use longshore_domain::cursor::Cursor;
    use longshore_domain::group::{ChunkPlan, Commit, GroupPlan, Manifest};
    use longshore_domain::ids::JobId;
    use longshore_domain::ports::{Definition, JobStore, JobTransitions, Ledger};
    use longshore_testing::{MemoryFiles, MemoryQueues, MemoryStore};
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

    fn now<T>(future: impl Future<Output = T>) -> T {
        future.now_or_never().unwrap()
    }

    #[test]
    fn groups_are_read_again_if_the_last_one_ended_between_the_reads() {
        let at = Timestamp(1);
        let ports =
            Ports { store: MemoryStore::default(), queues: MemoryQueues::default(), files: MemoryFiles::default() };
        let waiting = json!({
            "jobId": JobId::generate(), "tenant": "t", "jobType": "probe", "generation": 0, "status": "waiting",
            "stage": "queued", "source": null, "tolerance": {}, "splitOffset": 0, "itemCount": 0, "groups": 0,
            "sentGroups": 0, "splitEnded": false, "stop": null, "totals": null, "error": null, "issues": [], "resends": 0,
            "createdAt": 0, "startedAt": null, "finishedAt": null, "updatedAt": 0, "deadlineAt": 0, "expiresAt": 0,
        });
        let job: Job = serde_json::from_value(waiting).unwrap();
        let id = job.job_id;
        now(ports.store.create_job(&job, &Definition::new(json!({})), None)).unwrap();
        now(ports.store.begin(id, 0, at)).unwrap();
        let plan = ChunkPlan { first: 1, items: 1, start: 0, end: 0, oversize: false, keys: None };
        now(ports.store.commit_group(
            &job,
            &GroupPlan::from_file(0, Manifest { group: 0, chunks: vec![plan] }, 0..0),
            at,
        ))
        .unwrap();
        now(ports.store.end_split(&job, 1, &[], at)).unwrap();

        let JobProgress { groups: stale, .. } = now(ports.store.progress(id)).unwrap().unwrap();
        let to = Cursor {
            round: 0,
            position: 0,
            token: "abcdefgh1".into(),
            file: None,
            deferred: 0,
            due: None,
            finished: true,
            by_sweeper: false,
        };
        let counts = Counts { succeeded: 1, ..Counts::default() };
        now(ports.store.commit(id, 0, &Commit { chunk: 0, from: None, to, counts, usage: Default::default(), at }))
            .unwrap();
        now(ports.store.group_done(id, 0, at)).unwrap();

        let job = now(ports.store.job(id)).unwrap().unwrap();
        let deadline = Timestamp(i64::MAX);
        let completer = Completer { ports: &ports, stop_grace_ms: 0, deadline, part_bytes: 1, clock: || Timestamp(2) };
        let groups = now(completer.finished_groups(&job, stale)).unwrap().unwrap();
        assert!(groups[0].is_done());
    }
}
