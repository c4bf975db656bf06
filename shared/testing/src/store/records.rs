//! Records of the in-memory store, and the writes that read more than one record.

use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::concurrency::{ParkedChunk, Permit};
use longshore_domain::cost::{Month, MonthCost};
use longshore_domain::dataset::Dataset;
use longshore_domain::dead_letter::DeadLetterRecord;
use longshore_domain::deliveries::Deliveries;
use longshore_domain::event::{Event, EventPosition};
use longshore_domain::group::Group;
use longshore_domain::ids::{FileGuid, JobId, ScheduleId};
use longshore_domain::job::{ChunkQueue, Job};
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{
    CallCount, CallWindow, Created, Definition, IdempotencyKey, JobPosition, JobsPage, JobsQuery, QuotaExceeded,
    TenantLimits, Upload, UploadRelease,
};
use longshore_domain::preset::{LearntFrom, LearntPreset};
use longshore_domain::registration::{StoredRegistration, TypeName};
use longshore_domain::schedule::{Occurrence, OccurrenceId, Schedule, ScheduleKey};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::{Delivery, DeliveryKey, Endpoint};

use super::handler_states::WrittenState;
use super::job_records::JobRecords;
use super::keys::TakenKeys;

/// Maximum number of jobs in one page of unfinished ones.
const UNFINISHED_PAGE: usize = 100;

/// All records.
#[derive(Debug)]
pub(super) struct Records {
    pub(super) uploads: BTreeMap<FileGuid, Upload>,
    pub(super) jobs: BTreeMap<JobId, JobRecords>,
    /// Concurrency limits by job type.
    pub(super) limiters: BTreeMap<String, ConcurrencyRecords>,
    /// Shared states of registered job types.
    pub(super) handler_states: BTreeMap<String, WrittenState>,
    /// Presets of datasets, one of each kind.
    pub(super) presets: BTreeMap<(Dataset, LearntFrom), LearntPreset>,
    pub(super) pauses: BTreeMap<PauseScope, Pause>,
    /// Dead-letter records by id, each with its body.
    pub(super) dead_letters: BTreeMap<String, (DeadLetterRecord, Option<String>)>,
    /// Registered job types.
    pub(super) job_types: BTreeMap<TypeName, StoredRegistration>,
    pub(super) job_keys: TakenKeys<JobId>,
    pub(super) upload_keys: TakenKeys<FileGuid>,
    /// Bytes of uploads promised to a tenant, by tenant and end of the day.
    promised: BTreeMap<(TenantId, Timestamp), u64>,
    /// Bytes of the files of a tenant's jobs, by tenant and end of the day.
    job_bytes: BTreeMap<(TenantId, Timestamp), u64>,
    /// Calls that created work, by tenant and window.
    calls: BTreeMap<(TenantId, CallWindow), u64>,
    /// Next time for a call of a tenant's endpoints, in microseconds.
    pub(super) next_calls: BTreeMap<TenantId, i64>,
    /// Schedules by tenant and place.
    pub(super) schedules: BTreeMap<ScheduleKey, Schedule>,
    /// Occurrences of schedules.
    pub(super) occurrences: BTreeMap<(ScheduleId, OccurrenceId), Occurrence>,
    /// Costs of the runs that ended, by month, tenant and job type.
    pub(super) costs: BTreeMap<(Month, TenantId, String), MonthCost>,
    pub(super) limits: TenantLimits,
    pub(super) unfinished_page: usize,
    pub(super) sweep_position: Option<JobPosition>,
    pub(super) deliveries: BTreeMap<(TenantId, ChunkQueue), Deliveries>,
    /// Listed events of each tenant, by position.
    pub(super) events: BTreeMap<TenantId, BTreeMap<EventPosition, Event>>,
    /// Endpoints by tenant and place.
    pub(super) endpoints: BTreeMap<(TenantId, u8), Endpoint>,
    /// Deliveries to endpoints.
    pub(super) webhook_deliveries: BTreeMap<DeliveryKey, Delivery>,
    /// Jobs that use an upload.
    uses: BTreeSet<(FileGuid, JobId)>,
}

/// Permits and parked chunks of one job type.
#[derive(Debug, Default)]
pub(super) struct ConcurrencyRecords {
    pub(super) permits: BTreeMap<u32, Permit>,
    /// Parked chunks by name, and so by turn.
    pub(super) parked: BTreeMap<String, ParkedChunk>,
}

impl Default for Records {
    fn default() -> Self {
        let (uploads, jobs, limiters, dead_letters) = Default::default();
        let (job_keys, upload_keys, promised, job_bytes, calls, limits, uses) = Default::default();
        let (sweep_position, deliveries, handler_states, presets, job_types) = Default::default();
        let (events, schedules, occurrences, pauses, costs) = Default::default();
        let (endpoints, webhook_deliveries, next_calls) = Default::default();
        Self {
            uploads,
            jobs,
            limiters,
            handler_states,
            presets,
            pauses,
            dead_letters,
            job_types,
            job_keys,
            upload_keys,
            promised,
            job_bytes,
            calls,
            next_calls,
            schedules,
            occurrences,
            costs,
            limits,
            unfinished_page: UNFINISHED_PAGE,
            sweep_position,
            deliveries,
            events,
            endpoints,
            webhook_deliveries,
            uses,
        }
    }
}

impl Records {
    pub(super) fn group(&mut self, id: JobId, group: u32) -> Option<&mut Group> {
        self.jobs.get_mut(&id)?.groups.get_mut(&group)
    }

    /// Stores an upload, its bytes and its key, unless the key is in use and has not expired, or the day has no room
    /// for it.
    pub(super) fn create_upload(&mut self, upload: &Upload, key: Option<&IdempotencyKey>) -> Created<FileGuid> {
        let id = upload.file_guid;
        if let Some(outcome) = key.and_then(|key| self.upload_keys.outcome(&upload.tenant, key, id)) {
            return outcome;
        }
        if self.uploads.contains_key(&id) {
            return Created::New;
        }
        let promised = self.promised.entry((upload.tenant.clone(), upload.promised_at.end_of_day())).or_default();
        let Some(bytes) =
            promised.checked_add(upload.size_bytes).filter(|bytes| *bytes <= self.limits.upload_bytes_per_day)
        else {
            return Created::OverQuota(QuotaExceeded::DailyBytes(*promised));
        };
        self.promised.insert((upload.tenant.clone(), upload.promised_at.end_of_day()), bytes);
        self.uploads.insert(id, upload.clone());
        if let Some(key) = key {
            self.upload_keys.take(&upload.tenant, key, id);
        }
        Created::New
    }

    /// Stores job, definition and key, unless the job exists, the key is in use and has not expired, or the tenant
    /// has no room for the job.
    pub(super) fn create_job(
        &mut self,
        job: &Job,
        definition: &Definition,
        key: Option<&IdempotencyKey>,
    ) -> Created<JobId> {
        if let Some(outcome) = key.and_then(|key| self.job_keys.outcome(&job.tenant, key, job.job_id)) {
            return outcome;
        }
        if self.jobs.contains_key(&job.job_id) {
            return Created::New;
        }
        if let Some(quota) = self.over_quota(job, job.times.created_at) {
            return Created::OverQuota(quota);
        }
        let of_job = JobRecords {
            job: job.clone(),
            definition: Some(definition.clone()),
            groups: BTreeMap::new(),
            manifests: BTreeMap::new(),
        };
        self.jobs.insert(job.job_id, of_job);
        self.count_job_bytes(job, job.times.created_at);
        self.use_uploads(job);
        if let Some(key) = key {
            self.job_keys.take(&job.tenant, key, job.job_id);
        }
        Created::New
    }

    /// Returns the quota that leaves no room for an active job at this time.
    pub(super) fn over_quota(&self, job: &Job, at: Timestamp) -> Option<QuotaExceeded> {
        let active = self.active_jobs(&job.tenant);
        if active >= self.limits.active_jobs {
            return Some(QuotaExceeded::ActiveJobs(active));
        }
        self.job_bytes_without_room(job, at).map(QuotaExceeded::DailyBytes)
    }

    /// Returns the bytes counted for the tenant's day if they leave no room for the job's file.
    fn job_bytes_without_room(&self, job: &Job, now: Timestamp) -> Option<u64> {
        let counted = self.job_bytes.get(&(job.tenant.clone(), now.end_of_day())).copied().unwrap_or_default();
        let has_room = counted.saturating_add(job.source_bytes()) <= self.limits.job_bytes_per_day;
        (!has_room).then_some(counted)
    }

    pub(super) fn count_job_bytes(&mut self, job: &Job, now: Timestamp) {
        *self.job_bytes.entry((job.tenant.clone(), now.end_of_day())).or_default() += job.source_bytes();
    }

    /// Records that a job uses its uploads.
    pub(super) fn use_uploads(&mut self, job: &Job) {
        self.uses.extend(job.uploads().into_iter().map(|upload| (upload, job.job_id)));
    }

    /// Counts a call that creates work, if its window has room.
    pub(super) fn count_call(&mut self, tenant: &TenantId, now: Timestamp) -> CallCount {
        count(&mut self.calls, self.limits.work_calls, tenant, now)
    }

    pub(super) fn active_jobs(&self, tenant: &TenantId) -> u64 {
        let jobs = self.jobs.values().map(|of_job| &of_job.job);
        jobs.filter(|job| job.tenant == *tenant && job.is_unfinished()).count() as u64
    }

    /// Returns a page of a tenant's jobs, newest first.
    pub(super) fn list(&self, query: &JobsQuery<'_>) -> JobsPage {
        let jobs = self.jobs.values().map(|of_job| &of_job.job).filter(|job| query.includes(job));
        let mut jobs: Vec<_> = jobs.map(|job| (JobPosition::after(job), job)).collect();
        jobs.retain(|(position, _)| query.after.is_none_or(|after| *position < after));
        jobs.sort_by_key(|(position, _)| std::cmp::Reverse(*position));
        let more = jobs.len() > query.limit;
        jobs.truncate(query.limit);
        let next = jobs.last().filter(|_| more).map(|(position, _)| *position);
        JobsPage { jobs: jobs.into_iter().map(|(_, job)| job.clone()).collect(), next }
    }
}

impl Records {
    /// Removes a job's use of its upload, and the upload's record if no other job uses it.
    pub(super) fn release_upload(&mut self, id: JobId, upload: FileGuid) -> UploadRelease {
        self.uses.remove(&(upload, id));
        if self.uses.iter().any(|(used, _)| *used == upload) {
            return UploadRelease::KeepFile;
        }
        self.uploads.remove(&upload);
        UploadRelease::RemoveFile
    }
}

/// Counts a call in its window, if it is below the limit.
fn count(
    calls: &mut BTreeMap<(TenantId, CallWindow), u64>,
    limit: u64,
    tenant: &TenantId,
    now: Timestamp,
) -> CallCount {
    let calls = calls.entry((tenant.clone(), CallWindow::at(now))).or_default();
    if *calls >= limit {
        return CallCount::LimitReached;
    }
    *calls += 1;
    CallCount::Counted
}
