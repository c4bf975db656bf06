//! Dead-letter records in memory.

use longshore::store::dynamo::items;
use longshore_domain::dead_letter::{DeadLetterRecord, Resolution};
use longshore_domain::ids::JobId;
use longshore_domain::ports::{DeadLetterRecords, Page, PortResult};

use super::MemoryStore;

impl DeadLetterRecords for MemoryStore {
    async fn record(&self, dead_letter: &DeadLetterRecord, body: Option<&str>) -> PortResult<()> {
        items::check_dead_letter(dead_letter, body)?;
        let mut records = self.records();
        let record = || (dead_letter.clone(), body.map(str::to_owned));
        records.dead_letters.entry(dead_letter.id.clone()).or_insert_with(record);
        Ok(())
    }

    async fn dead_letter(&self, id: &str) -> PortResult<Option<DeadLetterRecord>> {
        Ok(self.records().dead_letters.get(id).map(|(dead_letter, _)| dead_letter.clone()))
    }

    async fn body(&self, dead_letter: &DeadLetterRecord) -> PortResult<Option<String>> {
        Ok(self.records().dead_letters.get(&dead_letter.id).and_then(|(_, body)| body.clone()))
    }

    async fn dead_letters(&self, after: Option<&str>, limit: usize) -> PortResult<Page<DeadLetterRecord>> {
        let records = self.records();
        let all = records.dead_letters.values().rev().map(|(dead_letter, _)| dead_letter);
        let mut items: Vec<_> =
            all.filter(|dead_letter| after.is_none_or(|id| dead_letter.id.as_str() < id)).cloned().collect();
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|dead_letter| dead_letter.id.clone());
        Ok(Page { items, next })
    }

    async fn resolve(&self, id: &str, resolution: &Resolution) -> PortResult<Option<DeadLetterRecord>> {
        let mut records = self.records();
        Ok(records.dead_letters.get_mut(id).map(|(dead_letter, _)| {
            dead_letter.resolution.get_or_insert_with(|| resolution.clone());
            dead_letter.clone()
        }))
    }
}

impl MemoryStore {
    /// Removes the bodies of a job's dead letters with the job.
    pub(super) fn remove_bodies(&self, id: JobId) {
        for (dead_letter, body) in self.records().dead_letters.values_mut() {
            if dead_letter.message.job_id() == Some(id) {
                *body = None;
            }
        }
    }
}
