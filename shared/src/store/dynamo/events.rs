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
use longshore_domain::webhook::Delivery;

use super::item::{Item, ItemError, number, read_text, text};
use super::job_item::{DELETED_AT, PENDING_EVENTS};
use super::keys::{Key, SK, events_pk};
use super::retry::unanswered;
use super::transaction::Transacted;
use super::transitions::word;
use super::update::Update;
use super::{DynamoStore, failed, webhooks};

const MOVE: &str = "move_events";
const LIST: &str = "events";

impl Events for DynamoStore {
    /// TransactWriteItems: puts each event of `EVENTS#tenant`, and updates `JOB#id` / `JOB`, if `pendingEvents`,
    /// `generation` and `status` are as they were read, and `deletedAt` exists as it did. It also puts the deliveries, at most
    /// one for each event and endpoint. The job leaves the index
    /// `unfinished` if it has ended, is not deleted, and this is its last event.
    async fn move_events(&self, job: &Job, deliveries: &[Delivery], now: Timestamp) -> PortResult<EventsMoved> {
        let events = to_move(job);
        if events.is_empty() {
            return Ok(EventsMoved::Moved);
        }
        let mut writes = vec![self.take_events(job, &events)?];
        for event in &events {
            let item = to_item(&job.tenant, event, now, job.times.expires_at);
            writes.push(self.put_if_absent(item.map_err(failed(MOVE))?)?);
        }
        Ok(match self.append_events(MOVE, writes, deliveries).await? {
            Transacted::Applied => EventsMoved::Moved,
            Transacted::Refused(_) => EventsMoved::Changed,
        })
    }

    /// Consistent Query of `EVENTS#tenant`. DynamoDB refuses to start behind the range.
    async fn events(&self, query: &EventsQuery<'_>) -> PortResult<Vec<ListedEvent>> {
        if query.after.is_some_and(|after| after.moved_at >= query.before) {
            return Ok(Vec::new());
        }
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
    /// Commits writes that add events to the list, with their deliveries. Gives up after [`MOVE_S`]: written later, an event
    /// could appear before one that a reader has already passed.
    pub(super) async fn append_events(
        &self,
        operation: &'static str,
        mut writes: Vec<TransactWriteItem>,
        deliveries: &[Delivery],
    ) -> PortResult<Transacted> {
        for delivery in deliveries {
            writes.push(self.put_if_absent(webhooks::to_item(delivery).map_err(failed(operation))?)?);
        }
        let transacted = tokio::time::timeout(Duration::from_secs(MOVE_S), self.transact(operation, writes)).await;
        transacted.map_err(failed(operation))?
    }

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
                (
                    ":moved",
                    pending(events.iter().filter_map(Event::job).map(|of_job| &of_job.change)).map_err(failed(MOVE))?,
                ),
                (":pending", all_pending(job).map_err(failed(MOVE))?.unwrap_or(AttributeValue::Null(true))),
                (":generation", number(job.generation)),
                (":status", word(job.status, MOVE)?),
            ],
        })
    }
}

/// Returns these events in the form of the attribute: a string set, so that a write can add to it without reading it.
pub(super) fn pending<'a>(events: impl IntoIterator<Item = &'a PendingEvent>) -> Result<AttributeValue, ItemError> {
    let texts: Result<_, _> = events.into_iter().map(serde_json::to_string).collect();
    Ok(AttributeValue::Ss(texts?))
}

/// Returns the attribute of all pending events of a job; `None` if there are none.
pub(super) fn all_pending(job: &Job) -> Result<Option<AttributeValue>, ItemError> {
    let texts: Result<Vec<_>, _> = job.pending_events.iter().map(serde_json::to_string).collect();
    let texts: Vec<_> = texts?.into_iter().chain(job.unknown_events.iter().cloned()).collect();
    Ok((!texts.is_empty()).then_some(AttributeValue::Ss(texts)))
}

/// Adds a pending event to a job that is read. An event in a form that this program would not write is kept as it is: it
/// could not be removed from the set.
pub(super) fn read_pending(job: &mut Job, text: String) {
    match serde_json::from_str::<PendingEvent>(&text) {
        Ok(event) if serde_json::to_string(&event).is_ok_and(|own| own == text) => job.pending_events.insert(event),
        _ => job.unknown_events.insert(text),
    };
}

/// Returns the item of a listed event. It expires with its job, if that is earlier.
pub(super) fn to_item(
    tenant: &TenantId,
    event: &Event,
    now: Timestamp,
    job_expires_at: i64,
) -> Result<Item, ItemError> {
    let mut item: Item = serde_dynamo::to_item(event)?;
    item.extend(Key::event(tenant, &EventPosition::of(event, now)).attributes());
    let expires_at = now.plus_days(RETENTION_DAYS).seconds().min(job_expires_at);
    item.insert("expiresAt".into(), number(expires_at));
    Ok(item)
}

fn from_item(item: Item) -> Result<ListedEvent, ItemError> {
    let (moved_at, _) = read_text(&item, SK)?.split_once('#').ok_or(ItemError::Attribute(SK))?;
    let moved_at = moved_at.parse().map(Timestamp).map_err(|_| ItemError::Attribute(SK))?;
    let event: Event = serde_dynamo::from_item(item)?;
    Ok(ListedEvent { position: EventPosition::of(&event, moved_at), event })
}

/// Formats a time in the order of the list.
pub(super) fn moved_at(time: Timestamp) -> String {
    format!("{:015}", time.0)
}

#[cfg(test)]
mod tests {
    use aws_smithy_runtime_api::client::http::{HttpConnector, HttpConnectorFuture};
    use aws_smithy_runtime_api::client::orchestrator::HttpRequest;
    use longshore_domain::event::EventType;
    use longshore_domain::ids::JobId;
    use longshore_domain::outcome::Counts;

    use super::super::retry::tests::store_on;
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
        let mut job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1));
        job.times.expires_at = i64::MAX;
        let event = Event::new(&job, PendingEvent::started(0, Timestamp(2)));
        let item = to_item(&job.tenant, &event, Timestamp(3), job.times.expires_at).unwrap();
        assert_eq!(item["expiresAt"], number(30 * 86_400));
        let position = EventPosition { moved_at: Timestamp(3), version: 1, id: event.id.clone() };
        assert_eq!(from_item(item).unwrap(), ListedEvent { position, event });
    }

    #[test]
    fn an_event_expires_with_its_job() {
        let mut job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1));
        job.times.expires_at = 86_400;
        let event = Event::new(&job, PendingEvent::started(0, Timestamp(2)));
        assert_eq!(to_item(&job.tenant, &event, Timestamp(3), 86_400).unwrap()["expiresAt"], number(86_400));
    }

    #[test]
    fn an_event_of_another_version_stays_as_it_is_and_the_job_stays_readable() {
        let mut job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1));
        let texts = [
            r#"{"generation":0,"type":"job.started","at":5}"#,
            r#"{"generation":0,"type":"job.paused","at":6}"#,
            r#"{"generation":0,"type":"job.started","at":5,"more":1}"#,
        ];
        texts.into_iter().for_each(|text| read_pending(&mut job, text.to_owned()));
        assert_eq!(job.pending_events, [PendingEvent::started(0, Timestamp(5))].into());
        assert_eq!(job.unknown_events.len(), 2);
        assert_eq!(all_pending(&job).unwrap(), Some(AttributeValue::Ss(texts.map(str::to_owned).to_vec())));
        let mut moved = job.clone();
        moved.status = longshore_domain::job::Status::Completed;
        moved.pending_events.clear();
        assert!(moved.needs_sweep() && !moved.is_removable());
    }

    /// A table that never answers.
    #[derive(Debug)]
    struct Silent;

    impl HttpConnector for Silent {
        fn call(&self, _: HttpRequest) -> HttpConnectorFuture {
            HttpConnectorFuture::new(std::future::pending())
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_move_that_waits_too_long_is_left_to_the_sweeper() {
        let mut job = Job::waiting(JobId::generate(), TenantId::from_static("t"), "import", Timestamp(1));
        job.begin(0, Timestamp(2));
        let start = tokio::time::Instant::now();
        let error = store_on(Silent).move_events(&job, &[], Timestamp(3)).await.unwrap_err();
        assert_eq!((error.operation, start.elapsed()), (MOVE, Duration::from_secs(MOVE_S)));
    }
}
