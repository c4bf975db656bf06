//! Transitions of jobs in memory: the domain's own functions, each as one conditional write.

use longshore_domain::cost::{Charge, Cost, Month, MonthCost};
use longshore_domain::group::GroupPlan;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Finish, Job, JobError, MoveCheckpoint, Preparation, Reopen, SourceFile, Stop, Transition};
use longshore_domain::ports::{Definition, Detected, JobTransitions, PortResult, Reopened};
use longshore_domain::records::Reading;
use longshore_domain::timestamp::Timestamp;

use super::MemoryStore;
use super::job_records::{GroupWrite, JobRecords};
use longshore::store::dynamo::items;
use longshore::store::own_write;

impl MemoryStore {
    /// First half of a group's commit, its transaction; returns true if it was applied.
    ///
    /// # Errors
    /// If a record is larger than the table allows.
    pub fn write_group(&self, id: JobId, plan: &GroupPlan, now: Timestamp) -> PortResult<bool> {
        self.records().jobs.get_mut(&id).map_or(Ok(false), |of_job| of_job.write_group(plan, now))
    }

    /// Second half of a group's commit, its read: others may have written since.
    pub fn written_group(&self, id: JobId, plan: &GroupPlan, write: GroupWrite) -> Transition {
        let records = self.records();
        let outcome = |of_job: &JobRecords| of_job.written_group(plan, write);
        records.jobs.get(&id).map_or(Transition::Refused, outcome)
    }

    fn add_charge(&self, charge: &Charge, month: Month) {
        let Charge { tenant, job_type, cost } = charge.clone();
        let mut records = self.records();
        let key = (month, tenant.clone(), job_type.clone());
        let new = || MonthCost { tenant, job_type, runs: 0, cost: Cost::default() };
        let of_month = records.costs.entry(key).or_insert_with(new);
        of_month.runs += 1;
        of_month.cost += cost;
    }

    /// Runs one conditional write of a job; `own` recognizes this same call's earlier write.
    pub(super) fn transition(
        &self,
        (operation, id): (&'static str, JobId),
        make: impl FnOnce(&mut Job) -> Transition,
        own: impl FnOnce(&Job) -> bool,
    ) -> PortResult<Transition> {
        let mut records = self.records();
        let Some(job) = records.jobs.get_mut(&id).map(|of_job| &mut of_job.job) else {
            return Ok(Transition::Refused);
        };
        let mut next = job.clone();
        Ok(match make(&mut next) {
            Transition::Refused if own(job) => Transition::Made(Box::new(job.clone())),
            Transition::Refused => Transition::Refused,
            made @ Transition::Made(_) => {
                items::check_job(operation, &next)?;
                *job = next;
                made
            }
        })
    }
}

impl JobTransitions for MemoryStore {
    async fn enqueue(&self, read: &Job, now: Timestamp) -> PortResult<Transition> {
        self.transition(("enqueue", read.job_id), |job| job.enqueue(now), |job| own_write::enqueued(job, now))
    }

    async fn record_outage(&self, id: JobId, generation: u32, since: Timestamp) -> PortResult<Transition> {
        let own = |job: &Job| own_write::recorded_outage(job, generation, since);
        self.transition(("record_outage", id), |job| job.record_outage(generation, since), own)
    }

    async fn begin(&self, id: JobId, generation: u32, now: Timestamp) -> PortResult<Transition> {
        let own = |job: &Job| own_write::began(job, generation, now);
        self.transition(("begin", id), |job| job.begin(generation, now), own)
    }

    async fn put_columns(
        &self,
        id: JobId,
        columns: &[String],
        reading: Option<Reading>,
        detected: Option<&Detected>,
    ) -> PortResult<Option<Reading>> {
        let mut records = self.records();
        let Some(of_job) = records.jobs.get_mut(&id) else { return Ok(None) };
        let Some(definition) = &mut of_job.definition else { return Ok(None) };
        if definition.columns.is_none() {
            let mut next = Definition { columns: Some(columns.to_vec()), reading, ..definition.clone() };
            if let Some(Detected { found, options }) = detected.cloned() {
                (next.options, next.detected) = (options, Some(found));
            }
            items::check_definition(&of_job.job, &next)?;
            *definition = next;
        }
        Ok(definition.reading)
    }

    async fn record_preparation(
        &self,
        read: &Job,
        uploaded: &SourceFile,
        preparation: Preparation,
        now: Timestamp,
    ) -> PortResult<Transition> {
        let own = |job: &Job| own_write::preparation_recorded(job, read.generation, preparation, now);
        let make = |job: &mut Job| job.record_preparation(read.generation, uploaded, preparation, now);
        self.transition(("record_preparation", read.job_id), make, own)
    }

    async fn end_preparation(&self, read: &Job, prepared: &SourceFile, now: Timestamp) -> PortResult<Transition> {
        let own = |job: &Job| own_write::preparation_ended(job, read.generation, prepared);
        let make = |job: &mut Job| job.end_preparation(read.generation, prepared, now);
        self.transition(("end_preparation", read.job_id), make, own)
    }

    async fn commit_group(&self, job: &Job, plan: &GroupPlan, now: Timestamp) -> PortResult<Transition> {
        let applied = self.write_group(job.job_id, plan, now)?;
        Ok(self.written_group(job.job_id, plan, GroupWrite { at: now, applied }))
    }

    async fn end_split(&self, job: &Job, groups: u32, issues: &[JobError], now: Timestamp) -> PortResult<Transition> {
        let own = |job: &Job| own_write::split_ended(job, groups, issues, now);
        self.transition(("end_split", job.job_id), |stored| stored.end_split(job.generation, groups, issues, now), own)
    }

    async fn reset_split_resends(&self, id: JobId, generation: u32) -> PortResult<()> {
        if let Some(of_job) = self.records().jobs.get_mut(&id) {
            of_job.job.reset_split_resends(generation);
        }
        Ok(())
    }

    async fn stop(&self, id: JobId, generation: u32, stop: &Stop) -> PortResult<Transition> {
        self.transition(("stop", id), |job| job.stop(generation, stop), |job| own_write::stopped(job, stop))
    }

    async fn stop_if_unchanged(&self, read: &Job, stop: &Stop) -> PortResult<Transition> {
        let make = |job: &mut Job| match job.is_unchanged_since(read) {
            true => job.stop(read.generation, stop),
            false => Transition::Refused,
        };
        self.transition(("stop", read.job_id), make, |job| own_write::stopped(job, stop))
    }

    async fn reopen(&self, job: &Job, reopen: &Reopen) -> PortResult<Reopened> {
        self.records().reopen(job.job_id, reopen)
    }

    async fn delete(&self, id: JobId, now: Timestamp) -> PortResult<Transition> {
        self.transition(("delete", id), |job| job.delete(now), |job| own_write::deleted(job, now))
    }

    async fn delete_if_unchanged(&self, read: &Job, now: Timestamp) -> PortResult<Transition> {
        let make = |job: &mut Job| match job.is_unchanged_since(read) {
            true => job.delete(now),
            false => Transition::Refused,
        };
        self.transition(("delete", read.job_id), make, |job| own_write::deleted(job, now))
    }

    async fn checkpoint(&self, id: JobId, update: &MoveCheckpoint) -> PortResult<Transition> {
        self.transition(
            ("checkpoint", id),
            |job| job.move_checkpoint(update),
            |job| own_write::checkpointed(job, update),
        )
    }

    async fn finish(&self, id: JobId, finish: &Finish) -> PortResult<Transition> {
        let mut is_applied = false;
        let make = |job: &mut Job| {
            let made = job.finish(finish);
            is_applied = made != Transition::Refused;
            made
        };
        let outcome = self.transition(("finish", id), make, |job| own_write::finished(job, finish))?;
        if let Some(charge) = finish.charge.as_ref().filter(|_| is_applied) {
            self.add_charge(charge, Month::from_time(finish.at));
        }
        Ok(outcome)
    }

    async fn count_resend(&self, read: &Job, now: Timestamp) -> PortResult<Transition> {
        let count = |job: &mut Job| {
            if (job.generation, job.resends) != (read.generation, read.resends) || job.status.is_final() {
                return Transition::Refused;
            }
            job.resends += 1;
            job.times.updated_at = now;
            Transition::Made(Box::new(job.clone()))
        };
        self.transition(("count_resend", read.job_id), count, |job| own_write::resend_counted(job, read, now))
    }
}
