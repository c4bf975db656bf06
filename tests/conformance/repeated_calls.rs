//! Repeated calls: a request that a client repeats under one idempotency key, and a call that the SDK repeats because
//! its reply was lost. Nothing counts twice.
//!
//! Idempotency keys of jobs and uploads, keys of two kinds, and several requests under one key at once. One test for
//! all calls that were executed and whose replies were lost, because the fault proxy takes seconds to start.

use std::time::Duration;

use futures::future::join_all;
use longshore::store::dynamo::DynamoStore;
use longshore_domain::group::CommitOutcome;
use longshore_domain::ids::FileGuid;
use longshore_domain::job::{Job, Reopen, Selection, SourceFile, Status, Validation};
use longshore_domain::ports::{
    Created, IdempotencyKey, JobStore, JobTransitions, Ledger, QuotaExceeded, Removal, Started, Store, TenantLimits,
    Upload, UploadRelease,
};
use longshore_domain::tenant::TenantId;
use longshore_tests::harness::faults::Faults;
use longshore_tests::harness::setup::aws;
use serde_json::json;

use crate::fixtures::{
    at, commit, cursor, definition, finish, job_after, plan, reopened_job, split, stop, waiting_job,
};
use crate::on_both::Local;

on_both_stores! {
    an_idempotency_key_is_valid_for_one_request,
    an_expired_idempotency_key_can_be_used_again,
    a_key_creates_one_upload,
    keys_of_jobs_and_of_uploads_are_separate,
    concurrent_jobs_under_one_key_create_one_job,
    concurrent_uploads_under_one_key_create_one_upload,
    concurrent_different_requests_under_one_key_create_one_job,
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

fn upload() -> Upload {
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

#[tokio::test]
async fn a_call_with_a_lost_reply_counts_once() {
    let local = Local::start().await;
    local.store().await;
    let faults = Faults::start(&local.endpoint).unwrap();
    let store = DynamoStore::new(aws(&faults.endpoint).dynamodb(), local.name.clone());
    a_commit_whose_reply_is_lost_counts_once(&store, &faults).await;
    a_transition_whose_reply_is_lost_succeeds(&store, &faults).await;
    a_group_whose_reply_is_lost_is_stored_once(&store, &faults).await;
    a_job_whose_reply_is_lost_is_new(&store, &faults).await;
    a_retry_and_a_start_whose_replies_are_lost_happen_once(&store, &faults).await;
    a_job_and_an_upload_whose_replies_are_lost_count_once(&store, &faults).await;
    a_job_that_is_retried_during_its_removal_from_the_count_stays_counted(&store, &faults, &local).await;
    an_update_that_conflicts_with_a_transaction_is_retried(&store, &faults).await;
}

async fn a_commit_whose_reply_is_lost_counts_once(store: &DynamoStore, faults: &Faults) {
    let id = split(store, 1).await.job_id;
    faults.lose_replies("dynamodb", "UpdateItem", 2).unwrap();
    let answer = store.commit(id, 0, &commit(0, None, cursor("a1", 5), 4)).await.unwrap();
    let CommitOutcome::Committed(group) = answer else { panic!("unexpected outcome: {answer:?}") };
    assert_eq!(group.counts.done(), 5);
    assert_eq!(store.chunk_state(id, 0).await.unwrap().unwrap().group, *group);
}

async fn a_transition_whose_reply_is_lost_succeeds(store: &DynamoStore, faults: &Faults) {
    let job = waiting_job();
    let id = job.job_id;
    store.create_job(&job, &definition(), None).await.unwrap();
    let lose = || faults.lose_replies("dynamodb", "UpdateItem", 1).unwrap();
    lose();
    let job = job_after(store.begin(id, 0, at(1)).await.unwrap());
    job_after(store.commit_group(&job, &plan(0), at(2)).await.unwrap());
    lose();
    job_after(store.group_done(id, 0, at(3)).await.unwrap());
    lose();
    assert!(job_after(store.end_split(&job, 1, &[], at(4)).await.unwrap()).all_done());
    let job = store.job(id).await.unwrap().unwrap();
    lose();
    assert_eq!(job_after(store.count_resend(&job, at(5)).await.unwrap()).resends, 1);
    lose();
    job_after(store.stop(id, 0, &stop(6)).await.unwrap());
    lose();
    assert!(job_after(store.delete(id, at(6)).await.unwrap()).is_deleted());
    lose();
    assert!(!store.close(id, 0).await.unwrap().unwrap().open);
    lose();
    assert_eq!(job_after(store.finish(id, &finish(Status::Canceled, 7)).await.unwrap()).status, Status::Canceled);
}

async fn a_group_whose_reply_is_lost_is_stored_once(store: &DynamoStore, faults: &Faults) {
    let job = split(store, 1).await;
    faults.lose_replies("dynamodb", "TransactWriteItems", 1).unwrap();
    let job = job_after(store.commit_group(&job, &plan(1), at(9)).await.unwrap());
    assert_eq!((job.split.groups, job.split.item_count), (2, 40));
}

async fn a_job_whose_reply_is_lost_is_new(store: &DynamoStore, faults: &Faults) {
    let key = IdempotencyKey { key: "k".into(), request_hash: "h".into(), at: at(0) };
    for key in [None, Some(&key)] {
        let job = waiting_job();
        faults.lose_replies("dynamodb", "TransactWriteItems", 1).unwrap();
        assert_eq!(store.create_job(&job, &definition(), key).await.unwrap(), Created::New);
        assert_eq!(store.job(job.job_id).await.unwrap(), Some(job));
    }
}

async fn a_retry_and_a_start_whose_replies_are_lost_happen_once(store: &DynamoStore, faults: &Faults) {
    let mut checked =
        Job { validation: Validation { checks_only: true, ..waiting_job().validation.clone() }, ..waiting_job() };
    store.create_job(&checked, &definition(), None).await.unwrap();
    checked = job_after(store.finish(checked.job_id, &finish(Status::Completed, 9)).await.unwrap());
    let job = Job {
        validation: Validation { started_from: Some(checked.job_id), ..waiting_job().validation.clone() },
        ..waiting_job()
    };
    faults.lose_replies("dynamodb", "TransactWriteItems", 1).unwrap();
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::New);
    let upload = FileGuid::generate();
    let corrected = job.file().cloned().map(|source| SourceFile { key: format!("uploads/default/{upload}"), ..source });
    let selection = corrected.map_or(Selection::All, Selection::Corrected);
    let reopen = Reopen { generation: 0, at: at(10), deadline_at: at(99), selection, registration: None };
    faults.lose_replies("dynamodb", "TransactWriteItems", 1).unwrap();
    assert_eq!(reopened_job(store.reopen(&checked, &reopen).await.unwrap()).generation, 1);
    assert_eq!(
        store.release_upload(job.job_id, upload).await.unwrap(),
        UploadRelease::KeepFile,
        "the retry's use is recorded"
    );
}

/// The limit is one: a call that counted twice would be refused.
async fn a_job_and_an_upload_whose_replies_are_lost_count_once(store: &DynamoStore, faults: &Faults) {
    let store =
        store.clone().with_limits(TenantLimits { active_jobs: 1, upload_bytes_per_day: 7, ..TenantLimits::default() });
    let lose = || faults.lose_replies("dynamodb", "TransactWriteItems", 1).unwrap();
    let job = Job { tenant: TenantId::from_static("lossy"), ..waiting_job() };
    lose();
    assert_eq!(store.create_job(&job, &definition(), None).await.unwrap(), Created::New);
    let ended = job_after(store.finish(job.job_id, &finish(Status::Failed, 7)).await.unwrap());
    lose();
    let reopen =
        Reopen { generation: 0, at: at(50), deadline_at: at(99_000), selection: Selection::All, registration: None };
    assert_eq!(reopened_job(store.reopen(&ended, &reopen).await.unwrap()).generation, 1);
    let upload = Upload { tenant: TenantId::from_static("lossy"), ..upload() };
    for key in [None, Some(IdempotencyKey { key: "u".into(), request_hash: "h".into(), at: at(0) })] {
        let upload = Upload { promised_at: at(if key.is_some() { 86_400_000 } else { 0 }), ..upload.clone() };
        lose();
        let upload = Upload { file_guid: FileGuid::generate(), ..upload };
        assert_eq!(store.create_upload(&upload, key.as_ref()).await.unwrap(), Created::New);
        let more = Upload { file_guid: FileGuid::generate(), size_bytes: 1, ..upload };
        assert_eq!(store.create_upload(&more, None).await.unwrap(), Created::OverQuota(QuotaExceeded::DailyBytes(7)));
    }
}

/// The limit is one, and an ended job still counts: a create reads that, and is about to remove the job from
/// the count. Its write is delayed, and the job is retried meanwhile.
async fn a_job_that_is_retried_during_its_removal_from_the_count_stays_counted(
    store: &DynamoStore,
    faults: &Faults,
    local: &Local,
) {
    let limits = TenantLimits { active_jobs: 1, ..TenantLimits::default() };
    let slow = store.clone().with_limits(limits);
    let direct = DynamoStore::new(aws(&local.endpoint).dynamodb(), local.name.clone()).with_limits(limits);
    let first = Job { tenant: TenantId::from_static("held-up"), ..waiting_job() };
    assert_eq!(direct.create_job(&first, &definition(), None).await.unwrap(), Created::New);
    let ended = job_after(direct.finish(first.job_id, &finish(Status::Failed, 7)).await.unwrap());
    faults.set(&[]).unwrap();
    let delay = faults.add(&json!({ "service": "dynamodb", "operation": "UpdateItem", "times": 1, "latency": 3_000 }));
    let delay = delay.unwrap();
    let second = Job { tenant: TenantId::from_static("held-up"), ..waiting_job() };
    let definition = definition();
    let retry = async {
        while delay.fired().unwrap() == 0 {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        let reopen = Reopen {
            generation: 0,
            at: at(50),
            deadline_at: at(99_000),
            selection: Selection::All,
            registration: None,
        };
        reopened_job(direct.reopen(&ended, &reopen).await.unwrap())
    };
    let (created, retried) = tokio::join!(slow.create_job(&second, &definition, None), retry);
    assert_eq!((created.unwrap(), retried.generation), (Created::OverQuota(QuotaExceeded::ActiveJobs(1)), 1));
    faults.set(&[]).unwrap();
}

async fn an_update_that_conflicts_with_a_transaction_is_retried(store: &DynamoStore, faults: &Faults) {
    let id = split(store, 1).await.job_id;
    faults.refuse("dynamodb", "UpdateItem", 3, "TransactionConflictException").unwrap();
    assert_eq!(job_after(store.group_done(id, 0, at(9)).await.unwrap()).split.done_groups, [0].into());
}
