//! Events in memory.

use longshore_domain::event::{EventPosition, EventsQuery, ListedEvent, to_move};
use longshore_domain::job::{Job, Transition};
use longshore_domain::ports::{Events, EventsMoved, PortResult};
use longshore_domain::timestamp::Timestamp;
use longshore_domain::webhook::Delivery;

use super::MemoryStore;
use longshore::store::dynamo::items;

impl Events for MemoryStore {
    async fn move_events(&self, job: &Job, deliveries: &[Delivery], now: Timestamp) -> PortResult<EventsMoved> {
        let events = to_move(job);
        if events.is_empty() {
            return Ok(EventsMoved::Moved);
        }
        let mut records = self.records();
        let Some(of_job) = records.jobs.get_mut(&job.job_id) else { return Ok(EventsMoved::Changed) };
        let mut next = of_job.job.clone();
        if next.events_moved(job, &events) == Transition::Refused {
            return Ok(EventsMoved::Changed);
        }
        items::check_events(&next, &events, deliveries, now)?;
        of_job.job = next;
        let listed = records.events.entry(job.tenant.clone()).or_default();
        listed.extend(events.into_iter().map(|event| (EventPosition::of(&event, now), event)));
        records.webhook_deliveries.extend(deliveries.iter().map(|delivery| (delivery.key(), delivery.clone())));
        Ok(EventsMoved::Moved)
    }

    async fn events(&self, query: &EventsQuery<'_>) -> PortResult<Vec<ListedEvent>> {
        let records = self.records();
        let listed = records.events.get(query.tenant).into_iter().flatten();
        let wanted = listed
            .filter(|(position, _)| query.after.is_none_or(|after| *position > after))
            .take_while(|(position, _)| position.moved_at < query.before)
            .take(query.limit);
        Ok(wanted.map(|(position, event)| ListedEvent { position: position.clone(), event: event.clone() }).collect())
    }
}
