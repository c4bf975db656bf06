//! An import started from a validated job: at most one, and only while the validated job exists.

use futures::future::join_all;
use longshore_domain::ids::{FileGuid, JobId};
use longshore_domain::job::{Job, JobTimes, Reopen, Status, Validation};
use longshore_domain::ports::{Removal, Reopened, Started, Store, UploadRelease};

use crate::fixtures::{at, definition, finish, job_after, unfinished, waiting_job};

on_both_stores! {
    a_job_is_started_once,
    concurrent_starts_create_one_job,
    only_a_completed_validation_can_be_started,
    the_upload_is_removed_with_the_last_of_the_two_jobs,
}

/// A validated job over its own upload.
async fn checked(store: &impl Store) -> Job {
    let mut job =
        Job { validation: Validation { checks_only: true, ..waiting_job().validation.clone() }, ..waiting_job() };
    if let Some(source) = &mut job.source {
        source.key = format!("uploads/default/{}", FileGuid::generate());
    }
    store.create_job(&job, &definition(), None).await.unwrap();
    job_after(store.finish(job.job_id, &finish(Status::Completed, 9)).await.unwrap())
}

fn next(from: &Job) -> Job {
    let job = Job {
        source: from.source.clone(),
        validation: Validation { started_from: Some(from.job_id), ..waiting_job().validation.clone() },
        ..waiting_job()
    };
    Job { times: JobTimes { created_at: at(20), ..job.times.clone() }, ..job }
}

async fn a_job_is_started_once(store: impl Store + Removal) {
    let from = checked(&store).await;
    let (first, second) = (next(&from), next(&from));
    for _ in 0..2 {
        assert_eq!(store.start_job(&first, &definition()).await.unwrap(), Started::New);
    }
    assert_eq!(store.start_job(&second, &definition()).await.unwrap(), Started::Before(first.job_id));
    assert_eq!(store.job(first.job_id).await.unwrap().as_ref(), Some(&first));
    assert_eq!(store.definition(first.job_id).await.unwrap(), Some(definition()));
    assert_eq!(store.job(second.job_id).await.unwrap(), None);
    let started = Job {
        validation: Validation { started_as: Some(first.job_id), ..from.validation.clone() },
        times: JobTimes { updated_at: at(20), ..from.times.clone() },
        ..from.clone()
    };
    assert_eq!(store.job(from.job_id).await.unwrap(), Some(started), "no other member changes");
    assert_eq!(unfinished(&store).await, [first.job_id]);
}

async fn concurrent_starts_create_one_job(store: impl Store + Removal) {
    let from = checked(&store).await;
    let (jobs, definition) = ((0..8).map(|_| next(&from)).collect::<Vec<_>>(), definition());
    let answer = join_all(jobs.iter().map(|job| store.start_job(job, &definition))).await;
    let answer: Vec<_> = answer.into_iter().map(|answer| answer.unwrap()).collect();
    let started = store.job(from.job_id).await.unwrap().unwrap().validation.started_as.unwrap();
    for (job, answer) in jobs.iter().zip(answer) {
        let expected = if job.job_id == started { Started::New } else { Started::Before(started) };
        assert_eq!((answer, store.job(job.job_id).await.unwrap().is_some()), (expected, job.job_id == started));
    }
}

async fn only_a_completed_validation_can_be_started(store: impl Store + Removal) {
    let waiting =
        Job { validation: Validation { checks_only: true, ..waiting_job().validation.clone() }, ..waiting_job() };
    store.create_job(&waiting, &definition(), None).await.unwrap();
    let import = waiting_job();
    store.create_job(&import, &definition(), None).await.unwrap();
    job_after(store.finish(import.job_id, &finish(Status::Completed, 9)).await.unwrap());
    let [deleted, opened] = [checked(&store).await, checked(&store).await];
    job_after(store.delete(deleted.job_id, at(10)).await.unwrap());
    let reopen = Reopen { generation: 0, at: at(10), deadline_at: at(99), corrected: None, selected_chunks: None };
    assert!(matches!(store.reopen(&opened, &reopen).await.unwrap(), Reopened::Made(_)));
    let absent = waiting_job();
    for from in [&waiting, &import, &deleted, &opened, &absent] {
        let job = next(from);
        assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::Refused, "{from:?}");
        assert_eq!(store.job(job.job_id).await.unwrap(), None);
    }
    assert_eq!(
        store.start_job(&waiting_job(), &definition()).await.unwrap(),
        Started::Refused,
        "a job without a validated job"
    );
}

async fn the_upload_is_removed_with_the_last_of_the_two_jobs(store: impl Store + Removal) {
    let from = checked(&store).await;
    let job = next(&from);
    assert_eq!(store.start_job(&job, &definition()).await.unwrap(), Started::New);
    let upload = *job.uploads().first().unwrap();
    assert_eq!(store.release_upload(JobId::generate(), upload).await.unwrap(), UploadRelease::KeepFile);
    assert_eq!(store.release_upload(from.job_id, upload).await.unwrap(), UploadRelease::KeepFile);
    assert_eq!(store.release_upload(job.job_id, upload).await.unwrap(), UploadRelease::RemoveFile);
}
