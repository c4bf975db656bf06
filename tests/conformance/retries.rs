//! Jobs from ended jobs: retries, and imports started from a validation job.
//!
//! A retry: the new generation's first writes, and the results of the old generation's late calls. A start: at most one
//! import, and only while the validation job exists.

use std::collections::BTreeMap;

use futures::future::join_all;
use longshore_domain::group::{GroupPlan, Replanned, SplitStep};
use longshore_domain::ids::{ChunkId, FileGuid, JobId};
use longshore_domain::job::{
    CarriedOver, Finish, Job, JobTimes, Reopen, Selection, Source, SourceFile, Stage, Status, Transition, Validation,
};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Removal, Reopened, Started, Store, UploadRelease};

use crate::fixtures::{
    at, cursor, definition, end, finish, job_after, manifest, plan, reopened_job, split, stop, unfinished, waiting_job,
};

on_both_stores! {
    an_ended_job_is_reopened_once,
    an_unfinished_job_is_not_reopened,
    writes_of_an_earlier_generation_are_refused,
    a_replanned_group_begins_with_its_cursors_and_failures,
    a_corrected_file_belongs_to_its_retry_and_stays_until_the_job_is_removed,
    a_job_is_started_once,
    concurrent_starts_create_one_job,
    only_a_completed_validation_can_be_started,
    the_upload_is_removed_with_the_last_of_the_two_jobs,
}

const REOPEN: Reopen =
    Reopen { generation: 0, at: at(50), deadline_at: at(99_000), selection: Selection::All, registration: None };

/// A job with two groups that ended with seven succeeded, two failed and one skipped item.
async fn ended(store: &impl Store) -> Job {
    let id = split(store, 2).await.job_id;
    end(store, id, &finish(Status::Failed, 9)).await
}

async fn an_ended_job_is_reopened_once(store: impl Store) {
    let ended_job = ended(&store).await;
    assert!(!unfinished(&store).await.contains(&ended_job.job_id));
    let next = reopened_job(store.reopen(&ended_job, &REOPEN).await.unwrap());
    let mut expected = ended_job.clone();
    expected.reopen(&REOPEN);
    assert_eq!((&next, store.job(ended_job.job_id).await.unwrap().as_ref()), (&expected, Some(&expected)));
    let counts = Counts { succeeded: 7, failed: 0, skipped: 1 };
    let replanned = ChunkId::default();
    assert_eq!(
        next.retry.carried_over,
        CarriedOver { counts, groups: 2, replanned, retried_groups: 2, ..CarriedOver::default() }
    );
    assert!(unfinished(&store).await.contains(&ended_job.job_id));
    assert_eq!(
        reopened_job(store.reopen(&ended_job, &REOPEN).await.unwrap()),
        next,
        "a repeated call returns the same job"
    );
    let later = Reopen { at: at(51), ..REOPEN };
    assert_eq!(store.reopen(&ended_job, &later).await.unwrap(), Reopened::Refused);
}

/// A corrected file as source.
fn corrected(upload: FileGuid) -> SourceFile {
    let source = waiting_job().file().unwrap().clone();
    SourceFile { key: format!("uploads/default/{upload}"), name: "failed.csv".into(), ..source }
}

async fn a_corrected_file_belongs_to_its_retry_and_stays_until_the_job_is_removed(store: impl Store + Removal) {
    let ended_job = ended(&store).await;
    let [first, second, other] = [FileGuid::generate(), FileGuid::generate(), FileGuid::generate()];
    let request =
        |generation, upload| Reopen { generation, selection: Selection::Corrected(corrected(upload)), ..REOPEN };
    let next = reopened_job(store.reopen(&ended_job, &request(0, first)).await.unwrap());
    let mut expected = ended_job.clone();
    expected.reopen(&request(0, first));
    assert_eq!((&next, store.job(ended_job.job_id).await.unwrap().as_ref()), (&expected, Some(&expected)));
    assert_eq!(
        reopened_job(store.reopen(&ended_job, &request(0, first)).await.unwrap()),
        next,
        "a repeated call returns the same job"
    );
    assert_eq!(store.reopen(&ended_job, &request(0, other)).await.unwrap(), Reopened::Refused, "with another file");
    assert_eq!(
        store.release_upload(JobId::generate(), other).await.unwrap(),
        UploadRelease::RemoveFile,
        "a refused retry does not use its upload"
    );
    job_after(store.finish(ended_job.job_id, &Finish { generation: 1, ..finish(Status::Failed, 60) }).await.unwrap());
    let ended_again = store.job(ended_job.job_id).await.unwrap().unwrap();
    let next = reopened_job(store.reopen(&ended_again, &request(1, second)).await.unwrap());
    assert_eq!(
        (next.retry.selection.corrected().cloned(), &next.retry.used_corrections),
        (Some(corrected(second)), &[first].into())
    );
    let mut plain = job_after(
        store.finish(ended_job.job_id, &Finish { generation: 2, ..finish(Status::Failed, 70) }).await.unwrap(),
    );
    plain = reopened_job(store.reopen(&plain, &Reopen { generation: 2, ..REOPEN }).await.unwrap());
    assert_eq!((plain.retry.selection, plain.retry.used_corrections), (Selection::All, [first, second].into()));
    assert_eq!(
        store.release_upload(JobId::generate(), first).await.unwrap(),
        UploadRelease::KeepFile,
        "another job does not release it"
    );
    for upload in [first, second] {
        assert_eq!(store.release_upload(ended_job.job_id, upload).await.unwrap(), UploadRelease::RemoveFile);
    }
}

async fn an_unfinished_job_is_not_reopened(store: impl Store) {
    let job = split(&store, 1).await;
    assert_eq!(store.reopen(&job, &REOPEN).await.unwrap(), Reopened::Refused);
    // A job that a caller wrongly considers ended is not reopened either.
    let outdated = Job { status: Status::Failed, stage: Stage::Done, ..job.clone() };
    assert_eq!(store.reopen(&outdated, &REOPEN).await.unwrap(), Reopened::Refused);
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(job));
}

async fn writes_of_an_earlier_generation_are_refused(store: impl Store) {
    let ended_job = ended(&store).await;
    reopened_job(store.reopen(&ended_job, &REOPEN).await.unwrap());
    let begun = job_after(store.begin(ended_job.job_id, 1, at(60)).await.unwrap());
    assert_eq!(store.commit_group(&ended_job, &plan(2), at(61)).await.unwrap(), Transition::Refused);
    assert_eq!(store.end_split(&ended_job, 2, &[], at(62)).await.unwrap(), Transition::Refused);
    assert_eq!(store.stop(ended_job.job_id, 0, &stop(63)).await.unwrap(), Transition::Refused);
    assert_eq!(store.finish(ended_job.job_id, &finish(Status::Failed, 64)).await.unwrap(), Transition::Refused);
    assert_eq!(store.job(ended_job.job_id).await.unwrap(), Some(begun));
}

async fn a_replanned_group_begins_with_its_cursors_and_failures(store: impl Store) {
    let ended_job = ended(&store).await;
    reopened_job(store.reopen(&ended_job, &REOPEN).await.unwrap());
    let job = job_after(store.begin(ended_job.job_id, 1, at(60)).await.unwrap());
    let replanned = Replanned { cursor: cursor("filed1", 0), failed: 3, bytes: 70 };
    let plan = GroupPlan {
        generation: 1,
        manifest: manifest(2),
        replanned: BTreeMap::from([(1, replanned.clone())]),
        step: SplitStep::Replanned { from: ended_job.retry.replanned, upto: ChunkId { group: 1, chunk: 1 } },
        reading: None,
        walk_reads: 0,
    };
    let after = job_after(store.commit_group(&job, &plan, at(61)).await.unwrap());
    assert_eq!((after.retry.replanned, after.split.groups), (ChunkId { group: 1, chunk: 1 }, 3));
    assert_eq!((after.split.item_count, after.split.offset), (ended_job.split.item_count, ended_job.split.offset));
    let group = store.chunk_state(job.job_id, 2).await.unwrap().unwrap().group;
    assert_eq!(group.cursors, BTreeMap::from([(1, replanned.cursor)]));
    assert_eq!(group.counts, Counts { failed: 3, ..Counts::default() });
    assert_eq!(
        job_after(store.commit_group(&job, &plan, at(61)).await.unwrap()),
        after,
        "a repeated call returns the same job"
    );
    let overtaken = GroupPlan { manifest: manifest(3), replanned: BTreeMap::new(), ..plan };
    let answer = store.commit_group(&after, &overtaken, at(62)).await.unwrap();
    assert_eq!(answer, Transition::Refused, "another create worker has replanned these chunks");
}

/// A validated job over its own upload.
async fn checked(store: &impl Store) -> Job {
    let mut job =
        Job { validation: Validation { checks_only: true, ..waiting_job().validation.clone() }, ..waiting_job() };
    if let Some(Source::File(source)) = &mut job.source {
        source.key = format!("uploads/default/{}", FileGuid::generate());
    }
    store.create_job(&job, &definition(), None).await.unwrap();
    end(store, job.job_id, &finish(Status::Completed, 9)).await
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
    let reopen =
        Reopen { generation: 0, at: at(10), deadline_at: at(99), selection: Selection::All, registration: None };
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
