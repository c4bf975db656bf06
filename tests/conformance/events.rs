//! Events: pending in a job, moved to the list of its tenant, and listed.

use longshore_domain::event::{EventPosition, EventType, EventsQuery, ListedEvent, MAX_MOVED, PendingEvent};
use longshore_domain::job::{Job, Reopen, Selection, Stage, Status, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{EventsMoved, Removal, Store};
use longshore_domain::tenant::TenantId;

use crate::fixtures::{accepted, at, definition, finish, job_after, reopened_job, unfinished, waiting_job};

on_both_stores! {
    a_change_of_the_status_is_a_pending_event,
    a_moved_event_is_listed_once,
    events_of_a_job_that_has_changed_stay_pending,
    a_job_leaves_the_index_with_its_last_event,
    a_running_job_stays_on_the_index,
    a_deleted_job_is_removed_after_its_events_are_listed,
    many_events_are_moved_in_several_transactions,
    an_ended_job_leaves_the_index_after_its_last_event,
    events_of_a_job_that_was_reopened_stay_pending,
    events_are_listed_in_the_order_of_their_moves,
    a_position_behind_the_list_has_no_events,
    a_deleted_job_has_events_without_its_metadata,
    each_outage_has_one_event_of_a_job_that_waits,
    a_tenant_lists_its_own_events,
}

async fn a_change_of_the_status_is_a_pending_event(store: impl Store) {
    let id = accepted(&store).await.job_id;
    let begun = job_after(store.begin(id, 0, at(1)).await.unwrap());
    assert_eq!(begun.pending_events, [PendingEvent::started(0, at(1))].into());
    let ended = job_after(store.finish(id, &finish(Status::Failed, 2)).await.unwrap());
    let counts = Some(Counts { succeeded: 7, failed: 2, skipped: 1 });
    let failed = PendingEvent { generation: 0, event_type: EventType::Failed, at: at(2), counts };
    assert_eq!(ended.pending_events, [PendingEvent::started(0, at(1)), failed].into());
    let reopen =
        Reopen { generation: 0, at: at(3), deadline_at: at(99), selection: Selection::All, registration: None };
    let reopened = reopened_job(store.reopen(&ended, &reopen).await.unwrap());
    assert_eq!(reopened.pending_events, ended.pending_events, "a retry keeps events of earlier generations");
    assert_eq!(store.job(id).await.unwrap(), Some(reopened));
}

async fn list(store: &impl Store, tenant: &TenantId) -> Vec<ListedEvent> {
    let query = EventsQuery { tenant, after: None, before: at(1_000_000), limit: 100 };
    store.events(&query).await.unwrap()
}

async fn ended(store: &impl Store) -> Job {
    let id = accepted(store).await.job_id;
    job_after(store.begin(id, 0, at(1)).await.unwrap());
    job_after(store.finish(id, &finish(Status::Completed, 2)).await.unwrap())
}

async fn a_moved_event_is_listed_once(store: impl Store) {
    let job = ended(&store).await;
    assert_eq!(store.move_events(&job, &[], at(5)).await.unwrap(), EventsMoved::Moved);
    assert_eq!(store.move_events(&job, &[], at(6)).await.unwrap(), EventsMoved::Changed);
    let stored = store.job(job.job_id).await.unwrap().unwrap();
    assert_eq!(stored, Job { pending_events: [].into(), ..job.clone() }, "nothing that a client sees has changed");
    assert_eq!(store.move_events(&stored, &[], at(7)).await.unwrap(), EventsMoved::Moved, "there is nothing to move");
    let listed = list(&store, &job.tenant).await;
    assert_eq!(listed.iter().map(|event| event.position.moved_at).collect::<Vec<_>>(), [at(5), at(5)]);
    let ids = ["started", "completed"].map(|status| format!("{}-0-{status}", job.job_id));
    assert_eq!(listed.iter().map(|event| event.event.id.clone()).collect::<Vec<_>>(), ids);
    assert!(listed.iter().all(|listed| listed.position.id == listed.event.id));
    let completed = listed[1].event.job().unwrap();
    assert_eq!((completed.job_type.as_str(), &completed.metadata), ("import", &job.metadata));
    assert_eq!(Some(completed.change), job.pending_events.last().copied());
}

async fn events_of_a_job_that_has_changed_stay_pending(store: impl Store) {
    let id = accepted(&store).await.job_id;
    let begun = job_after(store.begin(id, 0, at(1)).await.unwrap());
    let ended = job_after(store.finish(id, &finish(Status::Completed, 2)).await.unwrap());
    assert_eq!(store.move_events(&begun, &[], at(3)).await.unwrap(), EventsMoved::Changed, "another event is pending");
    job_after(store.delete(id, at(4)).await.unwrap());
    assert_eq!(store.move_events(&ended, &[], at(5)).await.unwrap(), EventsMoved::Changed, "it was deleted");
    assert_eq!(store.job(id).await.unwrap().unwrap().pending_events, ended.pending_events);
    assert_eq!(list(&store, &ended.tenant).await, []);
    assert_eq!(store.move_events(&waiting_job(), &[], at(5)).await.unwrap(), EventsMoved::Moved, "it has no event");
    assert_eq!(
        store.move_events(&Job { job_id: waiting_job().job_id, ..ended }, &[], at(5)).await.unwrap(),
        EventsMoved::Changed
    );
}

async fn a_job_leaves_the_index_with_its_last_event(store: impl Store) {
    let job = ended(&store).await;
    assert_eq!(unfinished(&store).await, [job.job_id]);
    assert_eq!(store.move_events(&job, &[], at(5)).await.unwrap(), EventsMoved::Moved);
    assert_eq!(unfinished(&store).await, []);
}

async fn a_running_job_stays_on_the_index(store: impl Store) {
    let id = accepted(&store).await.job_id;
    let begun = job_after(store.begin(id, 0, at(1)).await.unwrap());
    assert_eq!(store.move_events(&begun, &[], at(5)).await.unwrap(), EventsMoved::Moved);
    assert_eq!(unfinished(&store).await, [id]);
    assert_eq!(list(&store, &begun.tenant).await.len(), 1);
}

async fn a_deleted_job_is_removed_after_its_events_are_listed(store: impl Store + Removal) {
    let job = ended(&store).await;
    let deleted = job_after(store.delete(job.job_id, at(3)).await.unwrap());
    store.remove(job.job_id).await.unwrap();
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(deleted.clone()));
    assert_eq!(store.move_events(&deleted, &[], at(5)).await.unwrap(), EventsMoved::Moved);
    assert_eq!(unfinished(&store).await, [job.job_id], "it is to be removed");
    store.remove(job.job_id).await.unwrap();
    assert_eq!(store.job(job.job_id).await.unwrap(), None);
    assert_eq!(list(&store, &job.tenant).await.len(), 2, "its events stay");
}

async fn many_events_are_moved_in_several_transactions(store: impl Store) {
    let count = u32::try_from(MAX_MOVED).unwrap() + 1;
    let mut job = waiting_job();
    job.pending_events = (0..count).map(|generation| PendingEvent::started(generation, at(0))).collect();
    store.create_job(&job, &definition(), None).await.unwrap();
    for (time, left) in [(1, 1), (2, 0)] {
        let read = store.job(job.job_id).await.unwrap().unwrap();
        assert_eq!(store.move_events(&read, &[], at(time)).await.unwrap(), EventsMoved::Moved);
        assert_eq!(store.job(job.job_id).await.unwrap().unwrap().pending_events.len(), left);
    }
    let listed = list(&store, &job.tenant).await;
    let mut generations: Vec<_> = listed.iter().map(|listed| listed.event.job().unwrap().change.generation).collect();
    generations.sort_unstable();
    assert_eq!(generations, (0..count).collect::<Vec<_>>());
}

async fn an_ended_job_leaves_the_index_after_its_last_event(store: impl Store) {
    let count = u32::try_from(MAX_MOVED).unwrap() + 1;
    let mut job = Job { status: Status::Completed, stage: Stage::Done, ..waiting_job() };
    job.pending_events = (0..count).map(|generation| PendingEvent::started(generation, at(0))).collect();
    store.create_job(&job, &definition(), None).await.unwrap();
    for (time, is_listed) in [(1, true), (2, false)] {
        let read = store.job(job.job_id).await.unwrap().unwrap();
        assert_eq!(store.move_events(&read, &[], at(time)).await.unwrap(), EventsMoved::Moved);
        assert_eq!(unfinished(&store).await.contains(&job.job_id), is_listed);
    }
}

/// Otherwise the move would remove a job from the index that waits for its split.
async fn events_of_a_job_that_was_reopened_stay_pending(store: impl Store) {
    let job = ended(&store).await;
    let (deadline_at, registration) = (at(99), None);
    let reopen = Reopen { generation: 0, at: at(3), deadline_at, selection: Selection::All, registration };
    let reopened = reopened_job(store.reopen(&job, &reopen).await.unwrap());
    assert_eq!(reopened.pending_events, job.pending_events);
    assert_eq!(store.move_events(&job, &[], at(5)).await.unwrap(), EventsMoved::Changed);
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(reopened.clone()));
    assert_eq!(store.move_events(&reopened, &[], at(6)).await.unwrap(), EventsMoved::Moved);
    assert_eq!(unfinished(&store).await, [job.job_id]);
}

/// A client's cursor can be ahead of the clock of the function that reads the list.
async fn a_position_behind_the_list_has_no_events(store: impl Store) {
    let job = ended(&store).await;
    assert_eq!(store.move_events(&job, &[], at(5)).await.unwrap(), EventsMoved::Moved);
    for (moved_at, before, expected) in [(4, 5, 0), (5, 5, 0), (9, 5, 0), (4, 6, 2), (5, 6, 1)] {
        let after = EventPosition { moved_at: at(moved_at), version: 1, id: format!("{}-0-started", job.job_id) };
        let query = EventsQuery { tenant: &job.tenant, after: Some(&after), before: at(before), limit: 9 };
        assert_eq!(store.events(&query).await.unwrap().len(), expected, "after {moved_at}, before {before}");
    }
}

async fn a_deleted_job_has_events_without_its_metadata(store: impl Store) {
    let job = ended(&store).await;
    let deleted = job_after(store.delete(job.job_id, at(3)).await.unwrap());
    assert_eq!(store.move_events(&deleted, &[], at(5)).await.unwrap(), EventsMoved::Moved);
    assert!(list(&store, &job.tenant).await.iter().all(|listed| listed.event.job().unwrap().metadata.is_empty()));
}

async fn each_outage_has_one_event_of_a_job_that_waits(store: impl Store) {
    let id = accepted(&store).await.job_id;
    assert_eq!(store.record_outage(id, 0, at(3)).await.unwrap(), Transition::Refused, "it was not started");
    let begun = job_after(store.begin(id, 0, at(1)).await.unwrap());
    let recorded = job_after(store.record_outage(id, 0, at(3)).await.unwrap());
    assert_eq!(recorded.pending_events, [PendingEvent::started(0, at(1)), PendingEvent::waiting(0, at(3))].into());
    assert!(recorded.is_unchanged_since(&begun), "a client sees no change of the job");
    assert_eq!(store.move_events(&recorded, &[], at(5)).await.unwrap(), EventsMoved::Moved);
    let again = job_after(store.record_outage(id, 0, at(3)).await.unwrap());
    assert_eq!(again.pending_events, [].into(), "the response was lost, and the event was moved");
    assert_eq!(store.record_outage(id, 0, at(2)).await.unwrap(), Transition::Refused, "an earlier outage");
    assert_eq!(store.record_outage(id, 1, at(9)).await.unwrap(), Transition::Refused, "another generation");
    let next = job_after(store.record_outage(id, 0, at(9)).await.unwrap());
    assert_eq!(next.pending_events, [PendingEvent::waiting(0, at(9))].into());
    job_after(store.finish(id, &finish(Status::Failed, 10)).await.unwrap());
    assert_eq!(store.record_outage(id, 0, at(11)).await.unwrap(), Transition::Refused, "it has ended");
    let listed = list(&store, &begun.tenant).await;
    let ids: Vec<_> = listed.iter().map(|listed| listed.event.id.clone()).collect();
    assert_eq!(ids, [format!("{id}-0-started"), format!("{id}-0-waiting-{}", at(3).0)]);
    assert_eq!(listed.iter().map(|listed| listed.event.version()).collect::<Vec<_>>(), [1, 1]);
}

async fn events_are_listed_in_the_order_of_their_moves(store: impl Store) {
    let mut expected = Vec::new();
    for time in [7, 3, 5, 9] {
        let id = accepted(&store).await.job_id;
        let begun = job_after(store.begin(id, 0, at(1)).await.unwrap());
        assert_eq!(store.move_events(&begun, &[], at(time)).await.unwrap(), EventsMoved::Moved);
        expected.push(EventPosition { moved_at: at(time), version: 1, id: format!("{id}-0-started") });
    }
    expected.sort();
    expected.pop();
    let tenant = waiting_job().tenant;
    for limit in [1, 2, 10] {
        let (mut positions, mut after): (Vec<EventPosition>, Option<EventPosition>) = (Vec::new(), None);
        loop {
            let query = EventsQuery { tenant: &tenant, after: after.as_ref(), before: at(9), limit };
            let page = store.events(&query).await.unwrap();
            assert!(page.len() <= limit);
            let Some(last) = page.last() else { break };
            after = Some(last.position.clone());
            positions.extend(page.into_iter().map(|listed| listed.position));
        }
        assert_eq!(positions, expected, "pages of {limit}");
    }
}

async fn a_tenant_lists_its_own_events(store: impl Store) {
    let job = ended(&store).await;
    assert_eq!(store.move_events(&job, &[], at(5)).await.unwrap(), EventsMoved::Moved);
    // A name that begins with that of another tenant.
    assert_eq!(list(&store, &TenantId::from_static("default2")).await, []);
    assert_eq!(list(&store, &TenantId::from_static("defaul")).await, []);
    assert_eq!(list(&store, &job.tenant).await.len(), 2);
}
