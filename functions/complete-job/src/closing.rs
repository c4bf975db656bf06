//! The job and its groups, once their counts cannot change any more.

use std::time::Duration;

use longshore_domain::group::Group;
use longshore_domain::job::{Job, Stage};
use longshore_domain::message::CompleteMessage;
use longshore_domain::ports::{Files, MultipartFiles, Queues, Store};

use crate::completer::Completer;
use crate::ending::{Ending, grace_left_ms};
use crate::error::CompleteError;
use crate::outcome::{CompleteEnd, Halt};

impl<S: Store, Q: Queues, F: Files + MultipartFiles> Completer<'_, S, Q, F> {
    /// Returns the job and its groups once their counts cannot change any more, or stops if there is nothing to end.
    pub(crate) async fn ending(&self, message: &CompleteMessage) -> Result<Ending, Halt> {
        let Some((groups, job)) = self.ports.store.progress(message.job_id).await? else {
            return Err(Halt::End(CompleteEnd::Absent));
        };
        if let Some(end) = nothing_to_end(&job, message.generation) {
            return Err(Halt::End(end));
        }
        let (groups, older): (Vec<_>, Vec<_>) = groups.into_iter().partition(|group| job.owns(group.number));
        let groups = match job.stage {
            Stage::Stopping => self.close(&job, &groups).await?,
            _ => self.done(&job, groups).await?,
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
            let known = groups.iter().find(|group| group.number == number && !group.open).cloned();
            let group = if known.is_some() { known } else { self.ports.store.close(job.job_id, number).await? };
            let Some(group) = group else { return Ok(None) };
            closed.push(group);
        }
        Ok(Some(closed))
    }

    /// Returns the groups of a job whose groups are all marked as done. The groups were read before the job, so the
    /// last of them may have ended in between: then they are read again.
    pub(crate) async fn done(&self, job: &Job, groups: Vec<Group>) -> Result<Option<Vec<Group>>, CompleteError> {
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
}

/// Returns the reason why there is nothing to end, if there is one.
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
#[path = "closing_tests.rs"]
mod tests;
