//! Limits of one tenant: exactly the limit is admitted, for any concurrent calls, and an ended job no longer counts.

use std::collections::BTreeMap;

use futures::future::join_all;
use longshore::store::dynamo::DynamoStore;
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Reopen, Selection, Status, Validation};
use longshore_domain::ports::{
    Created, IdempotencyKey, QuotaExceeded, Removal, Reopened, Started, Store, TenantCounts, TenantLimits,
};
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};
use longshore_testing::MemoryStore;

use crate::fixtures::{self, at, definition, finish, job_after, reopened_job, waiting_job};
use crate::repeated_calls::key;

on_both_stores! {
    concurrent_jobs_fill_the_limit_exactly,
    only_the_end_of_a_job_lowers_the_count_and_not_its_deletion,
    a_loop_of_creates_and_deletes_reaches_the_limit_until_jobs_are_removed,
    a_retry_counts_toward_the_limit,
    a_start_counts_toward_the_limit,
    a_job_is_reopened_only_below_the_limit,
    a_repeated_request_with_its_key_ignores_the_limit,
    a_key_lookup_creates_nothing,
    tenants_have_separate_limits,
    removed_jobs_do_not_count,
    concurrent_creates_retries_and_ends_respect_the_limit,
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
async fn created_job(store: &impl Store) -> JobId {
    let (id, answer) = create(store, None).await;
    assert_eq!(answer, Created::New);
    id
}

pub(crate) async fn end(store: &impl Store, id: JobId) -> Job {
    fixtures::end(store, id, &finish(Status::Failed, 9)).await
}

pub(crate) async fn retry(store: &impl Store, job: &Job) -> Reopened {
    let reopen = Reopen {
        generation: job.generation,
        at: at(50),
        deadline_at: at(99_000),
        selection: Selection::All,
        registration: None,
    };
    store.reopen(job, &reopen).await.unwrap()
}

async fn concurrent_jobs_fill_the_limit_exactly(store: impl Limited) {
    let store = store.limited(jobs(5));
    let all: Vec<_> = std::iter::repeat_with(waiting_job).take(20).collect();
    let definition = definition();
    let answer = join_all(all.iter().map(|job| store.create_job(job, &definition, None))).await;
    let answer: Vec<_> = answer.into_iter().map(Result::unwrap).collect();
    assert_eq!(answer.iter().filter(|answer| **answer == Created::New).count(), 5, "{answer:?}");
    assert_eq!(
        answer.iter().filter(|answer| **answer == Created::OverQuota(QuotaExceeded::ActiveJobs(5))).count(),
        15,
        "{answer:?}"
    );
    for (job, answer) in all.iter().zip(&answer) {
        assert_eq!(store.job(job.job_id).await.unwrap().is_some(), *answer == Created::New);
        assert_eq!(store.definition(job.job_id).await.unwrap().is_some(), *answer == Created::New);
    }
}

async fn only_the_end_of_a_job_lowers_the_count_and_not_its_deletion(store: impl Limited) {
    let store = store.limited(jobs(2));
    let (first, second) = (created_job(&store).await, created_job(&store).await);
    assert_eq!(create(&store, None).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(2)));
    job_after(store.delete(first, at(5)).await.unwrap());
    assert_eq!(
        create(&store, None).await.1,
        Created::OverQuota(QuotaExceeded::ActiveJobs(2)),
        "the job is still active"
    );
    end(&store, second).await;
    created_job(&store).await;
    assert_eq!(create(&store, None).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(2)));
    end(&store, first).await;
    assert_eq!(
        create(&store, None).await.1,
        Created::OverQuota(QuotaExceeded::ActiveJobs(2)),
        "the job is not removed yet"
    );
}

async fn a_loop_of_creates_and_deletes_reaches_the_limit_until_jobs_are_removed(store: impl Limited + Removal) {
    const LIMIT: u64 = 4;
    let store = store.limited(jobs(LIMIT));
    let mut deleted = Vec::new();
    for _ in 0..LIMIT {
        let id = created_job(&store).await;
        end(&store, id).await;
        job_after(store.delete(id, at(10)).await.unwrap());
        deleted.push(id);
    }
    assert_eq!(create(&store, None).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(LIMIT)));
    store.remove(deleted[0]).await.unwrap();
    created_job(&store).await;
    assert_eq!(create(&store, None).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(LIMIT)));
}

async fn a_retry_counts_toward_the_limit(store: impl Limited) {
    let store = store.limited(jobs(2));
    let first = created_job(&store).await;
    let ended = end(&store, first).await;
    let second = created_job(&store).await;
    created_job(&store).await;
    assert_eq!(retry(&store, &ended).await, Reopened::OverQuota(QuotaExceeded::ActiveJobs(2)));
    assert_eq!(store.job(first).await.unwrap(), Some(ended.clone()), "nothing is written");
    end(&store, second).await;
    assert_eq!(reopened_job(retry(&store, &ended).await).generation, 1);
    assert_eq!(reopened_job(retry(&store, &ended).await).generation, 1, "a repeated call returns the same job");
    assert_eq!(create(&store, None).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(2)));
}

async fn a_start_counts_toward_the_limit(store: impl Limited) {
    let store = store.limited(jobs(1));
    let checked =
        Job { validation: Validation { checks_only: true, ..waiting_job().validation.clone() }, ..waiting_job() };
    assert_eq!(store.create_job(&checked, &definition(), None).await.unwrap(), Created::New);
    let checked = job_after(store.finish(checked.job_id, &finish(Status::Completed, 9)).await.unwrap());
    let other = created_job(&store).await;
    let job = Job {
        validation: Validation { started_from: Some(checked.job_id), ..waiting_job().validation.clone() },
        ..waiting_job()
    };
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::OverQuota(QuotaExceeded::ActiveJobs(1)));
    assert_eq!(store.job(job.job_id).await.unwrap(), None, "nothing is written");
    assert_eq!(store.job(checked.job_id).await.unwrap(), Some(checked), "the validated job is unchanged");
    end(&store, other).await;
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::New);
    assert_eq!(create(&store, None).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(1)));
    let second = Job { job_id: JobId::generate(), ..job.clone() };
    let answer = store.start_job(&second, &definition()).await.unwrap();
    assert_eq!(answer, Started::Before(job.job_id), "a repeated start does not count");
}

async fn a_job_is_reopened_only_below_the_limit(store: impl Limited) {
    let store = store.limited(jobs(1));
    let first = created_job(&store).await;
    let ended = end(&store, first).await;
    reopened_job(retry(&store, &ended).await);
    assert_eq!(create(&store, None).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(1)));
}

async fn a_repeated_request_with_its_key_ignores_the_limit(store: impl Limited) {
    let store = store.limited(jobs(1));
    let (first, answer) = create(&store, Some(&key("k", "h"))).await;
    assert_eq!(answer, Created::New);
    assert_eq!(create(&store, Some(&key("k", "h"))).await.1, Created::Replayed(first));
    assert_eq!(create(&store, Some(&key("k", "other"))).await.1, Created::KeyReused);
    assert_eq!(create(&store, Some(&key("k2", "h"))).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(1)));
    let late = IdempotencyKey { at: at(0).plus_seconds(86_401), ..key("k", "h") };
    assert_eq!(
        create(&store, Some(&late)).await.1,
        Created::OverQuota(QuotaExceeded::ActiveJobs(1)),
        "the key has expired"
    );
    end(&store, first).await;
    assert_eq!(create(&store, Some(&key("k2", "h"))).await.1, Created::New, "a refused create leaves no key");
}

async fn a_key_lookup_creates_nothing(store: impl Limited) {
    let created_before = async |key: IdempotencyKey| store.job_created_before(&DEFAULT_TENANT, &key).await.unwrap();
    assert_eq!(created_before(key("k", "h")).await, None);
    let (first, _) = create(&store, Some(&key("k", "h"))).await;
    assert_eq!(created_before(key("k", "h")).await, Some(Created::Replayed(first)));
    assert_eq!(created_before(key("k", "other")).await, Some(Created::KeyReused));
    assert_eq!(created_before(IdempotencyKey { at: at(0).plus_seconds(86_401), ..key("k", "h") }).await, None);
    assert_eq!(store.job_created_before(&TenantId::from_static("another"), &key("k", "h")).await.unwrap(), None);
}

async fn tenants_have_separate_limits(store: impl Limited) {
    let store = store.limited(jobs(1));
    created_job(&store).await;
    let others = Job { tenant: TenantId::from_static("another"), ..waiting_job() };
    assert_eq!(store.create_job(&others, &definition(), None).await.unwrap(), Created::New);
    assert_eq!(create(&store, None).await.1, Created::OverQuota(QuotaExceeded::ActiveJobs(1)));
}

async fn removed_jobs_do_not_count(store: impl Limited + Removal) {
    let store = store.limited(jobs(1));
    let first = created_job(&store).await;
    job_after(store.delete(first, at(5)).await.unwrap());
    end(&store, first).await;
    store.remove(first).await.unwrap();
    assert_eq!(store.job(first).await.unwrap(), None);
    created_job(&store).await;
}

async fn concurrent_creates_retries_and_ends_respect_the_limit(store: impl Limited) {
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
        // The limit can be reached again: no job is counted that has ended.
        for _ in active..LIMIT {
            let id = created_job(&store).await;
            known.extend(store.job(id).await.unwrap().map(|job| (id, job)));
        }
        assert_eq!(
            create(&store, None).await.1,
            Created::OverQuota(QuotaExceeded::ActiveJobs(LIMIT as u64)),
            "round {round}"
        );
    }
}
