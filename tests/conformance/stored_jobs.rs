//! Complete uploads and jobs, and the list of all unfinished jobs by age.

use longshore_domain::event::PendingEvent;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Status, Stop, Transition};
use longshore_domain::parts::Multipart;
use longshore_domain::ports::{ByAge, Created, Detected, EventsMoved, Store, Upload};
use longshore_domain::records::Delimiter;
use longshore_domain::tenant::TenantId;
use serde_json::json;

use crate::fixtures::{accepted, at, definition, finish, job_after, reading, split, unfinished, waiting_job};

on_both_stores! {
    an_upload_is_read_as_it_was_stored,
    a_job_is_read_as_it_was_stored,
    an_absent_id_has_no_value,
    a_repeated_create_stores_one_job,
    columns_are_stored_once,
    unfinished_jobs_are_listed_oldest_first_until_they_end,
    unfinished_jobs_are_paged_from_either_end,
    scheduled_jobs_are_due_at_their_time,
}

async fn an_upload_is_read_as_it_was_stored(store: impl Store) {
    let upload = Upload {
        file_guid: FileGuid::generate(),
        tenant: TenantId::from_static("default"),
        key: "uploads/default/x".into(),
        file_name: "Größe \"1\".csv".into(),
        content_type: "text/csv".into(),
        size_bytes: 5 << 30,
        sha256: Some("ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=".into()),
        multipart: None,
        promised_at: at(0),
        expires_at: 1_800_000_000,
    };
    let plain = Upload { file_guid: FileGuid::generate(), sha256: None, ..upload.clone() };
    let multipart = Some(Multipart { id: "2~abc".into(), part_bytes: 26 << 20 });
    let in_parts = Upload { file_guid: FileGuid::generate(), multipart, ..plain.clone() };
    for upload in [&upload, &upload, &plain, &in_parts] {
        assert_eq!(store.create_upload(upload, None).await.unwrap(), Created::New);
        assert_eq!(store.upload(upload.file_guid).await.unwrap(), Some(upload.clone()));
    }
}

async fn a_job_is_read_as_it_was_stored(store: impl Store) {
    let mut job = waiting_job();
    job.split.done_groups = [3, 1, 200].into();
    job.pending_events = [PendingEvent::started(0, at(7)), PendingEvent::started(1, at(8))].into();
    job.issues = vec![longshore_domain::job::JobError::new("unknown_column", "")];
    store.create_job(&job, &definition(), None).await.unwrap();
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(job.clone()));
    assert_eq!(store.definition(job.job_id).await.unwrap(), Some(definition()));
}

async fn an_absent_id_has_no_value(store: impl Store) {
    let id = JobId::generate();
    assert_eq!(store.upload(FileGuid::generate()).await.unwrap(), None);
    assert_eq!(store.job(id).await.unwrap(), None);
    assert_eq!(store.definition(id).await.unwrap(), None);
    assert_eq!(store.progress(id).await.unwrap(), None);
    assert_eq!(store.manifest(id, 0).await.unwrap(), None);
    assert_eq!(store.chunk_state(id, 0).await.unwrap(), None);
    store.put_columns(id, &["a".into()], None, None).await.unwrap();
    assert_eq!(store.definition(id).await.unwrap(), None);
}

async fn a_repeated_create_stores_one_job(store: impl Store) {
    let job = accepted(&store).await;
    job_after(store.begin(job.job_id, 0, at(1)).await.unwrap());
    assert_eq!(store.create_job(&job, &definition(), None).await.unwrap(), Created::New);
    assert_eq!(store.job(job.job_id).await.unwrap().unwrap().status, Status::Running);
}

async fn columns_are_stored_once(store: impl Store) {
    let job = accepted(&store).await;
    let first = Some(reading(Delimiter::Tab));
    let found = json!({ "notations": { "ü": { "decimalSeparator": "," } } });
    let detected = Detected { found: found.clone(), options: json!({ "rows": 3, "notations": {} }) };
    let other = Detected { found: json!({}), options: json!({ "rows": 4 }) };
    for (names, reading, detected) in [
        (["a", "ü"], first, Some(&detected)),
        (["c", "d"], Some(reading(Delimiter::Pipe)), Some(&other)),
        (["a", "ü"], None, None),
    ] {
        let names = names.map(str::to_owned);
        assert_eq!(store.put_columns(job.job_id, &names, reading, detected).await.unwrap(), first);
    }
    let stored = store.definition(job.job_id).await.unwrap().unwrap();
    assert_eq!((stored.columns, stored.reading), (Some(vec!["a".to_owned(), "ü".to_owned()]), first));
    assert_eq!((stored.options, stored.detected), (detected.options, Some(found)));
    let without = accepted(&store).await.job_id;
    for (reading, detected) in [(None, None), (first, Some(&other))] {
        assert_eq!(store.put_columns(without, &["a".into()], reading, detected).await.unwrap(), None);
    }
    let stored = store.definition(without).await.unwrap().unwrap();
    assert_eq!((stored.reading, stored.detected, stored.options), (None, None, definition().options));
}

async fn unfinished_jobs_are_listed_oldest_first_until_they_end(store: impl Store) {
    let mut jobs = [waiting_job(), waiting_job(), waiting_job()];
    for (job, age) in jobs.iter_mut().zip([20, 0, 10]) {
        job.times.created_at = at(age);
        store.create_job(job, &definition(), None).await.unwrap();
    }
    let [youngest, oldest, middle] = jobs.map(|job| job.job_id);
    assert_eq!(unfinished(&store).await, [oldest, middle, youngest]);
    job_after(store.begin(middle, 0, at(30)).await.unwrap());
    let ended = job_after(store.finish(oldest, &finish(Status::Canceled, 40)).await.unwrap());
    assert_eq!(unfinished(&store).await, [oldest, middle, youngest], "its event is pending");
    assert_eq!(store.move_events(&ended, &[], at(41)).await.unwrap(), EventsMoved::Moved);
    assert_eq!(unfinished(&store).await, [middle, youngest]);
    split(&store, 1).await;
    assert_eq!(unfinished(&store).await.len(), 3);
}

/// A job that starts this number of seconds later.
async fn scheduled(store: &impl Store, start_s: i64) -> JobId {
    let mut job = waiting_job();
    (job.is_scheduled, job.times.start_at) = (true, Some(at(start_s)));
    store.create_job(&job, &definition(), None).await.unwrap();
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(job.clone()));
    job.job_id
}

async fn scheduled_jobs_are_due_at_their_time(store: impl Store) {
    let [late, early, canceled, deleted] = [
        scheduled(&store, 30).await,
        scheduled(&store, 10).await,
        scheduled(&store, 5).await,
        scheduled(&store, 6).await,
    ];
    assert_eq!(unfinished(&store).await, []);
    assert_eq!(store.due_jobs(at(5), 9).await.unwrap(), []);
    assert_eq!(store.due_jobs(at(31), 9).await.unwrap(), [canceled, deleted, early, late]);
    assert_eq!(store.due_jobs(at(31), 2).await.unwrap(), [canceled, deleted]);
    assert_eq!(store.begin(early, 0, at(11)).await.unwrap(), Transition::Refused);
    job_after(store.stop(canceled, 0, &Stop::canceled(at(7))).await.unwrap());
    job_after(store.delete(deleted, at(8)).await.unwrap());
    let of_store = &store;
    let read = |id| async move { of_store.job(id).await.unwrap().unwrap() };
    for id in [canceled, deleted] {
        assert_eq!(store.enqueue(&read(id).await, at(11)).await.unwrap(), Transition::Refused);
    }
    let scheduled = read(early).await;
    let enqueued = job_after(store.enqueue(&scheduled, at(11)).await.unwrap());
    assert_eq!((enqueued.is_scheduled, enqueued.times.deadline_at), (false, scheduled.times.deadline_from(at(11))));
    assert_eq!(job_after(store.enqueue(&scheduled, at(11)).await.unwrap()), enqueued, "the response was lost");
    assert_eq!(store.enqueue(&scheduled, at(12)).await.unwrap(), Transition::Refused);
    assert_eq!(store.due_jobs(at(31), 9).await.unwrap(), [late]);
    assert_eq!(unfinished(&store).await.len(), 3);
    job_after(store.begin(early, 0, at(13)).await.unwrap());
}

async fn unfinished_jobs_are_paged_from_either_end(store: impl Store) {
    let mut expected = Vec::new();
    for age in 0..120 {
        let mut job = waiting_job();
        job.times.created_at = at(age);
        store.create_job(&job, &definition(), None).await.unwrap();
        expected.push(job.job_id);
    }
    for order in [ByAge::OldestFirst, ByAge::NewestFirst] {
        let (mut ids, mut after) = (Vec::new(), None);
        loop {
            let page = store.unfinished(after, order).await.unwrap();
            let Some(last) = page.last() else { break };
            after = Some(*last);
            ids.extend(page.iter().map(|position| position.job_id));
        }
        assert_eq!(ids, expected, "{order:?}");
        expected.reverse();
    }
}
