//! What the in-memory store holds, and the two writes that touch more than one record.

use std::collections::{BTreeMap, BTreeSet};

use longshore_domain::group::{Group, GroupPlan};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, SourceFile, Transition};
use longshore_domain::ports::{Created, Definition, IdempotencyKey, Upload};
use longshore_domain::time_stamp::Timestamp;

use crate::store::replay::{self, CommittedGroup};

/// Everything.
#[derive(Debug, Default)]
pub(super) struct Records {
    pub(super) uploads: BTreeMap<FileGuid, Upload>,
    pub(super) jobs: BTreeMap<JobId, JobRecords>,
    keys: BTreeMap<(String, String), TakenKey>,
    /// Which jobs use an upload.
    uses: BTreeSet<(FileGuid, JobId)>,
}

/// Everything about one job.
#[derive(Debug)]
pub(super) struct JobRecords {
    pub(super) job: Job,
    pub(super) definition: Definition,
    pub(super) groups: BTreeMap<u32, Group>,
    pub(super) manifests: BTreeMap<u32, CommittedGroup>,
}

/// An idempotency key that was used.
#[derive(Debug)]
struct TakenKey {
    request_hash: String,
    job: JobId,
    expires_at: i64,
}

impl Records {
    pub(super) fn group(&mut self, id: JobId, group: u32) -> Option<&mut Group> {
        self.jobs.get_mut(&id)?.groups.get_mut(&group)
    }

    /// Job, definition and key, unless the job is there or the key is taken and has not expired.
    pub(super) fn create_job(&mut self, job: &Job, definition: &Definition, key: Option<&IdempotencyKey>) -> Created {
        let slot = key.map(|key| (job.tenant.clone(), key.key.clone()));
        let taken = slot.as_ref().and_then(|slot| self.keys.get(slot));
        let expired = taken.is_none_or(|taken| taken.expires_at < job.created_at.seconds());
        if self.jobs.contains_key(&job.job_id) || !expired {
            let of = |key, taken: &TakenKey| replay::key_taken(key, job, &taken.request_hash, taken.job);
            return key.zip(taken).map_or(Created::New, |(key, taken)| of(key, taken));
        }
        let of_job = JobRecords {
            job: job.clone(),
            definition: definition.clone(),
            groups: BTreeMap::new(),
            manifests: BTreeMap::new(),
        };
        self.jobs.insert(job.job_id, of_job);
        self.uses.extend(job.source.as_ref().and_then(SourceFile::upload).map(|upload| (upload, job.job_id)));
        if let Some((slot, key)) = slot.zip(key) {
            let (request_hash, expires_at) = (key.request_hash.clone(), job.expires_at);
            self.keys.insert(slot, TakenKey { request_hash, job: job.job_id, expires_at });
        }
        Created::New
    }
}

impl Records {
    /// Takes a job off its upload; true if nobody uses it any more, and its record is gone.
    pub(super) fn release_upload(&mut self, id: JobId, upload: FileGuid) -> bool {
        self.uses.remove(&(upload, id));
        let free = self.uses.iter().all(|(used, _)| *used != upload);
        if free {
            self.uploads.remove(&upload);
        }
        free
    }
}

impl JobRecords {
    /// Group, manifest and split cursor.
    pub(super) fn commit_group(&mut self, plan: &GroupPlan, now: Timestamp) -> Transition {
        let own = CommittedGroup { manifest: plan.manifest.clone(), at: now };
        let number = own.manifest.group;
        let made = self.job.commit_group(plan, now);
        if made == Transition::Refused {
            let ours = replay::committed(&self.job, self.manifests.get(&number), &own);
            return if ours { Transition::Made(Box::new(self.job.clone())) } else { Transition::Refused };
        }
        self.groups.insert(number, Group::planned(plan, now));
        self.manifests.insert(number, own);
        made
    }
}
