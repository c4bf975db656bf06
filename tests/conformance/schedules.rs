//! Schedules of a tenant, and occurrences: changed as they were read, found when they are due, and fired once.

use longshore_domain::ids::{JobId, ScheduleId};
use longshore_domain::ports::{
    ConditionalWrite, Definition, FireWrite, Firing, OccurrencesQuery, QuotaExceeded, Store, TenantLimits,
};
use longshore_domain::schedule::{JobTemplate, Occurrence, OccurrenceResult, Overlap, Schedule, SkipReason, Timing};
use longshore_domain::tenant::TenantId;
use serde_json::json;

use crate::fixtures::{accepted, at, waiting_job};
use crate::tenant_limits::Limited;

on_both_stores! {
    a_place_has_one_schedule,
    a_schedule_is_changed_and_deleted_as_it_was_read,
    due_schedules_are_listed_by_time,
    an_occurrence_is_fired_once_with_its_job,
    an_occurrence_without_room_for_its_job_writes_nothing,
    occurrences_are_listed_newest_first,
}

fn schedule(tenant: &'static str, place: u8) -> Schedule {
    Schedule {
        schedule_id: ScheduleId::generate(),
        tenant: TenantId::from_static(tenant),
        place,
        name: "nightly".into(),
        timing: Timing::Every { minutes: 5, from: at(0) },
        overlap: Overlap::Skip,
        paused: false,
        job: JobTemplate::new("ping", json!({ "jobType": "ping" })),
        next_at: Some(at(10)),
        last_at: None,
        last_job: None,
        created_at: at(i64::from(place)),
        revision: 0,
    }
}

async fn stored(store: &impl Store, tenant: &'static str, place: u8) -> Schedule {
    let schedule = schedule(tenant, place);
    assert_eq!(store.put_schedule(&schedule, None).await.unwrap(), ConditionalWrite::Stored);
    schedule
}

async fn a_place_has_one_schedule(store: impl Store) {
    let [second, first] = [stored(&store, "t", 1).await, stored(&store, "t", 0).await];
    assert_eq!(store.put_schedule(&second, None).await.unwrap(), ConditionalWrite::Stored, "the response was lost");
    assert_eq!(store.put_schedule(&schedule("t", 1), None).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.put_schedule(&schedule("t2", 1), None).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.schedule(&first.key()).await.unwrap().as_ref(), Some(&first));
    assert_eq!(store.schedules(&first.tenant.clone()).await.unwrap(), [first, second], "oldest first");
}

async fn a_schedule_is_changed_and_deleted_as_it_was_read(store: impl Store) {
    let read = stored(&store, "t", 0).await;
    let [one, other] = ["one", "other"].map(|name| read.clone().changed(|schedule| schedule.name = name.into()));
    assert_eq!(store.put_schedule(&one, Some(&read)).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.put_schedule(&one, Some(&read)).await.unwrap(), ConditionalWrite::Stored, "the response was lost");
    assert_eq!(store.put_schedule(&other, Some(&read)).await.unwrap(), ConditionalWrite::Changed);
    let replaced = Schedule { schedule_id: ScheduleId::generate(), ..one.clone() };
    assert_eq!(store.delete_schedule(&replaced).await.unwrap(), ConditionalWrite::Changed, "another one of the place");
    assert_eq!(store.delete_schedule(&read).await.unwrap(), ConditionalWrite::Changed);
    assert_eq!(store.delete_schedule(&one).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.schedules(&read.tenant).await.unwrap(), []);
}

async fn due_schedules_are_listed_by_time(store: impl Store) {
    let late = stored(&store, "t", 0).await;
    let early = Schedule { next_at: Some(at(4)), ..schedule("other", 3) };
    assert_eq!(store.put_schedule(&early, None).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.due_schedules(at(10), 5).await.unwrap(), [early.key()]);
    assert_eq!(store.due_schedules(at(11), 5).await.unwrap(), [early.key(), late.key()]);
    assert_eq!(store.due_schedules(at(11), 1).await.unwrap(), [early.key()]);
    let paused = early.clone().changed(|schedule| schedule.paused = true);
    assert_eq!(store.put_schedule(&paused, Some(&early)).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.due_schedules(at(11), 5).await.unwrap(), [late.key()]);
}

/// An occurrence of a schedule with this result, and the schedule after it.
fn occurrence(read: &Schedule, result: OccurrenceResult) -> (Schedule, Occurrence) {
    let fired = read.fired(&result, read.next_at.map(|next_at| next_at.plus_seconds(300)));
    let occurrence = Occurrence { scheduled_at: at(10), revision: fired.revision, at: at(11), result };
    (fired, occurrence)
}

async fn an_occurrence_is_fired_once_with_its_job(store: impl Store) {
    let read = stored(&store, "default", 0).await;
    let job = longshore_domain::job::Job { job_id: JobId::generate(), ..waiting_job() };
    let definition = Definition::new(json!({}));
    let (fired, made) = occurrence(&read, OccurrenceResult::Started { job_id: job.job_id });
    let firing = Firing { read: &read, fired: &fired, occurrence: &made, job: Some((&job, &definition)) };
    assert_eq!(store.fire(&firing).await.unwrap(), FireWrite::Recorded);
    assert_eq!(store.fire(&firing).await.unwrap(), FireWrite::Recorded, "the response was lost");
    let (other, skipped) = occurrence(&read, OccurrenceResult::Skipped { reason: SkipReason::Overlap });
    let second = Firing { read: &read, fired: &other, occurrence: &skipped, job: None };
    assert_eq!(store.fire(&second).await.unwrap(), FireWrite::Changed, "two sweepers");
    assert_eq!(store.schedule(&read.key()).await.unwrap(), Some(fired.clone()));
    assert_eq!(store.job(job.job_id).await.unwrap().map(|job| job.job_id), Some(job.job_id));
    let query = OccurrencesQuery { tenant: &read.tenant, schedule_id: read.schedule_id, before: None, limit: 10 };
    assert_eq!(store.occurrences(&query).await.unwrap(), [made]);
    assert_eq!(store.due_schedules(at(11), 5).await.unwrap(), [], "it waits for its next time");
    assert_eq!(store.delete_schedule(&fired).await.unwrap(), ConditionalWrite::Stored);
    assert_eq!(store.fire(&second).await.unwrap(), FireWrite::Changed, "it is deleted");
}

async fn an_occurrence_without_room_for_its_job_writes_nothing(store: impl Limited) {
    let store = store.limited(TenantLimits { active_jobs: 1, ..TenantLimits::default() });
    accepted(&store).await;
    let read = stored(&store, "default", 0).await;
    let (job, definition) = (waiting_job(), Definition::new(json!({})));
    let (fired, made) = occurrence(&read, OccurrenceResult::Started { job_id: job.job_id });
    let firing = Firing { read: &read, fired: &fired, occurrence: &made, job: Some((&job, &definition)) };
    assert_eq!(store.fire(&firing).await.unwrap(), FireWrite::OverQuota(QuotaExceeded::ActiveJobs(1)));
    assert_eq!(store.schedule(&read.key()).await.unwrap(), Some(read));
    assert_eq!(store.job(job.job_id).await.unwrap(), None);
}

async fn occurrences_are_listed_newest_first(store: impl Store) {
    let mut read = stored(&store, "t", 0).await;
    let mut made = Vec::new();
    for _ in 0..3 {
        let (fired, occurrence) = occurrence(&read, OccurrenceResult::Skipped { reason: SkipReason::TooLate });
        let firing = Firing { read: &read, fired: &fired, occurrence: &occurrence, job: None };
        assert_eq!(store.fire(&firing).await.unwrap(), FireWrite::Recorded);
        made.insert(0, occurrence);
        read = fired;
    }
    let list = async |before, limit| {
        let query = OccurrencesQuery { tenant: &read.tenant, schedule_id: read.schedule_id, before, limit };
        store.occurrences(&query).await.unwrap()
    };
    assert_eq!(list(None, 10).await, made);
    assert_eq!(list(None, 2).await, made[..2]);
    assert_eq!(list(Some(&made[1].id()), 2).await, made[2..]);
}
