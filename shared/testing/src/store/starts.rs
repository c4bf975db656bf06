//! Writes of the in-memory store that start a generation of an existing job, or a job because of another one.

use longshore::store::dynamo::items;
use longshore::store::own_write;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, MarkUndone, Reopen, Transition};
use longshore_domain::ports::{Definition, PortResult, Reopened, Started, UndoCreated};

use super::records::Records;

impl Records {
    /// Stores the job and its definition, and records it on the job that it is started from, if the tenant has room
    /// for it.
    pub(super) fn start_job(&mut self, job: &Job, definition: &Definition) -> Started {
        let stored = job.validation.started_from.and_then(|from| self.jobs.get(&from)).map(|of_job| of_job.job.clone());
        let Some(mut from) = stored else { return Started::Refused };
        let before = from.clone();
        if from.start(job.job_id, job.times.created_at) == Transition::Refused {
            return own_write::started(Some(&before), job.job_id);
        }
        if let Some(quota) = self.over_quota(job, job.times.created_at) {
            return Started::OverQuota(quota);
        }
        self.create_job(job, definition, None);
        if let Some(of_job) = self.jobs.get_mut(&from.job_id) {
            of_job.job = from;
        }
        Started::New
    }

    /// Stores an undo and its definition, and marks its import, if the tenant has room for the undo.
    pub(super) fn create_undo(&mut self, undo: &Job, definition: &Definition, mark: &MarkUndone) -> UndoCreated {
        let Some(mut import) = self.jobs.get(&mark.import).map(|of_job| of_job.job.clone()) else {
            return UndoCreated::Refused;
        };
        let before = import.clone();
        if import.mark_undone(mark) == Transition::Refused {
            return own_write::undone(Some(&before), undo.job_id);
        }
        if let Some(quota) = self.over_quota(undo, undo.times.created_at) {
            return UndoCreated::OverQuota(quota);
        }
        self.create_job(undo, definition, None);
        if let Some(of_job) = self.jobs.get_mut(&mark.import) {
            of_job.job = import;
        }
        UndoCreated::New
    }

    /// Reopens a job, if that is allowed and the tenant has room for it.
    pub(super) fn reopen(&mut self, id: JobId, reopen: &Reopen) -> PortResult<Reopened> {
        let Some(before) = self.jobs.get(&id).map(|of_job| of_job.job.clone()) else {
            return Ok(Reopened::Refused);
        };
        let mut job = before.clone();
        if job.reopen(reopen) == Transition::Refused {
            let ours = own_write::reopened(&before, reopen);
            return Ok(if ours { Reopened::Made(Box::new(before)) } else { Reopened::Refused });
        }
        if let Some(quota) = self.over_quota(&job, reopen.at) {
            return Ok(Reopened::OverQuota(quota));
        }
        items::check_job("reopen", &job)?;
        self.count_job_bytes(&job, reopen.at);
        self.use_uploads(&job);
        if let Some(of_job) = self.jobs.get_mut(&id) {
            of_job.job = job.clone();
            if let (Some(newest), Some(definition)) = (&reopen.registration, &mut of_job.definition) {
                definition.registration = Some((**newest).clone());
            }
        }
        Ok(Reopened::Made(Box::new(job)))
    }
}
