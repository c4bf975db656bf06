//! Registered job types in memory: the domain's rules under one lock.

use longshore::store::dynamo::items;
use longshore_domain::ports::{JobTypes, Page, PingRecord, PortResult, TypeDeletion, TypeWrite};
use longshore_domain::registration::{
    Activation, Candidate, MAX_JOB_TYPES, Refusal, Revision, StoredRegistration, TypeName, Version,
};

use super::MemoryStore;

impl JobTypes for MemoryStore {
    async fn job_type(&self, name: &TypeName) -> PortResult<Option<StoredRegistration>> {
        Ok(self.records().job_types.get(name).cloned())
    }

    async fn job_types(&self, after: Option<&TypeName>, limit: usize) -> PortResult<Page<StoredRegistration>> {
        let records = self.records();
        let behind = records.job_types.iter().filter(|(name, _)| after.is_none_or(|after| *name > after));
        let mut page: Vec<_> = behind.take(limit + 1).collect();
        let more = page.len() > limit;
        page.truncate(limit);
        let next = page.last().filter(|_| more).map(|(name, _)| name.to_string());
        Ok(Page { items: page.into_iter().map(|(_, stored)| stored.clone()).collect(), next })
    }

    async fn put_candidate(
        &self,
        name: &TypeName,
        candidate: Option<&Candidate>,
        seen: Option<&Revision>,
    ) -> PortResult<TypeWrite> {
        let mut records = self.records();
        let stored = records.job_types.get(name);
        if stored.map(StoredRegistration::revision).as_ref() != seen || (stored, candidate) == (None, None) {
            return Ok(TypeWrite::Changed);
        }
        if stored.is_none() && records.job_types.len() >= MAX_JOB_TYPES {
            return Ok(TypeWrite::TooMany);
        }
        let active = stored.and_then(|stored| stored.active.clone());
        let next = StoredRegistration { active, candidate: candidate.cloned() };
        items::check_job_type("put_candidate", name, &next)?;
        records.job_types.insert(name.clone(), next);
        Ok(TypeWrite::Stored)
    }

    async fn delete_job_type(&self, name: &TypeName, seen: Option<&Revision>) -> PortResult<TypeDeletion> {
        let mut records = self.records();
        let Some(stored) = records.job_types.get(name) else { return Ok(TypeDeletion::Deleted) };
        if seen.is_some_and(|seen| stored.revision() != *seen) {
            return Ok(TypeDeletion::Changed);
        }
        records.job_types.remove(name);
        Ok(TypeDeletion::Deleted)
    }

    async fn activate(&self, name: &TypeName, version: &Version, activation: &Activation) -> PortResult<PingRecord> {
        let mut records = self.records();
        let Some(stored) = records.job_types.get_mut(name) else { return Ok(PingRecord::Stale) };
        if let Some(next) = stored.activated(version, activation) {
            items::check_job_type("activate", name, &next)?;
            *stored = next;
        }
        Ok(recorded_if(stored.active.as_ref().is_some_and(|active| active.version == *version)))
    }

    async fn refuse(&self, name: &TypeName, version: &Version, refusal: &Refusal) -> PortResult<PingRecord> {
        let mut records = self.records();
        let Some(stored) = records.job_types.get_mut(name) else { return Ok(PingRecord::Stale) };
        if let Some(next) = stored.refused(version, refusal) {
            items::check_job_type("refuse", name, &next)?;
            *stored = next;
        }
        Ok(recorded_if(stored.candidate.as_ref().is_some_and(|candidate| candidate.version == *version)))
    }
}

fn recorded_if(is_recorded: bool) -> PingRecord {
    if is_recorded { PingRecord::Recorded } else { PingRecord::Stale }
}
