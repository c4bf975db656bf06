//! A job's transitions: successful once, recognized when repeated, refused after another one.

use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::ids::JobId;
use longshore_domain::job::{DatasetSource, ItemFile, Job, JobError, Source, Stage, Status, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::Store;

use crate::fixtures::{accepted, at, definition, finish, job_after, manifest, plan, split, stop, waiting_job};

on_both_stores! {
    a_job_begins_once,
    a_group_is_committed_with_its_manifest_and_cursor,
    a_group_of_another_splitter_is_refused,
    a_group_of_a_walk_moves_the_place_and_names_its_item_file,
    a_group_after_a_stop_is_refused,
    the_split_ends_once,
    a_job_stops_once,
    a_conditional_stop_or_delete_of_a_changed_job_is_refused,
    a_job_finishes_once_per_generation,
    a_stopping_job_cannot_complete,
    a_resend_is_counted_once,
    progress_of_a_split_resets_the_resends,
    a_paused_split_only_resets_the_resends,
    an_absent_job_refuses_everything,
}

/// Returns the job of a successful transition, after checking that it equals the stored job.
async fn stored_after(store: &impl Store, transition: Transition) -> Job {
    let job = job_after(transition);
    assert_eq!(store.job(job.job_id).await.unwrap().as_ref(), Some(&job));
    job
}

async fn a_job_begins_once(store: impl Store) {
    let before = accepted(&store).await;
    let job = stored_after(&store, store.begin(before.job_id, 0, at(1)).await.unwrap()).await;
    let mut expected = before.clone();
    expected.begin(0, at(1));
    assert_eq!(job, expected);
    assert_eq!(store.begin(before.job_id, 0, at(2)).await.unwrap(), Transition::Refused);
    assert_eq!(
        job_after(store.begin(before.job_id, 0, at(1)).await.unwrap()),
        expected,
        "a repeated call returns the same job"
    );
}

async fn a_group_is_committed_with_its_manifest_and_cursor(store: impl Store) {
    let before = split(&store, 1).await;
    let committed = stored_after(&store, store.commit_group(&before, &plan(1), at(9)).await.unwrap()).await;
    let mut expected = before.clone();
    expected.commit_group(&plan(1), at(9));
    assert_eq!(committed, expected);
    assert_eq!((committed.split.item_count, committed.split.sent_groups, committed.split.offset), (40, 1, 4000));
    assert_eq!(store.manifest(before.job_id, 1).await.unwrap(), Some(manifest(1)));
    let state = store.chunk_state(before.job_id, 1).await.unwrap().unwrap();
    assert_eq!((state.group.number, state.group.items, state.group.bytes), (1, 20, 2000));
    assert_eq!((state.group.counts, state.group.open, state.group.progressed_at), (Counts::default(), true, at(9)));
    assert_eq!(state.job, committed);
    let repeated = store.commit_group(&before, &plan(1), at(9)).await.unwrap();
    assert_eq!(job_after(repeated), committed, "a repeated call returns the same job");
}

async fn a_group_of_another_splitter_is_refused(store: impl Store) {
    let job = split(&store, 2).await;
    let same_chunks_later = store.commit_group(&job, &plan(1), at(77)).await.unwrap();
    assert_eq!(same_chunks_later, Transition::Refused);
    let an_old_one = store.commit_group(&job, &plan(0), at(2)).await.unwrap();
    assert_eq!(an_old_one, Transition::Refused);
    let one_too_far = store.commit_group(&job, &plan(3), at(9)).await.unwrap();
    assert_eq!(one_too_far, Transition::Refused);
    let from_elsewhere = GroupPlan::from_file(0, manifest(2), 2000..6000);
    assert_eq!(store.commit_group(&job, &from_elsewhere, at(9)).await.unwrap(), Transition::Refused);
    assert_eq!(store.progress(job.job_id).await.unwrap().unwrap().groups.len(), 2);
}

async fn a_group_of_a_walk_moves_the_place_and_names_its_item_file(store: impl Store) {
    let source = Source::Dataset(DatasetSource { dataset: "people".into(), updated_since: Some(at(3)) });
    let job = Job { source: Some(source), ..waiting_job() };
    store.create_job(&job, &definition(), None).await.unwrap();
    let mut job = job_after(store.begin(job.job_id, 0, at(1)).await.unwrap());
    let walked = |group: u32, from: Option<&str>, upto: &str, name: &str| {
        let keys = Some(ItemFile { name: name.into(), etag: "\"e\"".into() });
        let chunks = manifest(group).chunks.into_iter().map(|chunk| ChunkPlan { keys: keys.clone(), ..chunk });
        let manifest = Manifest { group, chunks: chunks.collect() };
        GroupPlan::from_walk(0, manifest, from.map(str::to_owned), upto.to_owned())
    };
    let from_elsewhere = walked(0, Some("a"), "b", "k0");
    assert_eq!(store.commit_group(&job, &from_elsewhere, at(2)).await.unwrap(), Transition::Refused);
    for (group, from, upto) in [(0, None, "k\u{fc}"), (1, Some("k\u{fc}"), "z")] {
        let plan = walked(group, from, upto, "k1");
        let committed = stored_after(&store, store.commit_group(&job, &plan, at(5)).await.unwrap()).await;
        job.commit_group(&plan, at(5));
        assert_eq!((&committed, job.split.place.as_deref()), (&job, Some(upto)));
        assert_eq!(store.manifest(job.job_id, group).await.unwrap(), Some(plan.manifest.clone()));
        assert_eq!(job_after(store.commit_group(&job, &plan, at(5)).await.unwrap()), job, "repeated");
        let other_attempt = walked(group, from, upto, "k2");
        assert_eq!(store.commit_group(&job, &other_attempt, at(5)).await.unwrap(), Transition::Refused);
    }
    let overtaken = walked(2, Some("k\u{fc}"), "zz", "k3");
    assert_eq!(store.commit_group(&job, &overtaken, at(6)).await.unwrap(), Transition::Refused);
    let unplaced = walked(2, None, "zz", "k3");
    assert_eq!(store.commit_group(&job, &unplaced, at(6)).await.unwrap(), Transition::Refused);
    assert_eq!(job.split.item_count, 40);
}

async fn a_group_after_a_stop_is_refused(store: impl Store) {
    let job = split(&store, 1).await;
    job_after(store.stop(job.job_id, 0, &stop(5)).await.unwrap());
    assert_eq!(store.commit_group(&job, &plan(1), at(6)).await.unwrap(), Transition::Refused);
    assert_eq!(store.end_split(&job, 1, &[], at(7)).await.unwrap(), Transition::Refused);
    assert_eq!(store.manifest(job.job_id, 1).await.unwrap(), None);
}

async fn the_split_ends_once(store: impl Store) {
    let before = split(&store, 2).await;
    let (id, issues) = (before.job_id, [JobError::new("unknown_column", "The column x is ignored")]);
    assert_eq!(store.end_split(&before, 1, &issues, at(8)).await.unwrap(), Transition::Refused, "a group is missing");
    let job = stored_after(&store, store.end_split(&before, 2, &issues, at(9)).await.unwrap()).await;
    let mut expected = before.clone();
    expected.end_split(0, 2, &issues, at(9));
    assert_eq!(job, expected);
    assert_eq!(
        job_after(store.end_split(&before, 2, &issues, at(9)).await.unwrap()),
        job,
        "a repeated call returns the same job"
    );
    assert_eq!(store.end_split(&before, 2, &issues, at(10)).await.unwrap(), Transition::Refused);
    assert_eq!(store.job(id).await.unwrap().unwrap().issues, issues);
}

async fn a_job_stops_once(store: impl Store) {
    for begun in [false, true] {
        let before = if begun { split(&store, 1).await } else { accepted(&store).await };
        let job = stored_after(&store, store.stop(before.job_id, 0, &stop(5)).await.unwrap()).await;
        assert_eq!((job.status, job.stage, &job.stop), (before.status, Stage::Stopping, &Some(stop(5))));
        assert_eq!(
            job_after(store.stop(before.job_id, 0, &stop(5)).await.unwrap()),
            job,
            "a repeated call returns the same job"
        );
        assert_eq!(store.stop(before.job_id, 0, &stop(6)).await.unwrap(), Transition::Refused);
        assert_eq!(store.begin(before.job_id, 0, at(7)).await.unwrap(), Transition::Refused);
        job_after(store.finish(before.job_id, &finish(Status::Canceled, 8)).await.unwrap());
        assert_eq!(store.stop(before.job_id, 0, &stop(9)).await.unwrap(), Transition::Refused);
    }
}

async fn a_conditional_stop_or_delete_of_a_changed_job_is_refused(store: impl Store) {
    let accepted_job = accepted(&store).await;
    let begun = job_after(store.begin(accepted_job.job_id, 0, at(1)).await.unwrap());
    assert_eq!(store.stop_if_unchanged(&accepted_job, &stop(2)).await.unwrap(), Transition::Refused);
    assert_eq!(store.delete_if_unchanged(&accepted_job, at(2)).await.unwrap(), Transition::Refused);
    assert_eq!(store.job(accepted_job.job_id).await.unwrap(), Some(begun.clone()));
    let stopped = stored_after(&store, store.stop_if_unchanged(&begun, &stop(3)).await.unwrap()).await;
    assert_eq!(
        job_after(store.stop_if_unchanged(&begun, &stop(3)).await.unwrap()),
        stopped,
        "a repeated call returns the same job"
    );
    assert_eq!(store.stop_if_unchanged(&begun, &stop(4)).await.unwrap(), Transition::Refused);
    assert_eq!(
        store.stop_if_unchanged(&stopped, &stop(5)).await.unwrap(),
        Transition::Refused,
        "the job is already stopping"
    );
    let deleted = stored_after(&store, store.delete_if_unchanged(&stopped, at(6)).await.unwrap()).await;
    assert_eq!(
        job_after(store.delete_if_unchanged(&stopped, at(6)).await.unwrap()),
        deleted,
        "a repeated call returns the same job"
    );
    assert_eq!(store.delete_if_unchanged(&deleted, at(7)).await.unwrap(), Transition::Refused);
}

async fn a_job_finishes_once_per_generation(store: impl Store) {
    let before = split(&store, 1).await;
    job_after(store.end_split(&before, 1, &[], at(4)).await.unwrap());
    let mut request = finish(Status::Completed, 5);
    request.generation = 1;
    assert_eq!(store.finish(before.job_id, &request).await.unwrap(), Transition::Refused, "another generation");
    request.generation = 0;
    request.error = Some(JobError::new("some", "error"));
    let job = stored_after(&store, store.finish(before.job_id, &request).await.unwrap()).await;
    assert_eq!((job.status, job.stage, job.completion.totals), (Status::Completed, Stage::Done, Some(request.totals)));
    assert_eq!((&job.error, job.times.finished_at, job.times.updated_at), (&request.error, Some(at(5)), at(5)));
    assert_eq!(
        job_after(store.finish(before.job_id, &request).await.unwrap()),
        job,
        "a repeated call returns the same job"
    );
    for (status, millis) in [(Status::Completed, 6), (Status::Failed, 5), (Status::Canceled, 7)] {
        assert_eq!(store.finish(before.job_id, &finish(status, millis)).await.unwrap(), Transition::Refused);
    }
    assert_eq!(store.job(before.job_id).await.unwrap(), Some(job));
}

async fn a_stopping_job_cannot_complete(store: impl Store) {
    let job = split(&store, 1).await;
    job_after(store.stop(job.job_id, 0, &stop(5)).await.unwrap());
    assert_eq!(store.finish(job.job_id, &finish(Status::Completed, 6)).await.unwrap(), Transition::Refused);
    let ended = stored_after(&store, store.finish(job.job_id, &finish(Status::Failed, 7)).await.unwrap()).await;
    assert_eq!(ended.status, Status::Failed);
}

async fn a_resend_is_counted_once(store: impl Store) {
    let job = accepted(&store).await;
    let counted = stored_after(&store, store.count_resend(&job, at(5)).await.unwrap()).await;
    assert_eq!((counted.resends, counted.times.updated_at), (1, at(5)));
    assert_eq!(store.count_resend(&job, at(6)).await.unwrap(), Transition::Refused);
    let before = Job { generation: counted.generation + 1, ..counted.clone() };
    assert_eq!(store.count_resend(&before, at(6)).await.unwrap(), Transition::Refused, "another generation");
    let twice = job_after(store.count_resend(&counted, at(7)).await.unwrap());
    assert_eq!(twice.resends, 2);
    let ended = job_after(store.finish(job.job_id, &finish(Status::Failed, 8)).await.unwrap());
    assert_eq!(store.count_resend(&twice, at(9)).await.unwrap(), Transition::Refused, "the job has ended");
    assert_eq!(store.job(job.job_id).await.unwrap(), Some(ended));
}

async fn progress_of_a_split_resets_the_resends(store: impl Store) {
    let job = split(&store, 1).await;
    let counted = job_after(store.count_resend(&job, at(5)).await.unwrap());
    let job = stored_after(&store, store.commit_group(&counted, &plan(1), at(6)).await.unwrap()).await;
    assert_eq!((counted.resends, job.resends), (1, 0));
    let counted = job_after(store.count_resend(&job, at(7)).await.unwrap());
    let job = stored_after(&store, store.end_split(&counted, 2, &[], at(8)).await.unwrap()).await;
    assert_eq!((counted.resends, job.resends), (1, 0));
}

async fn a_paused_split_only_resets_the_resends(store: impl Store) {
    let queued = accepted(&store).await;
    for job in [queued, split(&store, 1).await] {
        let id = job.job_id;
        let counted = job_after(store.count_resend(&job, at(5)).await.unwrap());
        store.reset_split_resends(id, counted.generation + 1).await.unwrap();
        assert_eq!(store.job(id).await.unwrap().unwrap(), counted, "another generation");
        for _ in 0..2 {
            store.reset_split_resends(id, counted.generation).await.unwrap();
            assert_eq!(store.job(id).await.unwrap().unwrap(), Job { resends: 0, ..counted.clone() });
        }
        let stopping = job_after(store.stop(id, 0, &stop(6)).await.unwrap());
        let counted = job_after(store.count_resend(&stopping, at(7)).await.unwrap());
        store.reset_split_resends(id, 0).await.unwrap();
        assert_eq!(store.job(id).await.unwrap().unwrap(), counted, "its complete message was sent again");
    }
    store.reset_split_resends(JobId::generate(), 0).await.unwrap();
}

async fn an_absent_job_refuses_everything(store: impl Store) {
    let absent = waiting_job();
    let id: JobId = absent.job_id;
    assert_eq!(store.begin(id, 0, at(1)).await.unwrap(), Transition::Refused);
    assert_eq!(store.commit_group(&absent, &plan(0), at(1)).await.unwrap(), Transition::Refused);
    assert_eq!(store.end_split(&absent, 0, &[], at(1)).await.unwrap(), Transition::Refused);
    assert_eq!(store.stop(id, 0, &stop(1)).await.unwrap(), Transition::Refused);
    assert_eq!(store.finish(id, &finish(Status::Failed, 1)).await.unwrap(), Transition::Refused);
    assert_eq!(store.count_resend(&absent, at(1)).await.unwrap(), Transition::Refused);
    assert_eq!(store.group_done(id, 0, at(1)).await.unwrap(), Transition::Refused);
    assert_eq!(store.job(id).await.unwrap(), None);
    assert_eq!(store.manifest(id, 0).await.unwrap(), None);
}
