//! Limits of one tenant: exactly the limit is admitted, for any concurrent calls, and a job's end makes room.

use std::collections::BTreeMap;

use futures::future::join_all;
use longshore::store::dynamo::DynamoStore;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Reopen, Status, Validation};
use longshore_domain::ports::{Created, IdempotencyKey, Removal, Reopened, Started, Store, TenantCounts, TenantLimits};
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};
use longshore_testing::MemoryStore;

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

pub(crate) async fn create(store: &impl Store, key: Option<&IdempotencyKey>) -> (JobId, Created<JobId>) {
    let job = waiting_job();
    (job.job_id, store.create_job(&job, &definition(), key).await.unwrap())
}

/// A new job that was accepted.
pub(crate) async fn taken(store: &impl Store) -> JobId {
    let (id, answer) = create(store, None).await;
    assert_eq!(answer, Created::New);
    id
}

pub(crate) async fn end(store: &impl Store, id: JobId) -> Job {
    made(store.finish(id, &finish(Status::Failed, 9)).await.unwrap())
}

pub(crate) async fn retry(store: &impl Store, job: &Job) -> Reopened {
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
    let answer = join_all(all.iter().map(|job| store.create_job(job, &definition, None))).await;
    let answer: Vec<_> = answer.into_iter().map(Result::unwrap).collect();
    assert_eq!(answer.iter().filter(|answer| **answer == Created::New).count(), 5, "{answer:?}");
    assert_eq!(answer.iter().filter(|answer| **answer == Created::OverLimit(5)).count(), 15, "{answer:?}");
    for (job, answer) in all.iter().zip(&answer) {
        assert_eq!(store.job(job.job_id).await.unwrap().is_some(), *answer == Created::New);
        assert_eq!(store.definition(job.job_id).await.unwrap().is_some(), *answer == Created::New);
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
    let answer = store.start_job(&second, &definition()).await.unwrap();
    assert_eq!(answer, Started::Before(job.job_id), "who comes again needs no room");
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
    let (first, answer) = create(&store, Some(&key("k", "h"))).await;
    assert_eq!(answer, Created::New);
    assert_eq!(create(&store, Some(&key("k", "h"))).await.1, Created::Replayed(first));
    assert_eq!(create(&store, Some(&key("k", "other"))).await.1, Created::KeyReused);
    assert_eq!(create(&store, Some(&key("k2", "h"))).await.1, Created::OverLimit(1));
    let late = IdempotencyKey { at: at(0).plus_seconds(86_401), ..key("k", "h") };
    assert_eq!(create(&store, Some(&late)).await.1, Created::OverLimit(1), "the key is free again");
    end(&store, first).await;
    assert_eq!(create(&store, Some(&key("k2", "h"))).await.1, Created::New, "a refused create leaves no key");
}

async fn a_key_is_asked_for_without_making_anything(store: impl Limited) {
    let asked = async |key: IdempotencyKey| store.job_created_before(&DEFAULT_TENANT, &key).await.unwrap();
    assert_eq!(asked(key("k", "h")).await, None);
    let (first, _) = create(&store, Some(&key("k", "h"))).await;
    assert_eq!(asked(key("k", "h")).await, Some(Created::Replayed(first)));
    assert_eq!(asked(key("k", "other")).await, Some(Created::KeyReused));
    assert_eq!(asked(IdempotencyKey { at: at(0).plus_seconds(86_401), ..key("k", "h") }).await, None);
    assert_eq!(store.job_created_before(&TenantId::from_static("another"), &key("k", "h")).await.unwrap(), None);
}

async fn tenants_do_not_share_their_room(store: impl Limited) {
    let store = store.limited(jobs(1));
    taken(&store).await;
    let others = Job { tenant: TenantId::from_static("another"), ..waiting_job() };
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
