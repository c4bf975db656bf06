//! Idempotency keys of uploads, keys of two kinds, and several requests under one key at once.

use futures::future::join_all;
use longshore_domain::ids::FileGuid;
use longshore_domain::ports::{Created, Store, Upload};
use longshore_domain::tenant::TenantId;

use crate::fixtures::{at, definition, waiting_job};
use crate::stored_jobs::key;

on_both_stores! {
    a_key_creates_one_upload,
    keys_of_jobs_and_of_uploads_are_separate,
    concurrent_jobs_under_one_key_create_one_job,
    concurrent_uploads_under_one_key_create_one_upload,
    concurrent_different_requests_under_one_key_create_one_job,
}

pub(crate) fn upload() -> Upload {
    let file_guid = FileGuid::generate();
    Upload {
        file_guid,
        tenant: TenantId::from_static("default"),
        key: format!("uploads/default/{file_guid}"),
        file_name: "people.csv".into(),
        content_type: "text/csv".into(),
        size_bytes: 7,
        sha256: None,
        multipart: None,
        promised_at: at(0),
        expires_at: 1_800_000_000,
    }
}

async fn a_key_creates_one_upload(store: impl Store) {
    let (first, second) = (upload(), upload());
    let create = async |upload: &Upload, hash: &str| store.create_upload(upload, Some(&key("k", hash))).await.unwrap();
    assert_eq!(create(&first, "h").await, Created::New);
    assert_eq!(create(&first, "h").await, Created::New, "a repeated call");
    assert_eq!(create(&second, "h").await, Created::Replayed(first.file_guid));
    assert_eq!(create(&second, "other").await, Created::KeyReused);
    assert_eq!(store.upload(second.file_guid).await.unwrap(), None);
    let elsewhere = Upload { tenant: TenantId::from_static("another"), ..upload() };
    assert_eq!(create(&elsewhere, "h").await, Created::New);
}

async fn keys_of_jobs_and_of_uploads_are_separate(store: impl Store) {
    let (upload, job, key) = (upload(), waiting_job(), key("k", "h"));
    assert_eq!(store.create_upload(&upload, Some(&key)).await.unwrap(), Created::New);
    assert_eq!(store.create_job(&job, &definition(), Some(&key)).await.unwrap(), Created::New);
}

async fn concurrent_jobs_under_one_key_create_one_job(store: impl Store) {
    let jobs: Vec<_> = std::iter::repeat_with(waiting_job).take(8).collect();
    let (key, definition) = (key("k", "h"), definition());
    let answer = join_all(jobs.iter().map(|job| store.create_job(job, &definition, Some(&key)))).await;
    let created: Vec<_> = jobs.iter().zip(&answer).filter(|(_, answer)| matches!(answer, Ok(Created::New))).collect();
    let [(created, _)] = created[..] else { panic!("{answer:?}") };
    let others = answer.iter().filter(|answer| matches!(answer, Ok(Created::Replayed(id)) if *id == created.job_id));
    assert_eq!(others.count(), 7, "{answer:?}");
    for job in &jobs {
        assert_eq!(store.job(job.job_id).await.unwrap().is_some(), job.job_id == created.job_id);
    }
}

async fn concurrent_uploads_under_one_key_create_one_upload(store: impl Store) {
    let uploads: Vec<_> = std::iter::repeat_with(upload).take(8).collect();
    let key = key("k", "h");
    let answer = join_all(uploads.iter().map(|upload| store.create_upload(upload, Some(&key)))).await;
    let created: Vec<_> =
        uploads.iter().zip(&answer).filter(|(_, answer)| matches!(answer, Ok(Created::New))).collect();
    let [(created, _)] = created[..] else { panic!("{answer:?}") };
    let others = answer.iter().filter(|answer| matches!(answer, Ok(Created::Replayed(id)) if *id == created.file_guid));
    assert_eq!(others.count(), 7, "{answer:?}");
}

async fn concurrent_different_requests_under_one_key_create_one_job(store: impl Store) {
    let (one, other) = (waiting_job(), waiting_job());
    let (key_one, key_other, definition) = (key("k", "one"), key("k", "other"), definition());
    let answer = tokio::join!(
        store.create_job(&one, &definition, Some(&key_one)),
        store.create_job(&other, &definition, Some(&key_other)),
    );
    let answer = [answer.0.unwrap(), answer.1.unwrap()];
    assert!(answer.contains(&Created::New) && answer.contains(&Created::KeyReused), "{answer:?}");
}
