//! Complete uploads and jobs.

use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::Status;
use longshore_domain::parts::Multipart;
use longshore_domain::ports::{ByAge, Created, IdempotencyKey, Store, Upload};
use longshore_domain::tenant::TenantId;

use crate::fixtures::{accepted, at, definition, finish, job_after, split, unfinished, waiting_job};

on_both_stores! {
    an_upload_is_read_as_it_was_stored,
    a_job_is_read_as_it_was_stored,
    an_absent_id_has_no_value,
    a_repeated_create_stores_one_job,
    an_idempotency_key_is_valid_for_one_request,
    an_expired_idempotency_key_can_be_used_again,
    columns_are_stored_once,
    unfinished_jobs_are_listed_oldest_first_until_they_end,
    unfinished_jobs_are_paged_from_either_end,
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
    store.put_columns(id, &["a".into()]).await.unwrap();
    assert_eq!(store.definition(id).await.unwrap(), None);
}

async fn a_repeated_create_stores_one_job(store: impl Store) {
    let job = accepted(&store).await;
    job_after(store.begin(job.job_id, at(1)).await.unwrap());
    assert_eq!(store.create_job(&job, &definition(), None).await.unwrap(), Created::New);
    assert_eq!(store.job(job.job_id).await.unwrap().unwrap().status, Status::Running);
}

/// A client's idempotency key with the hash of its request.
pub(crate) fn key(key: &str, request_hash: &str) -> IdempotencyKey {
    IdempotencyKey { key: key.into(), request_hash: request_hash.into(), at: at(0) }
}

async fn an_idempotency_key_is_valid_for_one_request(store: impl Store) {
    let (first, second) = (waiting_job(), waiting_job());
    let create = async |job, key| store.create_job(job, &definition(), Some(&key)).await.unwrap();
    assert_eq!(create(&first, key("k", "h")).await, Created::New);
    assert_eq!(create(&first, key("k", "h")).await, Created::New);
    assert_eq!(create(&second, key("k", "h")).await, Created::Replayed(first.job_id));
    assert_eq!(create(&second, key("k", "other")).await, Created::KeyReused);
    assert_eq!(store.job(second.job_id).await.unwrap(), None);
    assert_eq!(create(&second, key("k2", "h")).await, Created::New);
    let mut elsewhere = waiting_job();
    elsewhere.tenant = TenantId::from_static("another");
    assert_eq!(create(&elsewhere, key("k", "h")).await, Created::New);
}

async fn an_expired_idempotency_key_can_be_used_again(store: impl Store) {
    let first = waiting_job();
    let key = key("k", "h");
    store.create_job(&first, &definition(), Some(&key)).await.unwrap();
    let (later, third) = (waiting_job(), waiting_job());
    let after = |seconds| IdempotencyKey { at: at(0).plus_seconds(seconds), ..key.clone() };
    let create = async |job, seconds| store.create_job(job, &definition(), Some(&after(seconds))).await.unwrap();
    assert_eq!(create(&later, 86_400).await, Created::Replayed(first.job_id), "a day later");
    assert_eq!(create(&later, 86_401).await, Created::New, "a second after that");
    assert_eq!(create(&third, 86_402).await, Created::Replayed(later.job_id));
}

async fn columns_are_stored_once(store: impl Store) {
    let job = accepted(&store).await;
    for names in [["a", "ü"], ["c", "d"]] {
        store.put_columns(job.job_id, &names.map(str::to_owned)).await.unwrap();
    }
    let stored = store.definition(job.job_id).await.unwrap().unwrap();
    assert_eq!(stored.columns, Some(vec!["a".to_owned(), "ü".to_owned()]));
    assert_eq!(stored.options, definition().options);
}

async fn unfinished_jobs_are_listed_oldest_first_until_they_end(store: impl Store) {
    let mut jobs = [waiting_job(), waiting_job(), waiting_job()];
    for (job, age) in jobs.iter_mut().zip([20, 0, 10]) {
        job.times.created_at = at(age);
        store.create_job(job, &definition(), None).await.unwrap();
    }
    let [youngest, oldest, middle] = jobs.map(|job| job.job_id);
    assert_eq!(unfinished(&store).await, [oldest, middle, youngest]);
    job_after(store.begin(middle, at(30)).await.unwrap());
    job_after(store.finish(oldest, &finish(Status::Canceled, 40)).await.unwrap());
    assert_eq!(unfinished(&store).await, [middle, youngest]);
    split(&store, 1).await;
    assert_eq!(unfinished(&store).await.len(), 3);
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
