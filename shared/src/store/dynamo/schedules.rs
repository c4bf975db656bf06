//! Schedules of tenants, and their occurrences.

use longshore_domain::ids::ScheduleId;
use longshore_domain::ports::{
    ConditionalWrite, FireWrite, Firing, OccurrencesQuery, PortResult, QuotaExceeded, Schedules,
};
use longshore_domain::schedule::{Occurrence, Schedule, ScheduleKey};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_domain::turns::by_turns;

use super::active_jobs::ATTEMPTS;
use super::conditional::{json, value, written};
use super::due::{DUE, DUE_AT, DueKind, Reading};
use super::item::{Item, ItemError, number, read_text, text, time};
use super::keys::{Key, PK, SK, occurrences_pk, schedules_pk};
use super::retry::unanswered;
use super::transaction::Transacted;
use super::update::Update;
use super::{DynamoStore, failed};

const SCHEDULE: &str = "schedule";
const OCCURRENCE: &str = "occurrence";

impl Schedules for DynamoStore {
    /// Consistent Query of `SCHEDULES#tenant`, page by page: a hundred schedules can have more than 1 MB.
    async fn schedules(&self, tenant: &TenantId) -> PortResult<Vec<Schedule>> {
        const LIST: &str = "schedules";
        let query = self.client.query().table_name(&self.table).consistent_read(true);
        let mut pages = query
            .key_condition_expression("PK = :schedules")
            .expression_attribute_values(":schedules", text(schedules_pk(tenant)))
            .into_paginator()
            .send();
        let mut schedules = Vec::new();
        while let Some(page) = pages.try_next().await.map_err(unanswered(LIST))? {
            for item in page.items() {
                schedules.push(read_schedule(item).map_err(failed(LIST))?);
            }
        }
        schedules.sort_by_key(|schedule: &Schedule| (schedule.created_at, schedule.place));
        Ok(schedules)
    }

    /// Consistent GetItem of `SCHEDULES#tenant` / `place`.
    async fn schedule(&self, key: &ScheduleKey) -> PortResult<Option<Schedule>> {
        let item = self.get("schedule", Key::schedule(key)).await?;
        item.map(|item| read_schedule(&item)).transpose().map_err(failed("schedule"))
    }

    /// UpdateItem of `SCHEDULES#tenant` / `place`, if the item is absent, or has the id and the revision that were read.
    async fn put_schedule(&self, schedule: &Schedule, read: Option<&Schedule>) -> PortResult<ConditionalWrite> {
        let update = put("put_schedule", schedule, read)?;
        let values = update.values.clone();
        written(self.update(update).await?, |item| item.get(SCHEDULE) == value(&values, ":schedule"))
    }

    /// DeleteItem of `SCHEDULES#tenant` / `place`, if it has the id and the revision that were read.
    async fn delete_schedule(&self, read: &Schedule) -> PortResult<ConditionalWrite> {
        let values = vec![(":readId", text(read.schedule_id.to_string())), (":readRevision", number(read.revision))];
        let condition = ("#scheduleId = :readId AND #revision = :readRevision".to_owned(), values);
        let delete = self.delete_of(Key::schedule(&read.key()), condition)?;
        Ok(match self.transact("delete_schedule", vec![delete]).await? {
            Transacted::Applied => ConditionalWrite::Stored,
            Transacted::Refused(_) => ConditionalWrite::Changed,
        })
    }

    /// TransactWriteItems: replaces the schedule if it has the revision that was read, puts the occurrence if absent, and
    /// puts the job as a create does. After a refusal, reads the schedule, because the refusal need not name every condition
    /// that did not hold; if the limit is reached, makes room and tries again.
    async fn fire(&self, firing: &Firing<'_>) -> PortResult<FireWrite> {
        const FIRE: &str = "fire";
        let Firing { read, fired, occurrence, job } = *firing;
        let item = occurrence_item(fired, occurrence).map_err(failed(FIRE))?;
        for _ in 0..ATTEMPTS {
            let mut writes = vec![self.update_of(put(FIRE, fired, Some(read))?)?, self.put_if_absent(item.clone())?];
            if let Some((job, definition)) = job {
                writes.extend(self.puts_of(job, definition)?);
            }
            if matches!(self.transact(FIRE, writes).await?, Transacted::Applied) {
                return Ok(FireWrite::Recorded);
            }
            match self.schedule(&read.key()).await? {
                Some(stored) if stored == *fired => {
                    let recorded = self.get(FIRE, Key::occurrence(&fired.tenant, fired.schedule_id, &occurrence.id()));
                    let is_own = recorded.await?.is_some_and(|recorded| recorded == item);
                    return Ok(if is_own { FireWrite::Recorded } else { FireWrite::Changed });
                }
                Some(stored) if (stored.schedule_id, stored.revision) == (read.schedule_id, read.revision) => {}
                Some(_) | None => return Ok(FireWrite::Changed),
            }
            let active = self.remove_ended(&read.tenant).await?;
            if active >= self.limits.active_jobs {
                return Ok(FireWrite::OverQuota(QuotaExceeded::ActiveJobs(active)));
            }
        }
        Ok(FireWrite::OverQuota(QuotaExceeded::ActiveJobs(self.limits.active_jobs)))
    }

    /// Query of `OCCURRENCES#schedule#tenant`.
    async fn occurrences(&self, query: &OccurrencesQuery<'_>) -> PortResult<Vec<Occurrence>> {
        const LIST: &str = "occurrences";
        let call = self.client.query().table_name(&self.table).scan_index_forward(false);
        let call = call
            .expression_attribute_values(":occurrences", text(occurrences_pk(query.tenant, query.schedule_id)))
            .set_limit(i32::try_from(query.limit).ok());
        let call = match query.before {
            Some(id) => call
                .key_condition_expression("PK = :occurrences AND SK < :id")
                .expression_attribute_values(":id", text(id.as_str())),
            None => call.key_condition_expression("PK = :occurrences"),
        };
        let page = call.send().await.map_err(unanswered(LIST))?;
        let occurrences: Result<_, _> = page.items.unwrap_or_default().iter().map(read_occurrence).collect();
        occurrences.map_err(failed(LIST))
    }

    /// Query of each partition of the index `due`.
    async fn due_schedules(&self, before: Timestamp, limit: usize) -> PortResult<Vec<ScheduleKey>> {
        let (of, in_turn) = (("due_schedules", DueKind::Schedules), |due| by_turns(due, limit));
        let due = self.due(of, before, Reading::BothEnds, key_of, in_turn).await?;
        Ok(due.into_iter().map(|(_, key)| key).collect())
    }
}

/// Returns the update that stores a schedule. One without a next time leaves the index `due`.
fn put(operation: &'static str, schedule: &Schedule, read: Option<&Schedule>) -> PortResult<Update> {
    let mut values = vec![
        (":id", text(schedule.schedule_id.to_string())),
        (":schedule", json(schedule).map_err(failed(operation))?),
        (":revision", number(schedule.revision)),
    ];
    let condition = match read {
        None => "attribute_not_exists(#PK)",
        Some(read) => {
            values.push((":readId", text(read.schedule_id.to_string())));
            values.push((":readRevision", number(read.revision)));
            "attribute_exists(#PK) AND #scheduleId = :readId AND #revision = :readRevision"
        }
    };
    let set = "SET #scheduleId = :id, #schedule = :schedule, #revision = :revision";
    let update = match schedule.due() {
        Some(at) => {
            values.extend([(":due", DueKind::Schedules.partition(first(schedule.schedule_id))), (":dueAt", time(at))]);
            format!("{set}, #{DUE} = :due, #{DUE_AT} = :dueAt")
        }
        None => format!("{set} REMOVE #{DUE}, #{DUE_AT}"),
    };
    Ok(Update { operation, key: Key::schedule(&schedule.key()), update, condition: condition.into(), values })
}

fn first(id: ScheduleId) -> Option<char> {
    id.to_string().chars().next()
}

/// Returns the item of a schedule, for the check of its size.
pub(super) fn schedule_item(schedule: &Schedule) -> Result<Item, ItemError> {
    let mut item = Key::schedule(&schedule.key()).attributes();
    item.insert("scheduleId".to_owned(), text(schedule.schedule_id.to_string()));
    item.insert(SCHEDULE.to_owned(), json(schedule)?);
    Ok(item)
}

/// Returns the item of an occurrence.
pub(super) fn occurrence_item(schedule: &Schedule, occurrence: &Occurrence) -> Result<Item, ItemError> {
    let key = Key::occurrence(&schedule.tenant, schedule.schedule_id, &occurrence.id());
    let mut item = key.attributes();
    item.insert(OCCURRENCE.to_owned(), json(occurrence)?);
    item.insert("expiresAt".to_owned(), number(occurrence.expires_at()));
    Ok(item)
}

fn read_schedule(item: &Item) -> Result<Schedule, ItemError> {
    Ok(serde_json::from_str(read_text(item, SCHEDULE)?)?)
}

fn read_occurrence(item: &Item) -> Result<Occurrence, ItemError> {
    Ok(serde_json::from_str(read_text(item, OCCURRENCE)?)?)
}

fn key_of(item: &Item) -> Result<ScheduleKey, ItemError> {
    let tenant = read_text(item, PK)?.strip_prefix("SCHEDULES#").and_then(TenantId::parse);
    let place = read_text(item, SK)?.parse().map_err(|_| ItemError::Attribute(SK))?;
    Ok(ScheduleKey { tenant: tenant.ok_or(ItemError::Attribute(PK))?, place })
}
