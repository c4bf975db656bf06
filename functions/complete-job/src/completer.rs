//! The end of a job: make sure that nothing counts any more, report, give the final status.

use std::time::Duration;

use longshore::ports::{Ports, report_key};
use longshore::receipt::RECEIPT_NAME;
use longshore::result::{RESULT_NAME, Report, ResultDocument};
use longshore_domain::group::Group;
use longshore_domain::ids::nonce;
use longshore_domain::job::{Finish, Job, Stage, Status, Transition};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Files, Queues, Store};
use longshore_domain::time_stamp::Timestamp;

use crate::CompleteError;
use crate::ending::{Ending, grace_left_ms};
use crate::receipt::receipt;
use crate::report::{WrittenReport, write_report};

/// A job that is told to stop while its report is written refuses to be completed; the second try sees it stopping,
/// and nothing but a final status can come after that.
const TRIES: usize = 2;

/// Ends one job.
pub struct Completer<'a, S, Q, F> {
    /// The services.
    pub ports: &'a Ports<S, Q, F>,
    /// Milliseconds between the order to stop and the closing of the groups. Longer than a worker may go on without
    /// looking whether its job still runs, so that no item starts after the closing.
    pub stop_grace_ms: i64,
    /// When the function should have ended: the input is read for its receipt until then, and no longer.
    pub deadline: Timestamp,
    /// The time.
    pub clock: fn() -> Timestamp,
}

/// What a delivery came to. All are the message's end.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum CompleteEnd {
    /// The report is written and the job has this final status.
    Finished(Status),
    /// It had a final status already, or another delivery was first.
    AlreadyFinished,
    /// The message is of another generation than the job.
    OtherGeneration,
    /// Items are still to end. Whoever ends the last one, or the sweeper, asks again.
    NothingToDo,
    /// There is no such job: it was deleted.
    Absent,
}

impl<S: Store, Q: Queues, F: Files> Completer<'_, S, Q, F> {
    /// Ends the job if it can be ended. A job that is stopping is waited for until its grace has passed.
    ///
    /// # Errors
    /// See [`CompleteError`]; the next delivery begins again.
    pub async fn complete(&self, message: &CompleteMessage) -> Result<CompleteEnd, CompleteError> {
        for _ in 0..TRIES {
            let ending = match self.ending(message).await? {
                Ok(ending) => ending,
                Err(end) => return Ok(end),
            };
            if let Some(end) = self.end(&ending).await? {
                return Ok(end);
            }
        }
        Ok(CompleteEnd::NothingToDo)
    }

    /// The job and its groups once nothing counts any more, or why there is nothing to end.
    async fn ending(&self, message: &CompleteMessage) -> Result<Result<Ending, CompleteEnd>, CompleteError> {
        let Some((groups, job)) = self.ports.store.progress(message.job_id).await? else {
            return Ok(Err(CompleteEnd::Absent));
        };
        if let Some(end) = nothing_to_end(&job, message.generation) {
            return Ok(Err(end));
        }
        let (groups, older) = groups.into_iter().partition(|group| job.owns(group.number));
        let groups = match job.stage {
            Stage::Stopping => self.close(&job).await?,
            _ => self.done(&job, groups).await?,
        };
        Ok(groups.map(|groups| Ending { job, groups, older }).ok_or(CompleteEnd::Absent))
    }

    /// Closes every group of a stopping job; none if it was deleted meanwhile. The job's own number of groups is the
    /// last one, because no group is committed to a job that is stopping.
    async fn close(&self, job: &Job) -> Result<Option<Vec<Group>>, CompleteError> {
        let wait_ms = grace_left_ms(job, self.stop_grace_ms, (self.clock)());
        if wait_ms > 0 {
            tokio::time::sleep(Duration::from_millis(wait_ms)).await;
        }
        let mut closed = Vec::new();
        for number in job.base.groups..job.groups {
            match self.ports.store.close(job.job_id, number).await? {
                Some(group) => closed.push(group),
                None => return Ok(None),
            }
        }
        Ok(Some(closed))
    }

    /// The groups of a job that says that they are all done. They were read before the job, so the last of them may
    /// have ended in between: then they are read again.
    async fn done(&self, job: &Job, groups: Vec<Group>) -> Result<Option<Vec<Group>>, CompleteError> {
        if unfinished(job, &groups) == 0 {
            return Ok(Some(groups));
        }
        let Some((mut groups, _)) = self.ports.store.progress(job.job_id).await? else { return Ok(None) };
        groups.retain(|group| job.owns(group.number));
        match unfinished(job, &groups) {
            0 => Ok(Some(groups)),
            n => Err(CompleteError::Unfinished(n)),
        }
    }

    /// Report, receipt, result document, final status, in this order; `None` if the job was told to stop meanwhile. Every
    /// file is named by this attempt, and counts only if the job names the attempt: no other one writes over it. Nobody reads
    /// the report of a job that is deleted: it only gets its final status, so that the sweeper may remove it.
    async fn end(&self, ending: &Ending) -> Result<Option<CompleteEnd>, CompleteError> {
        if ending.job.is_deleted() {
            return self.finish(&ending.job, &ending.finish(None, (self.clock)())).await;
        }
        let (began, attempt) = ((self.clock)(), nonce());
        let written = write_report(self.ports, ending, &attempt).await?;
        // Told to stop meanwhile, it is all to be done once more, behind the grace: the input is read for no longer.
        let spare_ms = (self.clock)().millis_since(began).saturating_add_unsigned(self.stop_grace_ms.unsigned_abs());
        let finish = ending.finish(Some(attempt), (self.clock)());
        let mut finished = ending.job.clone();
        finished.finish(&finish);
        self.write_receipt(&finished, &written, spare_ms).await?;
        self.write_result(&finished, written.report).await?;
        self.finish(&ending.job, &finish).await
    }

    async fn write_receipt(&self, finished: &Job, written: &WrittenReport, spare_ms: i64) -> Result<(), CompleteError> {
        let in_time = || self.deadline.millis_since((self.clock)()) > spare_ms;
        let receipt = receipt(self.ports, finished, written, &in_time).await?;
        let (key, bytes) = (report_key(finished, RECEIPT_NAME), serde_json::to_vec_pretty(&receipt)?);
        Ok(self.ports.files.write(&key, "application/json", bytes).await?)
    }

    async fn write_result(&self, finished: &Job, report: Report) -> Result<(), CompleteError> {
        let (key, result) = (report_key(finished, RESULT_NAME), ResultDocument::new(finished, report));
        Ok(self.ports.files.write(&key, "application/json", serde_json::to_vec(&result)?).await?)
    }

    /// The final status and the name of the report, in one conditional write. Refused, another delivery was first, or the job
    /// was told to stop.
    async fn finish(&self, job: &Job, finish: &Finish) -> Result<Option<CompleteEnd>, CompleteError> {
        if let Transition::Made(_) = self.ports.store.finish(job.job_id, finish).await? {
            return Ok(Some(CompleteEnd::Finished(finish.status)));
        }
        let Some(stored) = self.ports.store.job(job.job_id).await? else { return Ok(Some(CompleteEnd::Absent)) };
        Ok(nothing_to_end(&stored, job.generation))
    }
}

fn nothing_to_end(job: &Job, generation: u32) -> Option<CompleteEnd> {
    if job.generation != generation {
        return Some(CompleteEnd::OtherGeneration);
    }
    if job.status.is_final() {
        return Some(CompleteEnd::AlreadyFinished);
    }
    (job.stage != Stage::Stopping && !job.all_done()).then_some(CompleteEnd::NothingToDo)
}

/// How many of a generation's groups are missing or have items that have not ended.
fn unfinished(job: &Job, groups: &[Group]) -> usize {
    ((job.groups - job.base.groups) as usize).saturating_sub(groups.iter().filter(|group| group.is_done()).count())
}

#[cfg(test)]
#[path = "completer_tests.rs"]
mod tests;
