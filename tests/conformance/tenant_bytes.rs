//! Bytes and calls of one tenant in a day: exactly the limit is admitted, and a repeated request counts once.

use futures::future::join_all;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, JobTimes, Reopen, Selection, SourceFile, Status, Validation};
use longshore_domain::ports::{
    CallCount, Created, IdempotencyKey, QuotaExceeded, Reopened, Started, TenantLimits, Upload,
};
use longshore_domain::tenant::{DEFAULT_TENANT, TenantId};
use longshore_domain::timestamp::Timestamp;

use crate::fixtures::{at, definition, finish, job_after, reopened_job, waiting_job};
use crate::repeated_calls::key;
use crate::tenant_limits::{Limited, end, retry};

on_both_stores! {
    upload_bytes_of_a_day_count_once_up_to_the_limit,
    concurrent_uploads_fill_the_limit_exactly,
    a_repeated_upload_ignores_the_limit,
    calls_are_counted_in_windows,
    job_bytes_of_a_day_count_once_up_to_the_limit,
    starts_and_retries_count_the_files_bytes_again,
}

fn bytes(upload_bytes_per_day: u64) -> TenantLimits {
    TenantLimits { upload_bytes_per_day, ..TenantLimits::default() }
}

fn upload(size_bytes: u64, promised_at: Timestamp) -> Upload {
    let file_guid = FileGuid::generate();
    Upload {
        file_guid,
        tenant: TenantId::from_static("default"),
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

async fn upload_bytes_of_a_day_count_once_up_to_the_limit(store: impl Limited) {
    let store = store.limited(bytes(100));
    let promise = async |upload: &Upload| store.create_upload(upload, None).await.unwrap();
    let (first, midnight) = (upload(60, at(0)), at(0).end_of_day());
    assert_eq!(
        promise(&upload(101, at(0))).await,
        Created::OverQuota(QuotaExceeded::DailyBytes(0)),
        "larger than the limit of any day"
    );
    for _ in 0..2 {
        assert_eq!(promise(&first).await, Created::New, "a repeated call counts once");
    }
    let refused = upload(41, at(1));
    assert_eq!(promise(&refused).await, Created::OverQuota(QuotaExceeded::DailyBytes(60)));
    assert_eq!(store.upload(refused.file_guid).await.unwrap(), None);
    assert_eq!(promise(&upload(40, at(2))).await, Created::New);
    assert_eq!(
        promise(&upload(1, Timestamp(midnight.0 - 1))).await,
        Created::OverQuota(QuotaExceeded::DailyBytes(100))
    );
    assert_eq!(promise(&Upload { tenant: TenantId::from_static("another"), ..upload(100, at(3)) }).await, Created::New);
    assert_eq!(promise(&upload(100, midnight)).await, Created::New, "the next day");
    assert_eq!(promise(&upload(1, midnight)).await, Created::OverQuota(QuotaExceeded::DailyBytes(100)));
}

async fn concurrent_uploads_fill_the_limit_exactly(store: impl Limited) {
    let store = store.limited(bytes(55));
    let all: Vec<_> = std::iter::repeat_with(|| upload(10, at(0))).take(20).collect();
    let answer = join_all(all.iter().map(|upload| store.create_upload(upload, None))).await;
    let answer: Vec<_> = answer.into_iter().map(Result::unwrap).collect();
    assert_eq!(answer.iter().filter(|answer| **answer == Created::New).count(), 5, "{answer:?}");
    assert_eq!(
        answer.iter().filter(|answer| **answer == Created::OverQuota(QuotaExceeded::DailyBytes(50))).count(),
        15,
        "{answer:?}"
    );
}

async fn a_repeated_upload_ignores_the_limit(store: impl Limited) {
    let store = store.limited(bytes(100));
    let first = upload(100, at(0));
    let promise = async |upload: &Upload, key| store.create_upload(upload, Some(&key)).await.unwrap();
    assert_eq!(promise(&first, key("k", "h")).await, Created::New);
    assert_eq!(promise(&upload(100, at(0)), key("k", "h")).await, Created::Replayed(first.file_guid));
    assert_eq!(promise(&upload(1, at(0)), key("k", "other")).await, Created::KeyReused);
    assert_eq!(promise(&upload(1, at(0)), key("k2", "h")).await, Created::OverQuota(QuotaExceeded::DailyBytes(100)));
    let created_before = async |key: IdempotencyKey| store.upload_created_before(&DEFAULT_TENANT, &key).await.unwrap();
    assert_eq!(created_before(key("k", "h")).await, Some(Created::Replayed(first.file_guid)));
    assert_eq!(created_before(key("k", "other")).await, Some(Created::KeyReused));
    assert_eq!(created_before(key("k2", "h")).await, None, "a refused upload leaves no key");
    assert_eq!(created_before(IdempotencyKey { at: at(0).plus_seconds(86_401), ..key("k", "h") }).await, None);
    assert_eq!(store.upload_created_before(&TenantId::from_static("another"), &key("k", "h")).await.unwrap(), None);
    let day_after = at(0).plus_seconds(86_400);
    assert_eq!(promise(&upload(1, day_after), IdempotencyKey { at: day_after, ..key("k2", "h") }).await, Created::New);
}

async fn calls_are_counted_in_windows(store: impl Limited) {
    let store = store.limited(TenantLimits { work_calls: 3, ..TenantLimits::default() });
    let [tenant, other] = [(); 2].map(|()| TenantId::parse(&waiting_job().job_id.to_string()).unwrap());
    for ms in [100_000, 105_000, 109_999] {
        assert_eq!(store.count_call(&tenant, at(ms)).await.unwrap(), CallCount::Counted, "{ms}");
    }
    for ms in [109_999, 100_000] {
        assert_eq!(store.count_call(&tenant, at(ms)).await.unwrap(), CallCount::LimitReached, "{ms}");
    }
    assert_eq!(store.count_call(&other, at(109_000)).await.unwrap(), CallCount::Counted);
    let at_once: Vec<_> = (0..20).map(|_| store.count_call(&other, at(109_000))).collect();
    let taken =
        join_all(at_once).await.into_iter().filter(|count| *count.as_ref().unwrap() == CallCount::Counted).count();
    assert_eq!(taken, 2, "exactly the limit of concurrent calls");
    assert_eq!(store.count_call(&tenant, at(110_000)).await.unwrap(), CallCount::Counted, "the next ten seconds");
}

fn job_bytes(job_bytes_per_day: u64) -> TenantLimits {
    TenantLimits { job_bytes_per_day, ..TenantLimits::default() }
}

/// A job over a file of `size_bytes` bytes.
fn sized(size_bytes: u64, created_at: Timestamp) -> Job {
    let job = waiting_job();
    let source = job.file().cloned().map(|source| SourceFile { size_bytes, ..source });
    Job { source: Some(source.unwrap().into()), times: JobTimes { created_at, ..job.times.clone() }, ..job }
}

async fn job_bytes_of_a_day_count_once_up_to_the_limit(store: impl Limited) {
    let store = store.limited(job_bytes(100));
    let definition = definition();
    let create = async |job: &Job, key: Option<&IdempotencyKey>| store.create_job(job, &definition, key).await.unwrap();
    let first = sized(60, at(0));
    assert_eq!(
        create(&sized(101, at(0)), None).await,
        Created::OverQuota(QuotaExceeded::DailyBytes(0)),
        "larger than the limit of any day"
    );
    for _ in 0..2 {
        assert_eq!(create(&first, Some(&key("k", "h"))).await, Created::New, "a repeated call counts once");
    }
    assert_eq!(create(&sized(60, at(1)), Some(&key("k", "h"))).await, Created::Replayed(first.job_id));
    assert_eq!(create(&sized(500, at(1)), Some(&key("k", "h"))).await, Created::Replayed(first.job_id));
    let refused = sized(41, at(1));
    assert_eq!(create(&refused, Some(&key("k2", "h"))).await, Created::OverQuota(QuotaExceeded::DailyBytes(60)));
    assert_eq!(store.job(refused.job_id).await.unwrap(), None, "nothing is stored");
    assert_eq!(create(&sized(40, at(2)), Some(&key("k2", "h"))).await, Created::New, "a refused create leaves no key");
    assert_eq!(create(&sized(1, at(3)), None).await, Created::OverQuota(QuotaExceeded::DailyBytes(100)));
    assert_eq!(create(&Job { source: None, ..waiting_job() }, None).await, Created::New, "a job without a file");
    assert_eq!(
        create(&Job { tenant: TenantId::from_static("another"), ..sized(100, at(3)) }, None).await,
        Created::New
    );
    assert_eq!(create(&sized(100, at(0).end_of_day()), None).await, Created::New, "the next day");
}

async fn starts_and_retries_count_the_files_bytes_again(store: impl Limited) {
    let store = store.limited(job_bytes(100));
    let checked =
        Job { validation: Validation { checks_only: true, ..sized(50, at(0)).validation }, ..sized(50, at(0)) };
    assert_eq!(store.create_job(&checked, &definition(), None).await.unwrap(), Created::New);
    let checked = job_after(store.finish(checked.job_id, &finish(Status::Completed, 9)).await.unwrap());
    let job = Job {
        validation: Validation { started_from: Some(checked.job_id), ..sized(50, at(10)).validation },
        ..sized(50, at(10))
    };
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::New);
    let second = Job { job_id: JobId::generate(), ..job.clone() };
    assert_eq!(store.start_job(&second, &definition()).await.unwrap(), Started::Before(job.job_id));
    let ended = end(&store, job.job_id).await;
    assert_eq!(retry(&store, &ended).await, Reopened::OverQuota(QuotaExceeded::DailyBytes(100)));
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(ended.clone()), "nothing is written");
    let next_day = at(50).end_of_day();
    let reopen = Reopen {
        generation: 0,
        at: next_day,
        deadline_at: at(99_000_000),
        selection: Selection::All,
        registration: None,
    };
    for _ in 0..2 {
        assert_eq!(
            reopened_job(store.reopen(&ended, &reopen).await.unwrap()).generation,
            1,
            "a repeated call counts once"
        );
    }
    let checked = Job {
        validation: Validation { checks_only: true, ..sized(50, next_day).validation.clone() },
        ..sized(50, next_day)
    };
    assert_eq!(store.create_job(&checked, &definition(), None).await.unwrap(), Created::New);
    let checked = job_after(store.finish(checked.job_id, &finish(Status::Completed, 9)).await.unwrap());
    let job = Job {
        validation: Validation { started_from: Some(checked.job_id), ..sized(50, next_day).validation.clone() },
        ..sized(50, next_day)
    };
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::OverQuota(QuotaExceeded::DailyBytes(100)));
    assert_eq!(store.job(job.job_id).await.unwrap(), None, "nothing is written");
}
