//! The store: tenants, jobs and the ledger.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use longshore_domain::cost::{Month, MonthCost};
use longshore_domain::group::{Commit, CommitOutcome, Group, Manifest};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, MarkUndone, Transition};
use longshore_domain::ports::{
    ByAge, CallCount, ChunkState, Created, Definition, IdempotencyKey, JobPosition, JobProgress, JobStore, JobsPage,
    JobsQuery, Ledger, PortResult, Removal, ResendCount, Started, TenantCounts, TenantLimits, UndoCreated, Upload,
    UploadRelease,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use longshore::store::dynamo::items;

use super::job_records::JobRecords;
use super::records::Records;

/// A store in memory; clones share their records.
#[derive(Clone, Debug, Default)]
pub struct MemoryStore(Arc<Mutex<Records>>);

/// An item of a job that expires separately.
#[derive(Copy, Clone, Eq, PartialEq, Debug)]
pub enum JobItem {
    /// The job. Without it the other items cannot be found.
    Job,
    /// Its definition.
    Definition,
    /// The group with this number.
    Group(u32),
    /// The manifest of the group with this number.
    Manifest(u32),
}

impl MemoryStore {
    /// Sets the limits of each tenant.
    #[must_use]
    pub fn with_limits(self, limits: TenantLimits) -> Self {
        self.records().limits = limits;
        self
    }

    /// Sets the maximum number of jobs on a page of unfinished ones.
    #[must_use]
    pub fn with_pages_of(self, jobs: usize) -> Self {
        self.records().unfinished_page = jobs;
        self
    }

    /// Writes a job and its groups without any condition: tests use it to show the effect of a missing condition.
    /// Returns `None` if the job does not exist.
    pub fn amend<T>(&self, id: JobId, write: impl FnOnce(&mut Job, &mut BTreeMap<u32, Group>) -> T) -> Option<T> {
        let mut records = self.records();
        records.jobs.get_mut(&id).map(|of_job| write(&mut of_job.job, &mut of_job.groups))
    }

    /// Removes an item of an expired job, as the table's time to live does: some hours late, and in any order.
    pub fn expire(&self, id: JobId, item: JobItem) {
        let mut records = self.records();
        match item {
            JobItem::Job => drop(records.jobs.remove(&id)),
            JobItem::Definition => drop(records.jobs.get_mut(&id).and_then(|job| job.definition.take())),
            JobItem::Group(group) => drop(records.jobs.get_mut(&id).and_then(|job| job.groups.remove(&group))),
            JobItem::Manifest(group) => drop(records.jobs.get_mut(&id).and_then(|job| job.manifests.remove(&group))),
        }
    }

    pub(super) fn records(&self) -> MutexGuard<'_, Records> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl TenantCounts for MemoryStore {
    async fn count_call(&self, tenant: &TenantId, now: Timestamp) -> PortResult<CallCount> {
        Ok(self.records().count_call(tenant, now))
    }

    async fn active_jobs(&self, tenant: &TenantId) -> PortResult<u64> {
        Ok(self.records().active_jobs(tenant))
    }

    async fn month_costs(&self, month: &Month, tenant: Option<&TenantId>) -> PortResult<Vec<MonthCost>> {
        let records = self.records();
        let costs = records
            .costs
            .iter()
            .filter(|((in_month, of, _), _)| in_month == month && tenant.is_none_or(|tenant| of == tenant));
        Ok(costs.map(|(_, cost)| cost.clone()).take(MonthCost::max(tenant) + 1).collect())
    }
}

impl JobStore for MemoryStore {
    async fn create_upload(&self, upload: &Upload, key: Option<&IdempotencyKey>) -> PortResult<Created<FileGuid>> {
        items::check_upload(upload, key)?;
        Ok(self.records().create_upload(upload, key))
    }

    async fn upload(&self, id: FileGuid) -> PortResult<Option<Upload>> {
        Ok(self.records().uploads.get(&id).cloned())
    }

    async fn create_job(
        &self,
        job: &Job,
        definition: &Definition,
        key: Option<&IdempotencyKey>,
    ) -> PortResult<Created<JobId>> {
        items::check_new_job(job, definition, key)?;
        Ok(self.records().create_job(job, definition, key))
    }

    async fn start_job(&self, job: &Job, definition: &Definition) -> PortResult<Started> {
        items::check_new_job(job, definition, None)?;
        Ok(self.records().start_job(job, definition))
    }

    async fn create_undo(&self, undo: &Job, definition: &Definition, mark: &MarkUndone) -> PortResult<UndoCreated> {
        items::check_new_job(undo, definition, None)?;
        Ok(self.records().create_undo(undo, definition, mark))
    }

    async fn upload_created_before(
        &self,
        tenant: &TenantId,
        key: &IdempotencyKey,
    ) -> PortResult<Option<Created<FileGuid>>> {
        Ok(self.records().upload_keys.used(tenant, key))
    }

    async fn job_created_before(&self, tenant: &TenantId, key: &IdempotencyKey) -> PortResult<Option<Created<JobId>>> {
        Ok(self.records().job_keys.used(tenant, key))
    }

    async fn job(&self, id: JobId) -> PortResult<Option<Job>> {
        Ok(self.records().jobs.get(&id).map(|of_job| of_job.job.clone()))
    }

    async fn definition(&self, id: JobId) -> PortResult<Option<Definition>> {
        Ok(self.records().jobs.get(&id).and_then(|of_job| of_job.definition.clone()))
    }

    async fn jobs(&self, query: &JobsQuery<'_>) -> PortResult<JobsPage> {
        Ok(self.records().list(query))
    }

    async fn due_jobs(&self, before: Timestamp, limit: usize) -> PortResult<Vec<JobId>> {
        let records = self.records();
        let scheduled = records.jobs.values().map(|of_job| &of_job.job).filter(|job| job.is_scheduled);
        let mut due: Vec<_> = scheduled.filter_map(|job| Some((job.times.start_at?, job.job_id))).collect();
        due.retain(|(at, _)| *at < before);
        due.sort_unstable();
        Ok(due.into_iter().take(limit).map(|(_, id)| id).collect())
    }

    async fn unfinished(&self, after: Option<JobPosition>, order: ByAge) -> PortResult<Vec<JobPosition>> {
        let records = self.records();
        let live = records.jobs.values().map(|of_job| &of_job.job).filter(|job| job.needs_sweep());
        let mut positions: Vec<_> = live.map(JobPosition::after).collect();
        positions.sort();
        if order == ByAge::NewestFirst {
            positions.reverse();
        }
        let is_behind = |position: &JobPosition| match (order, after) {
            (_, None) => true,
            (ByAge::OldestFirst, Some(after)) => *position > after,
            (ByAge::NewestFirst, Some(after)) => *position < after,
        };
        positions.retain(is_behind);
        positions.truncate(records.unfinished_page);
        Ok(positions)
    }
}

impl Removal for MemoryStore {
    async fn release_upload(&self, id: JobId, upload: FileGuid) -> PortResult<UploadRelease> {
        Ok(self.records().release_upload(id, upload))
    }

    async fn remove(&self, id: JobId) -> PortResult<()> {
        let removable = self.records().jobs.get(&id).is_some_and(|of_job| of_job.job.is_removable());
        if removable {
            self.remove_bodies(id);
            self.records().jobs.remove(&id);
        }
        Ok(())
    }
}

impl Ledger for MemoryStore {
    async fn chunk_state(&self, id: JobId, group: u32) -> PortResult<Option<ChunkState>> {
        let records = self.records();
        let state = |of_job: &JobRecords| {
            let group = of_job.groups.get(&group)?.clone();
            Some(ChunkState { job: of_job.job.clone(), group })
        };
        Ok(records.jobs.get(&id).and_then(state))
    }

    async fn commit(&self, id: JobId, group: u32, commit: &Commit) -> PortResult<CommitOutcome> {
        let mut records = self.records();
        let Some(group) = records.group(id, group) else { return Ok(CommitOutcome::Absent) };
        let mut next = group.clone();
        let outcome = next.commit(commit);
        items::check_progress(id, &next)?;
        *group = next;
        Ok(outcome)
    }

    async fn group_done(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<Transition> {
        self.transition(("group_done", id), |job| job.group_done(group, now), |_| false)
    }

    async fn progress(&self, id: JobId) -> PortResult<Option<JobProgress>> {
        let records = self.records();
        let of_job = records.jobs.get(&id);
        Ok(of_job
            .map(|of_job| JobProgress { groups: of_job.groups.values().cloned().collect(), job: of_job.job.clone() }))
    }

    async fn manifest(&self, id: JobId, group: u32) -> PortResult<Option<Manifest>> {
        let records = self.records();
        let stored = records.jobs.get(&id).and_then(|of_job| of_job.manifests.get(&group));
        Ok(stored.map(|committed| committed.manifest.clone()))
    }

    async fn close(&self, id: JobId, group: u32) -> PortResult<Option<Group>> {
        let mut records = self.records();
        Ok(records.group(id, group).map(|group| {
            group.open = false;
            group.clone()
        }))
    }

    async fn chunk_woken(&self, id: JobId, group: u32, now: Timestamp) -> PortResult<()> {
        if let Some(group) = self.records().group(id, group).filter(|group| group.open && group.progressed_at < now) {
            (group.progressed_at, group.sent_at) = (now, now);
        }
        Ok(())
    }

    async fn reset_group_resends(&self, id: JobId, group: u32) -> PortResult<()> {
        self.records().group(id, group).into_iter().for_each(Group::reset_resends);
        Ok(())
    }

    async fn count_group_resend(
        &self,
        id: JobId,
        group: u32,
        expected_resends: u32,
        now: Timestamp,
    ) -> PortResult<ResendCount> {
        let mut records = self.records();
        let unchanged = records.group(id, group).filter(|group| group.resends == expected_resends);
        let Some(group) = unchanged else { return Ok(ResendCount::Overtaken) };
        (group.resends, group.sent_at) = (expected_resends + 1, now);
        Ok(ResendCount::Counted)
    }
}
