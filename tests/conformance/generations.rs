//! A retried job: the new generation's first writes, and the results of the old generation's late calls.

use std::collections::BTreeMap;

use longshore_domain::group::{GroupPlan, Replanned, Source};
use longshore_domain::ids::{ChunkId, FileGuid, JobId};
use longshore_domain::job::{CarriedOver, Finish, Job, Reopen, SourceFile, Stage, Status, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{Removal, Reopened, Store};

use crate::fixtures::{at, cursor, finish, made, manifest, opened, plan, split, stop, unfinished, waiting_job};

on_both_stores! {
    a_job_that_ended_is_opened_again_once,
    a_job_that_has_not_ended_is_not_opened_again,
    an_earlier_generation_writes_nothing,
    a_group_that_is_recorded_again_begins_with_its_cursors_and_failures,
    a_retry_has_its_own_corrected_file_and_its_uploads_stay_until_the_job_goes,
}

const REOPEN: Reopen =
    Reopen { generation: 0, at: at(50), deadline_at: at(99_000), corrected: None, selected_chunks: None };

/// A job with two groups that ended with seven succeeded, two failed and one skipped item.
async fn ended(store: &impl Store) -> Job {
    let id = split(store, 2).await.job_id;
    made(store.finish(id, &finish(Status::Failed, 9)).await.unwrap())
}

async fn a_job_that_ended_is_opened_again_once(store: impl Store) {
    let before = ended(&store).await;
    assert!(!unfinished(&store).await.contains(&before.job_id));
    let next = opened(store.reopen(&before, &REOPEN).await.unwrap());
    let mut expected = before.clone();
    expected.reopen(&REOPEN);
    assert_eq!((&next, store.job(before.job_id).await.unwrap().as_ref()), (&expected, Some(&expected)));
    let counts = Counts { succeeded: 7, failed: 0, skipped: 1 };
    let replanned = ChunkId::default();
    assert_eq!(
        next.retry.carried_over,
        CarriedOver { counts, groups: 2, split_ended: false, replanned, retried_groups: 2 }
    );
    assert!(unfinished(&store).await.contains(&before.job_id));
    assert_eq!(opened(store.reopen(&before, &REOPEN).await.unwrap()), next, "the same call again is its own");
    let later = Reopen { at: at(51), ..REOPEN };
    assert_eq!(store.reopen(&before, &later).await.unwrap(), Reopened::Refused);
}

/// A corrected file as source.
fn corrected(upload: FileGuid) -> SourceFile {
    let source = waiting_job().source.unwrap();
    SourceFile { key: format!("uploads/default/{upload}"), name: "failed.csv".into(), ..source }
}

async fn a_retry_has_its_own_corrected_file_and_its_uploads_stay_until_the_job_goes(store: impl Store + Removal) {
    let before = ended(&store).await;
    let [first, second, other] = [FileGuid::generate(), FileGuid::generate(), FileGuid::generate()];
    let request = |generation, upload| Reopen { generation, corrected: Some(corrected(upload)), ..REOPEN };
    let next = opened(store.reopen(&before, &request(0, first)).await.unwrap());
    let mut expected = before.clone();
    expected.reopen(&request(0, first));
    assert_eq!((&next, store.job(before.job_id).await.unwrap().as_ref()), (&expected, Some(&expected)));
    assert_eq!(
        opened(store.reopen(&before, &request(0, first)).await.unwrap()),
        next,
        "the same call again is its own"
    );
    assert_eq!(store.reopen(&before, &request(0, other)).await.unwrap(), Reopened::Refused, "with another file");
    assert!(store.release_upload(JobId::generate(), other).await.unwrap(), "what was refused uses nothing");
    made(store.finish(before.job_id, &Finish { generation: 1, ..finish(Status::Failed, 60) }).await.unwrap());
    let again = store.job(before.job_id).await.unwrap().unwrap();
    let next = opened(store.reopen(&again, &request(1, second)).await.unwrap());
    assert_eq!(
        (next.retry.corrected.clone(), &next.retry.used_corrections),
        (Some(corrected(second)), &[first].into())
    );
    let mut plain =
        made(store.finish(before.job_id, &Finish { generation: 2, ..finish(Status::Failed, 70) }).await.unwrap());
    plain = opened(store.reopen(&plain, &Reopen { generation: 2, ..REOPEN }).await.unwrap());
    assert_eq!((plain.retry.corrected, plain.retry.used_corrections), (None, [first, second].into()));
    assert!(!store.release_upload(JobId::generate(), first).await.unwrap(), "another job leaves it to this one");
    for upload in [first, second] {
        assert!(store.release_upload(before.job_id, upload).await.unwrap());
    }
}

async fn a_job_that_has_not_ended_is_not_opened_again(store: impl Store) {
    let job = split(&store, 1).await;
    assert_eq!(store.reopen(&job, &REOPEN).await.unwrap(), Reopened::Refused);
    // A job that a caller wrongly takes for ended cannot be opened either.
    let believed = Job { status: Status::Failed, stage: Stage::Done, ..job.clone() };
    assert_eq!(store.reopen(&believed, &REOPEN).await.unwrap(), Reopened::Refused);
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(job));
}

async fn an_earlier_generation_writes_nothing(store: impl Store) {
    let before = ended(&store).await;
    opened(store.reopen(&before, &REOPEN).await.unwrap());
    let begun = made(store.begin(before.job_id, at(60)).await.unwrap());
    assert_eq!(store.commit_group(&before, &plan(2), at(61)).await.unwrap(), Transition::Refused);
    assert_eq!(store.end_split(&before, 2, &[], at(62)).await.unwrap(), Transition::Refused);
    assert_eq!(store.stop(before.job_id, 0, &stop(63)).await.unwrap(), Transition::Refused);
    assert_eq!(store.finish(before.job_id, &finish(Status::Failed, 64)).await.unwrap(), Transition::Refused);
    assert_eq!(store.job(before.job_id).await.unwrap(), Some(begun));
}

async fn a_group_that_is_recorded_again_begins_with_its_cursors_and_failures(store: impl Store) {
    let before = ended(&store).await;
    opened(store.reopen(&before, &REOPEN).await.unwrap());
    let job = made(store.begin(before.job_id, at(60)).await.unwrap());
    let replanned = Replanned { cursor: cursor("filed1", 0), failed: 3, bytes: 70 };
    let plan = GroupPlan {
        generation: 1,
        manifest: manifest(2),
        replanned: BTreeMap::from([(1, replanned.clone())]),
        source: Source::Replanned { from: before.retry.replanned, upto: ChunkId { group: 1, chunk: 1 } },
    };
    let after = made(store.commit_group(&job, &plan, at(61)).await.unwrap());
    assert_eq!((after.retry.replanned, after.split.groups), (ChunkId { group: 1, chunk: 1 }, 3));
    assert_eq!((after.split.item_count, after.split.offset), (before.split.item_count, before.split.offset));
    let group = store.chunk_state(job.job_id, 2).await.unwrap().unwrap().group;
    assert_eq!(group.cursors, BTreeMap::from([(1, replanned.cursor)]));
    assert_eq!(group.counts, Counts { failed: 3, ..Counts::default() });
    assert_eq!(made(store.commit_group(&job, &plan, at(61)).await.unwrap()), after, "the same call again is its own");
    let overtaken = GroupPlan { manifest: manifest(3), replanned: BTreeMap::new(), ..plan };
    let answer = store.commit_group(&after, &overtaken, at(62)).await.unwrap();
    assert_eq!(answer, Transition::Refused, "another has filed these chunks again");
}
