//! Notes of dead letters in memory.

use longshore_domain::dead_letter::{DeadLetter, Settled};
use longshore_domain::ports::{DeadLetterNotes, Page, PortResult};

use super::{MemoryStore, items};

impl DeadLetterNotes for MemoryStore {
    async fn note(&self, letter: &DeadLetter, body: Option<&str>) -> PortResult<()> {
        items::check_letter(letter, body)?;
        let mut records = self.records();
        let noted = || (letter.clone(), body.map(str::to_owned));
        records.dead_letters.entry(letter.id.clone()).or_insert_with(noted);
        Ok(())
    }

    async fn letter(&self, id: &str) -> PortResult<Option<DeadLetter>> {
        Ok(self.records().dead_letters.get(id).map(|(letter, _)| letter.clone()))
    }

    async fn body(&self, letter: &DeadLetter) -> PortResult<Option<String>> {
        Ok(self.records().dead_letters.get(&letter.id).and_then(|(_, body)| body.clone()))
    }

    async fn letters(&self, behind: Option<&str>, limit: usize) -> PortResult<Page<DeadLetter>> {
        let records = self.records();
        let all = records.dead_letters.values().rev().map(|(letter, _)| letter);
        let mut items: Vec<_> = all.filter(|letter| behind.is_none_or(|id| letter.id.as_str() < id)).cloned().collect();
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items.last().filter(|_| more).map(|letter| letter.id.clone());
        Ok(Page { items, next })
    }

    async fn settle(&self, id: &str, settled: &Settled) -> PortResult<Option<DeadLetter>> {
        let mut records = self.records();
        Ok(records.dead_letters.get_mut(id).map(|(letter, _)| {
            letter.settled.get_or_insert_with(|| settled.clone());
            letter.clone()
        }))
    }
}

impl MemoryStore {
    /// The bodies of a job's letters go with the job.
    pub(super) fn forget_bodies(&self, id: longshore_domain::ids::JobId) {
        for (letter, body) in self.records().dead_letters.values_mut() {
            if letter.letter.job_id() == Some(id) {
                *body = None;
            }
        }
    }
}
