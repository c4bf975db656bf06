//! Events: pending in the item of their job, and then listed in the partition of their tenant.

use std::time::Duration;

use aws_sdk_dynamodb::types::{AttributeValue, TransactWriteItem};
use longshore_domain::event::{
    Event, EventPosition, EventsQuery, ListedEvent, MOVE_S, PendingEvent, RETENTION_DAYS, to_move,
};
use longshore_domain::job::Job;
use longshore_domain::ports::{Events, EventsMoved, PortResult};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use super::item::{Item, ItemError, number, read_text, text};
use super::job_item::{DELETED_AT, PENDING_EVENTS};
use super::keys::{Key, SK, events_pk};
use super::retry::unanswered;
use super::transaction::Transacted;
use super::transitions::word;
use super::update::Update;
use super::{DynamoStore, failed};

const MOVE: &str = "move_events";
const LIST: &str = "events";

impl Events for DynamoStore {
    /// TransactWriteItems: puts each event of `EVENTS#tenant`, and updates `JOB#id` / `JOB`, if `pendingEvents`,
    /// `generation` and `status` are as they were read, and `deletedAt` exists as it did. The job leaves the index
    /// `unfinished` if it has ended, is not deleted, and this is its last event.
    async fn move_events(&self, job: &Job, now: Timestamp) -> PortResult<EventsMoved> {
        let events = to_move(job);
        if events.is_empty() {
            return Ok(EventsMoved::Moved);
        }
        let mut writes = vec![self.take_events(job, &events)?];
        for event in &events {
            writes.push(self.put_if_absent(to_item(&job.tenant, event, now).map_err(failed(MOVE))?)?);
        }
        // Written later, an event could appear before one that a reader has already passed.
        let transacted = tokio::time::timeout(Duration::from_secs(MOVE_S), self.transact(MOVE, writes)).await;
        Ok(match transacted.map_err(failed(MOVE))?? {
            Transacted::Applied => EventsMoved::Moved,
            Transacted::Refused(_) => EventsMoved::Changed,
        })
    }

    /// Consistent Query of `EVENTS#tenant`.
    async fn events(&self, query: &EventsQuery<'_>) -> PortResult<Vec<ListedEvent>> {
        let start = query.after.map(|after| Key::event(query.tenant, after).attributes());
        let call = self.client.query().table_name(&self.table).consistent_read(true);
        let call = call
            .key_condition_expression("PK = :events AND SK < :before")
            .expression_attribute_values(":events", text(events_pk(query.tenant)))
            .expression_attribute_values(":before", text(moved_at(query.before)))
            .set_exclusive_start_key(start)
            .set_limit(i32::try_from(query.limit).ok());
        let page = call.send().await.map_err(unanswered(LIST))?;
        let events: Result<_, _> = page.items.unwrap_or_default().into_iter().map(from_item).collect();
        events.map_err(failed(LIST))
    }
}

impl DynamoStore {
    fn take_events(&self, job: &Job, events: &[Event]) -> PortResult<TransactWriteItem> {
        let mut left = job.clone();
        left.events_moved(job, events);
        let leave = if left.needs_sweep() { "" } else { " REMOVE #unfinished" };
        let deleted = if job.is_deleted() { "attribute_exists" } else { "attribute_not_exists" };
        let state = "#pendingEvents = :pending AND #generation = :generation AND #status = :status";
        self.update_of(Update {
            operation: MOVE,
            key: Key::job(job.job_id),
            update: format!("DELETE #{PENDING_EVENTS} :moved{leave}"),
            condition: format!("attribute_exists(#PK) AND {state} AND {deleted}(#{DELETED_AT})"),
            values: vec![
                (":moved", pending(events.iter().map(|event| &event.change)).map_err(failed(MOVE))?),
                (":pending", pending(&job.pending_events).map_err(failed(MOVE))?),
                (":generation", number(job.generation)),
                (":status", word(job.status, MOVE)?),
            ],
        })
    }
}

/// Returns the attribute of pending events: a string set, so that a write can add to it without reading it.
pub(super) fn pending<'a>(events: impl IntoIterator<Item = &'a PendingEvent>) -> Result<AttributeValue, ItemError> {
    let texts: Result<_, _> = events.into_iter().map(serde_json::to_string).collect();
    Ok(AttributeValue::Ss(texts?))
}

/// Returns the item of a listed event.
pub(super) fn to_item(tenant: &TenantId, event: &Event, now: Timestamp) -> Result<Item, ItemError> {
    let position = EventPosition { moved_at: now, id: event.id.clone() };
    let mut item: Item = serde_dynamo::to_item(event)?;
    item.extend(Key::event(tenant, &position).attributes());
    item.insert("expiresAt".into(), number(now.plus_days(RETENTION_DAYS).seconds()));
    Ok(item)
}

fn from_item(item: Item) -> Result<ListedEvent, ItemError> {
    let (moved_at, id) = read_text(&item, SK)?.split_once('#').ok_or(ItemError::Attribute(SK))?;
    let moved_at = moved_at.parse().map(Timestamp).map_err(|_| ItemError::Attribute(SK))?;
    let position = EventPosition { moved_at, id: id.to_owned() };
    Ok(ListedEvent { position, event: serde_dynamo::from_item(item)? })
}

/// Formats a time in the order of the list.
pub(super) fn moved_at(time: Timestamp) -> String {
    format!("{:015}", time.0)
}

#[cfg(test)]
mod tests {
    use longshore_domain::event::EventType;
    use longshore_domain::ids::JobId;
    use longshore_domain::outcome::Counts;

    use super::*;

    /// A set of another form would refuse the moves of a program that writes this one.
    #[test]
    fn a_pending_event_has_the_form_of_earlier_versions() {
        let started = PendingEvent::started(2, Timestamp(5));
        let counts = Some(Counts { succeeded: 1, failed: 0, skipped: 3 });
        let ended = PendingEvent { generation: 0, event_type: EventType::Canceled, at: Timestamp(7), counts };
        let texts = [
            r#"{"generation":2,"type":"job.started","at":5}"#,
            r#"{"generation":0,"type":"job.canceled","at":7,"counts":{"succeeded":1,"failed":0,"skipped":3}}"#,
        ];
        let expected = AttributeValue::Ss(texts.map(str::to_owned).to_vec());
        assert_eq!(pending(&[started, ended]).unwrap(), expected);
    }

    #[test]
    fn a_listed_event_is_read_as_it_was_written() {
        let job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1));
        let event = Event::new(&job, PendingEvent::started(0, Timestamp(2)));
        let listed = from_item(to_item(&job.tenant, &event, Timestamp(3)).unwrap()).unwrap();
        let position = EventPosition { moved_at: Timestamp(3), id: event.id.clone() };
        assert_eq!(listed, ListedEvent { position, event });
    }
}
