//! Limits of one tenant: exactly the limit is admitted, for any concurrent calls, and a job's end makes room.

use std::collections::BTreeMap;

use futures::future::join_all;
use longshore::store::dynamo::DynamoStore;
use longshore::store::memory::MemoryStore;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, JobTimes, Reopen, SourceFile, Status, Validation};
use longshore_domain::ports::{
    Created, IdempotencyKey, Removal, Reopened, Started, Store, TenantCounts, TenantLimits, Upload,
};
use longshore_domain::time_stamp::Timestamp;

use crate::fixtures::{at, definition, finish, made, opened, waiting_job};
use crate::stored_jobs::key;

on_both_stores! {
    of_many_jobs_at_once_exactly_the_limit_is_taken,
    the_end_of_a_job_makes_room_and_its_deletion_does_not,
    a_loop_of_creates_and_deletes_reaches_the_limit_until_jobs_are_removed,
    a_retry_needs_room_too,
    a_start_needs_room_too,
    a_job_whose_place_is_still_free_is_opened_again,
    a_repeated_request_with_its_key_needs_no_room,
    a_key_is_asked_for_without_making_anything,
    tenants_do_not_share_their_room,
    jobs_that_are_gone_take_no_room,
    creates_retries_and_ends_at_once_keep_to_the_limit,
    the_bytes_of_a_day_are_counted_once_and_up_to_the_limit,
    of_many_uploads_at_once_exactly_what_fits_is_taken,
    a_repeated_upload_needs_no_room,
    calls_that_make_work_are_counted_in_windows,
    the_bytes_of_a_days_jobs_are_counted_once_and_up_to_the_limit,
    starts_and_retries_count_the_bytes_of_the_file_again,
}

/// A store whose limits can be set.
pub(crate) trait Limited: Store + TenantCounts + Sized {
    fn limited(self, limits: TenantLimits) -> Self;
}

impl Limited for MemoryStore {
    fn limited(self, limits: TenantLimits) -> Self {
        self.with_limits(limits)
    }
}

impl Limited for DynamoStore {
    fn limited(self, limits: TenantLimits) -> Self {
        self.with_limits(limits)
    }
}

fn jobs(active_jobs: u64) -> TenantLimits {
    TenantLimits { active_jobs, ..TenantLimits::default() }
}

fn bytes(upload_bytes_per_day: u64) -> TenantLimits {
    TenantLimits { upload_bytes_per_day, ..TenantLimits::default() }
}

async fn create(store: &impl Store, key: Option<&IdempotencyKey>) -> (JobId, Created<JobId>) {
    let job = waiting_job();
    (job.job_id, store.create_job(&job, &definition(), key).await.unwrap())
}

/// A new job that was accepted.
async fn taken(store: &impl Store) -> JobId {
    let (id, observed) = create(store, None).await;
    assert_eq!(observed, Created::New);
    id
}

async fn end(store: &impl Store, id: JobId) -> Job {
    made(store.finish(id, &finish(Status::Failed, 9)).await.unwrap())
}

async fn retry(store: &impl Store, job: &Job) -> Reopened {
    let reopen = Reopen {
        generation: job.generation,
        at: at(50),
        deadline_at: at(99_000),
        corrected: None,
        selected_chunks: None,
    };
    store.reopen(job, &reopen).await.unwrap()
}

async fn of_many_jobs_at_once_exactly_the_limit_is_taken(store: impl Limited) {
    let store = store.limited(jobs(5));
    let all: Vec<_> = std::iter::repeat_with(waiting_job).take(20).collect();
    let definition = definition();
    let observed = join_all(all.iter().map(|job| store.create_job(job, &definition, None))).await;
    let observed: Vec<_> = observed.into_iter().map(Result::unwrap).collect();
    assert_eq!(observed.iter().filter(|observed| **observed == Created::New).count(), 5, "{observed:?}");
    assert_eq!(observed.iter().filter(|observed| **observed == Created::OverLimit(5)).count(), 15, "{observed:?}");
    for (job, observed) in all.iter().zip(&observed) {
        assert_eq!(store.job(job.job_id).await.unwrap().is_some(), *observed == Created::New);
        assert_eq!(store.definition(job.job_id).await.unwrap().is_some(), *observed == Created::New);
    }
}

async fn the_end_of_a_job_makes_room_and_its_deletion_does_not(store: impl Limited) {
    let store = store.limited(jobs(2));
    let (first, second) = (taken(&store).await, taken(&store).await);
    assert_eq!(create(&store, None).await.1, Created::OverLimit(2));
    made(store.delete(first, at(5)).await.unwrap());
    assert_eq!(create(&store, None).await.1, Created::OverLimit(2), "it still runs");
    end(&store, second).await;
    taken(&store).await;
    assert_eq!(create(&store, None).await.1, Created::OverLimit(2));
    end(&store, first).await;
    assert_eq!(create(&store, None).await.1, Created::OverLimit(2), "it is not removed yet");
}

async fn a_loop_of_creates_and_deletes_reaches_the_limit_until_jobs_are_removed(store: impl Limited + Removal) {
    const LIMIT: u64 = 4;
    let store = store.limited(jobs(LIMIT));
    let mut deleted = Vec::new();
    for _ in 0..LIMIT {
        let id = taken(&store).await;
        end(&store, id).await;
        made(store.delete(id, at(10)).await.unwrap());
        deleted.push(id);
    }
    assert_eq!(create(&store, None).await.1, Created::OverLimit(LIMIT));
    store.remove(deleted[0]).await.unwrap();
    taken(&store).await;
    assert_eq!(create(&store, None).await.1, Created::OverLimit(LIMIT));
}

async fn a_retry_needs_room_too(store: impl Limited) {
    let store = store.limited(jobs(2));
    let first = taken(&store).await;
    let ended = end(&store, first).await;
    let second = taken(&store).await;
    taken(&store).await;
    assert_eq!(retry(&store, &ended).await, Reopened::OverLimit(2));
    assert_eq!(store.job(first).await.unwrap(), Some(ended.clone()), "nothing is written");
    end(&store, second).await;
    assert_eq!(opened(retry(&store, &ended).await).generation, 1);
    assert_eq!(opened(retry(&store, &ended).await).generation, 1, "the same call again is its own");
    assert_eq!(create(&store, None).await.1, Created::OverLimit(2));
}

async fn a_start_needs_room_too(store: impl Limited) {
    let store = store.limited(jobs(1));
    let checked =
        Job { validation: Validation { checks_only: true, ..waiting_job().validation.clone() }, ..waiting_job() };
    assert_eq!(store.create_job(&checked, &definition(), None).await.unwrap(), Created::New);
    let checked = made(store.finish(checked.job_id, &finish(Status::Completed, 9)).await.unwrap());
    let other = taken(&store).await;
    let job = Job {
        validation: Validation { started_from: Some(checked.job_id), ..waiting_job().validation.clone() },
        ..waiting_job()
    };
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::OverLimit(1));
    assert_eq!(store.job(job.job_id).await.unwrap(), None, "nothing is written");
    assert_eq!(store.job(checked.job_id).await.unwrap(), Some(checked), "nothing is noted");
    end(&store, other).await;
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::New);
    assert_eq!(create(&store, None).await.1, Created::OverLimit(1));
    let second = Job { job_id: JobId::generate(), ..job.clone() };
    let observed = store.start_job(&second, &definition()).await.unwrap();
    assert_eq!(observed, Started::Before(job.job_id), "who comes again needs no room");
}

async fn a_job_whose_place_is_still_free_is_opened_again(store: impl Limited) {
    let store = store.limited(jobs(1));
    let first = taken(&store).await;
    let ended = end(&store, first).await;
    opened(retry(&store, &ended).await);
    assert_eq!(create(&store, None).await.1, Created::OverLimit(1));
}

async fn a_repeated_request_with_its_key_needs_no_room(store: impl Limited) {
    let store = store.limited(jobs(1));
    let (first, observed) = create(&store, Some(&key("k", "h"))).await;
    assert_eq!(observed, Created::New);
    assert_eq!(create(&store, Some(&key("k", "h"))).await.1, Created::Replayed(first));
    assert_eq!(create(&store, Some(&key("k", "other"))).await.1, Created::KeyReused);
    assert_eq!(create(&store, Some(&key("k2", "h"))).await.1, Created::OverLimit(1));
    let late = IdempotencyKey { at: at(0).plus_seconds(86_401), ..key("k", "h") };
    assert_eq!(create(&store, Some(&late)).await.1, Created::OverLimit(1), "the key is free again");
    end(&store, first).await;
    assert_eq!(create(&store, Some(&key("k2", "h"))).await.1, Created::New, "a refused create leaves no key");
}

async fn a_key_is_asked_for_without_making_anything(store: impl Limited) {
    let asked = async |key: IdempotencyKey| store.job_created_before("default", &key).await.unwrap();
    assert_eq!(asked(key("k", "h")).await, None);
    let (first, _) = create(&store, Some(&key("k", "h"))).await;
    assert_eq!(asked(key("k", "h")).await, Some(Created::Replayed(first)));
    assert_eq!(asked(key("k", "other")).await, Some(Created::KeyReused));
    assert_eq!(asked(IdempotencyKey { at: at(0).plus_seconds(86_401), ..key("k", "h") }).await, None);
    assert_eq!(store.job_created_before("another", &key("k", "h")).await.unwrap(), None);
}

async fn tenants_do_not_share_their_room(store: impl Limited) {
    let store = store.limited(jobs(1));
    taken(&store).await;
    let others = Job { tenant: "another".into(), ..waiting_job() };
    assert_eq!(store.create_job(&others, &definition(), None).await.unwrap(), Created::New);
    assert_eq!(create(&store, None).await.1, Created::OverLimit(1));
}

async fn jobs_that_are_gone_take_no_room(store: impl Limited + Removal) {
    let store = store.limited(jobs(1));
    let first = taken(&store).await;
    made(store.delete(first, at(5)).await.unwrap());
    end(&store, first).await;
    store.remove(first).await.unwrap();
    assert_eq!(store.job(first).await.unwrap(), None);
    taken(&store).await;
}

async fn creates_retries_and_ends_at_once_keep_to_the_limit(store: impl Limited) {
    const LIMIT: usize = 4;
    let store = store.limited(jobs(LIMIT as u64));
    let mut known = BTreeMap::<JobId, Job>::new();
    for round in 0..25 {
        let (active, ended): (Vec<_>, Vec<_>) = known.values().cloned().partition(|job| !job.status.is_final());
        let ends = async |job: Job| {
            let end = longshore_domain::job::Finish { generation: job.generation, ..finish(Status::Failed, 9) };
            store.finish(job.job_id, &end).await.unwrap();
        };
        let opens = async |job: Job| drop(retry(&store, &job).await);
        let new: Vec<_> = std::iter::repeat_with(waiting_job).take(4).collect();
        let definition = definition();
        tokio::join!(
            join_all(active.into_iter().skip(round % 3).map(ends)),
            join_all(new.iter().map(|job| store.create_job(job, &definition, None))),
            join_all(ended.into_iter().rev().take(3).map(opens)),
        );
        for id in known.keys().copied().chain(new.iter().map(|job| job.job_id)).collect::<Vec<_>>() {
            known.extend(store.job(id).await.unwrap().map(|job| (id, job)));
        }
        let active = known.values().filter(|job| !job.status.is_final()).count();
        assert!(active <= LIMIT, "round {round}: {active} jobs are active");
        // All free places can be used: none is lost.
        for _ in active..LIMIT {
            let id = taken(&store).await;
            known.extend(store.job(id).await.unwrap().map(|job| (id, job)));
        }
        assert_eq!(create(&store, None).await.1, Created::OverLimit(LIMIT as u64), "round {round}");
    }
}

fn upload(size_bytes: u64, promised_at: Timestamp) -> Upload {
    let file_guid = FileGuid::generate();
    Upload {
        file_guid,
        tenant: "default".into(),
        key: format!("uploads/default/{file_guid}"),
        file_name: "people.csv".into(),
        content_type: "text/csv".into(),
        size_bytes,
        sha256: None,
        multipart: None,
        promised_at,
        expires_at: 1_800_000_000,
    }
}

async fn the_bytes_of_a_day_are_counted_once_and_up_to_the_limit(store: impl Limited) {
    let store = store.limited(bytes(100));
    let promise = async |upload: &Upload| store.create_upload(upload, None).await.unwrap();
    let (first, midnight) = (upload(60, at(0)), at(0).end_of_day());
    assert_eq!(promise(&upload(101, at(0))).await, Created::OverDailyBytes(0), "no day has room for it");
    for _ in 0..2 {
        assert_eq!(promise(&first).await, Created::New, "the same call again counts once");
    }
    let refused = upload(41, at(1));
    assert_eq!(promise(&refused).await, Created::OverDailyBytes(60));
    assert_eq!(store.upload(refused.file_guid).await.unwrap(), None);
    assert_eq!(promise(&upload(40, at(2))).await, Created::New);
    assert_eq!(promise(&upload(1, Timestamp(midnight.0 - 1))).await, Created::OverDailyBytes(100));
    assert_eq!(promise(&Upload { tenant: "another".into(), ..upload(100, at(3)) }).await, Created::New);
    assert_eq!(promise(&upload(100, midnight)).await, Created::New, "the next day");
    assert_eq!(promise(&upload(1, midnight)).await, Created::OverDailyBytes(100));
}

async fn of_many_uploads_at_once_exactly_what_fits_is_taken(store: impl Limited) {
    let store = store.limited(bytes(55));
    let all: Vec<_> = std::iter::repeat_with(|| upload(10, at(0))).take(20).collect();
    let observed = join_all(all.iter().map(|upload| store.create_upload(upload, None))).await;
    let observed: Vec<_> = observed.into_iter().map(Result::unwrap).collect();
    assert_eq!(observed.iter().filter(|observed| **observed == Created::New).count(), 5, "{observed:?}");
    assert_eq!(
        observed.iter().filter(|observed| **observed == Created::OverDailyBytes(50)).count(),
        15,
        "{observed:?}"
    );
}

async fn a_repeated_upload_needs_no_room(store: impl Limited) {
    let store = store.limited(bytes(100));
    let first = upload(100, at(0));
    let promise = async |upload: &Upload, key| store.create_upload(upload, Some(&key)).await.unwrap();
    assert_eq!(promise(&first, key("k", "h")).await, Created::New);
    assert_eq!(promise(&upload(100, at(0)), key("k", "h")).await, Created::Replayed(first.file_guid));
    assert_eq!(promise(&upload(1, at(0)), key("k", "other")).await, Created::KeyReused);
    assert_eq!(promise(&upload(1, at(0)), key("k2", "h")).await, Created::OverDailyBytes(100));
    let asked = async |key: IdempotencyKey| store.upload_created_before("default", &key).await.unwrap();
    assert_eq!(asked(key("k", "h")).await, Some(Created::Replayed(first.file_guid)));
    assert_eq!(asked(key("k", "other")).await, Some(Created::KeyReused));
    assert_eq!(asked(key("k2", "h")).await, None, "a refused upload leaves no key");
    assert_eq!(asked(IdempotencyKey { at: at(0).plus_seconds(86_401), ..key("k", "h") }).await, None);
    assert_eq!(store.upload_created_before("another", &key("k", "h")).await.unwrap(), None);
    let day_after = at(0).plus_seconds(86_400);
    assert_eq!(promise(&upload(1, day_after), IdempotencyKey { at: day_after, ..key("k2", "h") }).await, Created::New);
}

async fn calls_that_make_work_are_counted_in_windows(store: impl Limited) {
    let store = store.limited(TenantLimits { work_calls: 3, ..TenantLimits::default() });
    let [tenant, other] = [(); 2].map(|()| waiting_job().job_id.to_string());
    for ms in [100_000, 105_000, 109_999] {
        assert!(store.count_call(&tenant, at(ms)).await.unwrap(), "{ms}");
    }
    for ms in [109_999, 100_000] {
        assert!(!store.count_call(&tenant, at(ms)).await.unwrap(), "{ms}");
    }
    assert!(store.count_call(&other, at(109_000)).await.unwrap());
    let at_once: Vec<_> = (0..20).map(|_| store.count_call(&other, at(109_000))).collect();
    let taken = join_all(at_once).await.into_iter().filter(|counted| *counted.as_ref().unwrap()).count();
    assert_eq!(taken, 2, "of many calls at once as many as there is room for");
    assert!(store.count_call(&tenant, at(110_000)).await.unwrap(), "the next ten seconds");
}

fn job_bytes(job_bytes_per_day: u64) -> TenantLimits {
    TenantLimits { job_bytes_per_day, ..TenantLimits::default() }
}

/// A job over a file of `size_bytes` bytes.
fn sized(size_bytes: u64, created_at: Timestamp) -> Job {
    let job = waiting_job();
    let source = job.source.clone().map(|source| SourceFile { size_bytes, ..source });
    Job { source: Some(source.unwrap()), times: JobTimes { created_at, ..job.times.clone() }, ..job }
}

async fn the_bytes_of_a_days_jobs_are_counted_once_and_up_to_the_limit(store: impl Limited) {
    let store = store.limited(job_bytes(100));
    let definition = definition();
    let create = async |job: &Job, key: Option<&IdempotencyKey>| store.create_job(job, &definition, key).await.unwrap();
    let first = sized(60, at(0));
    assert_eq!(create(&sized(101, at(0)), None).await, Created::OverDailyBytes(0), "no day has room for it");
    for _ in 0..2 {
        assert_eq!(create(&first, Some(&key("k", "h"))).await, Created::New, "the same call again counts once");
    }
    assert_eq!(create(&sized(60, at(1)), Some(&key("k", "h"))).await, Created::Replayed(first.job_id));
    assert_eq!(create(&sized(500, at(1)), Some(&key("k", "h"))).await, Created::Replayed(first.job_id));
    let refused = sized(41, at(1));
    assert_eq!(create(&refused, Some(&key("k2", "h"))).await, Created::OverDailyBytes(60));
    assert_eq!(store.job(refused.job_id).await.unwrap(), None, "nothing is stored");
    assert_eq!(create(&sized(40, at(2)), Some(&key("k2", "h"))).await, Created::New, "a refused create leaves no key");
    assert_eq!(create(&sized(1, at(3)), None).await, Created::OverDailyBytes(100));
    assert_eq!(create(&Job { source: None, ..waiting_job() }, None).await, Created::New, "a job without a file");
    assert_eq!(create(&Job { tenant: "another".into(), ..sized(100, at(3)) }, None).await, Created::New);
    assert_eq!(create(&sized(100, at(0).end_of_day()), None).await, Created::New, "the next day");
}

async fn starts_and_retries_count_the_bytes_of_the_file_again(store: impl Limited) {
    let store = store.limited(job_bytes(100));
    let checked =
        Job { validation: Validation { checks_only: true, ..sized(50, at(0)).validation }, ..sized(50, at(0)) };
    assert_eq!(store.create_job(&checked, &definition(), None).await.unwrap(), Created::New);
    let checked = made(store.finish(checked.job_id, &finish(Status::Completed, 9)).await.unwrap());
    let job = Job {
        validation: Validation { started_from: Some(checked.job_id), ..sized(50, at(10)).validation },
        ..sized(50, at(10))
    };
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::New);
    let second = Job { job_id: JobId::generate(), ..job.clone() };
    assert_eq!(store.start_job(&second, &definition()).await.unwrap(), Started::Before(job.job_id));
    let ended = end(&store, job.job_id).await;
    assert_eq!(retry(&store, &ended).await, Reopened::OverDailyBytes(100));
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(ended.clone()), "nothing is written");
    let next_day = at(50).end_of_day();
    let reopen =
        Reopen { generation: 0, at: next_day, deadline_at: at(99_000_000), corrected: None, selected_chunks: None };
    for _ in 0..2 {
        assert_eq!(
            opened(store.reopen(&ended, &reopen).await.unwrap()).generation,
            1,
            "the same call again counts once"
        );
    }
    let checked = Job {
        validation: Validation { checks_only: true, ..sized(50, next_day).validation.clone() },
        ..sized(50, next_day)
    };
    assert_eq!(store.create_job(&checked, &definition(), None).await.unwrap(), Created::New);
    let checked = made(store.finish(checked.job_id, &finish(Status::Completed, 9)).await.unwrap());
    let job = Job {
        validation: Validation { started_from: Some(checked.job_id), ..sized(50, next_day).validation.clone() },
        ..sized(50, next_day)
    };
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::OverDailyBytes(100));
    assert_eq!(store.job(job.job_id).await.unwrap(), None, "nothing is written");
}
