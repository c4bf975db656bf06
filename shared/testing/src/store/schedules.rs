//! Schedules and their occurrences in memory.

use longshore::store::dynamo::items;
use longshore_domain::ids::ScheduleId;
use longshore_domain::ports::{ConditionalWrite, Created, FireWrite, Firing, OccurrencesQuery, PortResult, Schedules};
use longshore_domain::schedule::{Occurrence, Schedule, ScheduleKey};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::turns::by_turns;

use super::MemoryStore;

impl Schedules for MemoryStore {
    async fn schedules(&self, tenant: &TenantId) -> PortResult<Vec<Schedule>> {
        let records = self.records();
        let own = records.schedules.values().filter(|schedule| schedule.tenant == *tenant);
        let mut schedules: Vec<_> = own.cloned().collect();
        schedules.sort_by_key(|schedule| (schedule.created_at, schedule.place));
        Ok(schedules)
    }

    async fn schedule(&self, key: &ScheduleKey) -> PortResult<Option<Schedule>> {
        Ok(self.records().schedules.get(key).cloned())
    }

    async fn put_schedule(&self, schedule: &Schedule, read: Option<&Schedule>) -> PortResult<ConditionalWrite> {
        items::check_schedule(schedule)?;
        let mut records = self.records();
        let stored = records.schedules.get(&schedule.key());
        let is_expected = stored.map(identity) == read.map(identity);
        let is_own = stored == Some(schedule);
        if is_expected {
            records.schedules.insert(schedule.key(), schedule.clone());
        }
        Ok(if is_expected || is_own { ConditionalWrite::Stored } else { ConditionalWrite::Changed })
    }

    async fn delete_schedule(&self, read: &Schedule) -> PortResult<ConditionalWrite> {
        let mut records = self.records();
        if records.schedules.get(&read.key()).map(identity) != Some(identity(read)) {
            return Ok(ConditionalWrite::Changed);
        }
        records.schedules.remove(&read.key());
        Ok(ConditionalWrite::Stored)
    }

    async fn fire(&self, firing: &Firing<'_>) -> PortResult<FireWrite> {
        let Firing { read, fired, occurrence, job } = *firing;
        items::check_schedule(fired)?;
        items::check_occurrence(fired, occurrence)?;
        if let Some((job, definition)) = job {
            items::check_new_job(job, definition, None)?;
        }
        let mut records = self.records();
        let stored = records.schedules.get(&read.key());
        let recorded = records.occurrences.get(&(fired.schedule_id, occurrence.id()));
        if stored == Some(fired) && recorded == Some(occurrence) {
            return Ok(FireWrite::Recorded);
        }
        if stored.map(identity) != Some(identity(read)) {
            return Ok(FireWrite::Changed);
        }
        if let Some((job, definition)) = job
            && let Created::OverQuota(quota) = records.create_job(job, definition, None)
        {
            return Ok(FireWrite::OverQuota(quota));
        }
        records.schedules.insert(fired.key(), fired.clone());
        records.occurrences.insert((fired.schedule_id, occurrence.id()), occurrence.clone());
        Ok(FireWrite::Recorded)
    }

    async fn occurrences(&self, query: &OccurrencesQuery<'_>) -> PortResult<Vec<Occurrence>> {
        let records = self.records();
        let own = records.occurrences.iter().rev().filter(|((schedule, _), _)| *schedule == query.schedule_id);
        let older = own.filter(|((_, id), _)| query.before.is_none_or(|before| id < before));
        Ok(older.take(query.limit).map(|(_, occurrence)| occurrence.clone()).collect())
    }

    async fn due_schedules(&self, before: Timestamp, limit: usize) -> PortResult<Vec<ScheduleKey>> {
        let records = self.records();
        let due = records.schedules.values().filter_map(|schedule| Some((schedule.due()?, schedule.key())));
        let due = by_turns(due.filter(|(at, _)| *at < before).collect(), limit);
        Ok(due.into_iter().map(|(_, key)| key).collect())
    }
}

fn identity(schedule: &Schedule) -> (ScheduleId, u32) {
    (schedule.schedule_id, schedule.revision)
}
