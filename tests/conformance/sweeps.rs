//! The sweeper's store: its position, the delivery records of workers, and the removal of deleted jobs.
//!
//! A deleted job is hidden immediately, visible to the sweeper until it is removed, and then gone with all its data.

use longshore_domain::deliveries::{Deliveries, INTERVAL_S, INTERVALS};
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{ChunkQueue, Job, JobTimes, Priority, Reopen, Selection, Source, Status, Transition};
use longshore_domain::ports::{
    Created, DeliveryRecord, DeliveryRecords, IdempotencyKey, JobPosition, JobProgress, Removal, Reopened, Store,
    Sweeps, Upload, UploadRelease,
};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;

use crate::fixtures::{accepted, at, definition, end, finish, job_after, plan, split, stop, unfinished, waiting_job};

on_both_stores! {
    a_sweep_continues_at_the_stored_position,
    the_sweep_position_is_not_listed_as_a_job,
    each_interval_keeps_the_newest_message_of_a_tenant_and_queue,
    interval_records_are_reused,
    a_job_is_deleted_once,
    a_deleted_job_is_listed_until_it_is_removed,
    only_a_deleted_job_that_has_ended_is_removed,
    only_the_key_of_a_removed_job_stays,
    an_upload_is_removed_with_its_last_job,
}

async fn a_sweep_continues_at_the_stored_position(store: impl Sweeps) {
    let position = |millis| JobPosition { created_at: at(millis), job_id: JobId::generate() };
    assert_eq!(store.sweep_position().await.unwrap(), None);
    for position in [Some(position(5)), Some(position(3)), None, None, Some(position(9))] {
        store.set_sweep_position(position).await.unwrap();
        assert_eq!(store.sweep_position().await.unwrap(), position);
    }
}

async fn the_sweep_position_is_not_listed_as_a_job(store: impl Store + Sweeps) {
    store.set_sweep_position(Some(JobPosition { created_at: at(1), job_id: JobId::generate() })).await.unwrap();
    assert_eq!(unfinished(&store).await, []);
}

const LOW: ChunkQueue = ChunkQueue::Priority(Priority::Low);

fn later(seconds: i64) -> Timestamp {
    at(0).plus_seconds(seconds)
}

async fn record_delivery(store: &impl DeliveryRecords, tenant: &TenantId, sent_s: i64, at_s: i64) {
    let delivery = DeliveryRecord { tenant, queue: LOW, sent_at: later(sent_s), at: later(at_s) };
    store.record_delivery(&delivery).await.unwrap();
}

async fn each_interval_keeps_the_newest_message_of_a_tenant_and_queue(store: impl DeliveryRecords) {
    let [a, b] = ["a", "b"].map(TenantId::from_static);
    for (sent_s, at_s) in [(50, 100), (40, 101), (50, 100), (20, 101 + INTERVAL_S)] {
        record_delivery(&store, &a, sent_s, at_s).await;
    }
    record_delivery(&store, &b, 99, 100).await;
    let mut expected = Deliveries::default();
    expected.record(later(50), later(100));
    expected.record(later(20), later(101 + INTERVAL_S));
    assert_eq!(store.deliveries(&a, LOW).await.unwrap(), expected);
    assert_eq!(store.deliveries(&a, ChunkQueue::Handler).await.unwrap(), Deliveries::default());
    assert_eq!(store.deliveries(&b, LOW).await.unwrap().newest_by(later(1_000)), Some(later(99)));
}

async fn interval_records_are_reused(store: impl DeliveryRecords) {
    let a = TenantId::from_static("a");
    let mut expected = Deliveries::default();
    for interval in 0..INTERVALS + 3 {
        record_delivery(&store, &a, 1_000 - interval, interval * INTERVAL_S).await;
        expected.record(later(1_000 - interval), later(interval * INTERVAL_S));
    }
    // A worker whose clock is far behind.
    record_delivery(&store, &a, 5_000, 0).await;
    assert_eq!(store.deliveries(&a, LOW).await.unwrap(), expected);
}

async fn a_job_is_deleted_once(store: impl Store + Removal) {
    let before = accepted(&store).await;
    let job = job_after(store.delete(before.job_id, at(5)).await.unwrap());
    assert_eq!(
        job,
        Job { times: JobTimes { deleted_at: Some(at(5)), updated_at: at(5), ..before.times.clone() }, ..before }
    );
    assert_eq!(store.job(job.job_id).await.unwrap().as_ref(), Some(&job));
    assert_eq!(job_after(store.delete(job.job_id, at(5)).await.unwrap()), job, "a repeated call returns the same job");
    assert_eq!(store.delete(job.job_id, at(6)).await.unwrap(), Transition::Refused);
    assert_eq!(store.delete(JobId::generate(), at(6)).await.unwrap(), Transition::Refused);
}

/// Covers jobs that are deleted before their end, after it, and never.
async fn a_deleted_job_is_listed_until_it_is_removed(store: impl Store + Removal) {
    let [early, late, kept] =
        [split(&store, 1).await, split(&store, 1).await, split(&store, 1).await].map(|job| job.job_id);
    job_after(store.delete(early, at(10)).await.unwrap());
    job_after(store.stop(early, 0, &stop(11)).await.unwrap());
    for id in [early, late, kept] {
        let ended = end(&store, id, &finish(Status::Canceled, 12)).await;
        assert_eq!(ended.status, Status::Canceled);
        assert_eq!(store.finish(id, &finish(Status::Failed, 13)).await.unwrap(), Transition::Refused);
    }
    assert_eq!(unfinished(&store).await, [early]);
    let deleted = job_after(store.delete(late, at(20)).await.unwrap());
    let reopen =
        Reopen { generation: 0, at: at(21), deadline_at: at(99), selection: Selection::All, registration: None };
    assert_eq!(store.reopen(&deleted, &reopen).await.unwrap(), Reopened::Refused);
    // The job as read before it was deleted.
    let before = Job { times: JobTimes { deleted_at: None, ..deleted.times.clone() }, ..deleted };
    assert_eq!(store.reopen(&before, &reopen).await.unwrap(), Reopened::Refused);
    let mut listed = unfinished(&store).await;
    listed.sort();
    assert_eq!(listed, [early, late]);
    for id in listed {
        store.remove(id).await.unwrap();
    }
    assert_eq!(unfinished(&store).await, []);
}

async fn only_a_deleted_job_that_has_ended_is_removed(store: impl Store + Removal) {
    let [running, ended, deleted] =
        [split(&store, 1).await, split(&store, 1).await, split(&store, 1).await].map(|job| job.job_id);
    job_after(store.finish(ended, &finish(Status::Completed, 5)).await.unwrap());
    job_after(store.delete(deleted, at(6)).await.unwrap());
    for id in [running, ended, deleted] {
        store.remove(id).await.unwrap();
        let JobProgress { groups, .. } = store.progress(id).await.unwrap().unwrap();
        assert_eq!(groups.len(), 1);
        assert!(store.definition(id).await.unwrap().is_some() && store.manifest(id, 0).await.unwrap().is_some());
    }
}

async fn only_the_key_of_a_removed_job_stays(store: impl Store + Removal) {
    let (job, other) = (waiting_job(), split(&store, 1).await.job_id);
    let key = IdempotencyKey { key: "k".into(), request_hash: "h".into(), at: at(0) };
    store.create_job(&job, &definition(), Some(&key)).await.unwrap();
    let id = job.job_id;
    let mut begun = job_after(store.begin(id, 0, at(1)).await.unwrap());
    // More items than fit into one batch.
    for group in 0..20 {
        begun = job_after(store.commit_group(&begun, &plan(group), at(2)).await.unwrap());
    }
    end(&store, id, &finish(Status::Failed, 3)).await;
    job_after(store.delete(id, at(4)).await.unwrap());
    for _ in 0..2 {
        store.remove(id).await.unwrap();
        assert_eq!(store.job(id).await.unwrap(), None);
        assert_eq!(store.definition(id).await.unwrap(), None);
        for group in 0..20 {
            assert_eq!(store.manifest(id, group).await.unwrap(), None);
            assert_eq!(store.close(id, group).await.unwrap(), None);
        }
    }
    assert!(store.progress(other).await.unwrap().is_some(), "another job's records stay");
    let answer = store.create_job(&waiting_job(), &definition(), Some(&key)).await.unwrap();
    assert_eq!(answer, Created::Replayed(id), "a key creates one job");
}

async fn an_upload_is_removed_with_its_last_job(store: impl Store + Removal) {
    let [shared, other] = [upload(&store).await, upload(&store).await];
    let first = job_over(&store, shared).await;
    let second = job_over(&store, shared).await;
    for _ in 0..2 {
        assert_eq!(store.release_upload(first, shared).await.unwrap(), UploadRelease::KeepFile);
        assert!(store.upload(shared).await.unwrap().is_some());
    }
    for _ in 0..2 {
        assert_eq!(store.release_upload(second, shared).await.unwrap(), UploadRelease::RemoveFile);
        assert_eq!(store.upload(shared).await.unwrap(), None);
    }
    assert!(store.upload(other).await.unwrap().is_some());
}

async fn upload(store: &impl Store) -> FileGuid {
    let file_guid = FileGuid::generate();
    let upload = Upload {
        file_guid,
        tenant: TenantId::from_static("default"),
        key: format!("uploads/default/{file_guid}"),
        file_name: "a.csv".into(),
        content_type: "text/csv".into(),
        size_bytes: 1,
        sha256: None,
        multipart: None,
        promised_at: at(0),
        expires_at: 1_800_000_000,
    };
    store.create_upload(&upload, None).await.unwrap();
    file_guid
}

async fn job_over(store: &impl Store, upload: FileGuid) -> JobId {
    let mut job = waiting_job();
    if let Some(Source::File(source)) = &mut job.source {
        source.key = format!("uploads/default/{upload}");
    }
    store.create_job(&job, &definition(), None).await.unwrap();
    job.job_id
}
