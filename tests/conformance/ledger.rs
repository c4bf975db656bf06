//! The ledger of groups: a commit counts once, regardless of its sender, of repetitions and of concurrent writers.
//!
//! With several writers, as in production, counts stay exact, and each transition happens once.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome, Group};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Status, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{JobProgress, ResendCount, Store};
use longshore_domain::random::nonce;

use crate::fixtures::{at, commit, cursor, finish, job_after, plan, split, stop, waiting_job};

on_both_stores! {
    a_commit_adds_its_counts_and_moves_the_cursor,
    a_repeated_commit_counts_once,
    only_one_of_two_workers_commits_from_the_same_cursor,
    a_closed_group_accepts_only_repeated_commits,
    a_commit_to_an_absent_group_stores_nothing,
    a_group_resend_counts_once_and_is_reset_by_progress,
    a_paused_chunk_only_resets_the_resends_of_its_group,
    a_done_group_is_recorded_once,
    progress_lists_every_group_in_order,
    two_workers_on_one_chunk_count_every_item_once,
    concurrent_chunks_of_a_group_keep_all_counts,
    a_splitter_and_workers_write_one_job_concurrently,
    either_cancel_or_completion_wins,
}

fn committed(outcome: CommitOutcome) -> Group {
    match outcome {
        CommitOutcome::Committed(group) => *group,
        other => panic!("unexpected outcome: {other:?}"),
    }
}

async fn a_commit_adds_its_counts_and_moves_the_cursor(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    let mut expected = store.chunk_state(id, 0).await.unwrap().unwrap().group;
    let first = commit(0, None, cursor("a1", 5), 4);
    let second = commit(1, None, Cursor { finished: true, ..cursor("b1", 0) }, 9);
    let third = Commit { at: at(600), ..commit(0, Some(cursor("a1", 5)), cursor("a2", 10), 4) };
    for request in [&first, &second, &third] {
        let group = committed(store.commit(id, 0, request).await.unwrap());
        assert_eq!(CommitOutcome::Committed(Box::new(group)), expected.commit(request));
    }
    let stored = store.chunk_state(id, 0).await.unwrap().unwrap().group;
    assert_eq!(stored, expected);
    assert_eq!(stored.counts, Counts { succeeded: 17, failed: 3, skipped: 0 });
    assert!(stored.is_done());
}

async fn a_repeated_commit_counts_once(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    let request = commit(0, None, cursor("a1", 10), 9);
    let first = committed(store.commit(id, 0, &request).await.unwrap());
    let repeated = committed(store.commit(id, 0, &request).await.unwrap());
    assert_eq!((first.counts.done(), repeated.counts.done()), (10, 10));
    assert_eq!((first.usage, repeated.usage), (request.usage, request.usage));
}

async fn only_one_of_two_workers_commits_from_the_same_cursor(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    committed(store.commit(id, 0, &commit(0, None, cursor("a1", 5), 4)).await.unwrap());
    let late = commit(0, None, cursor("b1", 5), 4);
    assert_eq!(store.commit(id, 0, &late).await.unwrap(), CommitOutcome::Lost);
    let wrong = commit(0, Some(cursor("b1", 5)), cursor("b2", 10), 4);
    assert_eq!(store.commit(id, 0, &wrong).await.unwrap(), CommitOutcome::Lost);
    let never_begun = commit(1, Some(cursor("b1", 5)), cursor("b2", 10), 4);
    assert_eq!(store.commit(id, 0, &never_begun).await.unwrap(), CommitOutcome::Lost);
    assert_eq!(store.chunk_state(id, 0).await.unwrap().unwrap().group.counts.done(), 5);
}

async fn a_closed_group_accepts_only_repeated_commits(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    let own = commit(0, None, cursor("a1", 5), 4);
    committed(store.commit(id, 0, &own).await.unwrap());
    let closed = store.close(id, 0).await.unwrap().unwrap();
    assert_eq!((closed.open, closed.counts.done()), (false, 5));
    assert_eq!(store.close(id, 0).await.unwrap(), Some(closed.clone()));
    for request in [commit(1, None, cursor("b1", 5), 4), commit(0, Some(cursor("a1", 5)), cursor("a2", 10), 4)] {
        assert_eq!(store.commit(id, 0, &request).await.unwrap(), CommitOutcome::Closed);
    }
    assert_eq!(committed(store.commit(id, 0, &own).await.unwrap()), closed, "a repeated commit of an earlier success");
    assert_eq!(store.chunk_state(id, 0).await.unwrap().unwrap().group, closed);
}

async fn a_commit_to_an_absent_group_stores_nothing(store: impl Store) {
    let request = commit(0, None, cursor("a1", 5), 4);
    let job = split(&store, 1).await.job_id;
    for (id, group) in [(JobId::generate(), 0), (waiting_job().job_id, 0), (job, 1)] {
        assert_eq!(store.commit(id, group, &request).await.unwrap(), CommitOutcome::Absent);
        assert_eq!(store.close(id, group).await.unwrap(), None);
        assert_eq!(store.count_group_resend(id, group, 0, at(9)).await.unwrap(), ResendCount::Overtaken);
        assert_eq!(store.chunk_state(id, group).await.unwrap(), None);
    }
    assert_eq!(store.progress(job).await.unwrap().unwrap().groups.len(), 1);
}

async fn a_group_resend_counts_once_and_is_reset_by_progress(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    assert_eq!(store.count_group_resend(id, 0, 0, at(7)).await.unwrap(), ResendCount::Counted);
    assert_eq!(store.count_group_resend(id, 0, 0, at(8)).await.unwrap(), ResendCount::Overtaken);
    assert_eq!(store.count_group_resend(id, 0, 1, at(9)).await.unwrap(), ResendCount::Counted);
    let group = store.chunk_state(id, 0).await.unwrap().unwrap().group;
    assert_eq!((group.resends, group.sent_at), (2, at(9)));
    let group = committed(store.commit(id, 0, &commit(0, None, cursor("a1", 5), 4)).await.unwrap());
    assert_eq!(group.resends, 0);
}

async fn a_paused_chunk_only_resets_the_resends_of_its_group(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    store.reset_group_resends(id, 0).await.unwrap();
    assert_eq!(store.count_group_resend(id, 0, 0, at(7)).await.unwrap(), ResendCount::Counted);
    assert_eq!(store.count_group_resend(id, 0, 1, at(8)).await.unwrap(), ResendCount::Counted);
    let JobProgress { mut groups, job } = store.progress(id).await.unwrap().unwrap();
    for _ in 0..2 {
        store.reset_group_resends(id, 0).await.unwrap();
    }
    groups[0].resends = 0;
    assert_eq!(store.progress(id).await.unwrap().unwrap(), JobProgress { groups, job });
    assert_eq!(store.count_group_resend(id, 0, 0, at(9)).await.unwrap(), ResendCount::Counted);
    let closed = store.close(id, 0).await.unwrap().unwrap();
    store.reset_group_resends(id, 0).await.unwrap();
    assert_eq!(store.chunk_state(id, 0).await.unwrap().unwrap().group, closed, "a closed group is unchanged");
    store.reset_group_resends(id, 7).await.unwrap();
    store.reset_group_resends(JobId::generate(), 0).await.unwrap();
    assert_eq!(store.progress(id).await.unwrap().unwrap().groups.len(), 1, "no group is created");
}

async fn a_done_group_is_recorded_once(store: impl Store) {
    let job = split(&store, 2).await;
    for (group, millis, all_done) in [(1, 5, false), (1, 6, false), (0, 7, false)] {
        let updated = job_after(store.group_done(job.job_id, group, at(millis)).await.unwrap());
        assert_eq!((updated.all_done(), updated.times.updated_at), (all_done, at(millis)));
    }
    let ended = job_after(store.end_split(&job, 2, &[], at(8)).await.unwrap());
    assert_eq!(ended.split.done_groups, [0, 1].into());
    assert!(ended.all_done(), "the last writer sees that all groups are done");
}

async fn progress_lists_every_group_in_order(store: impl Store) {
    let job = split(&store, 12).await;
    committed(store.commit(job.job_id, 11, &commit(0, None, cursor("a1", 5), 4)).await.unwrap());
    let JobProgress { groups, job: read } = store.progress(job.job_id).await.unwrap().unwrap();
    assert_eq!(read, job);
    assert_eq!(groups.iter().map(|g| g.number).collect::<Vec<_>>(), (0..12).collect::<Vec<_>>());
    assert_eq!(groups[11].cursors[&0], cursor("a1", 5));
}

/// Processes chunk `chunk` item by item, and restarts from the stored state whenever another writer was faster.
async fn work(store: &impl Store, id: JobId, chunk: u32, items: u32) -> u32 {
    let (nonce, mut lost) = (nonce(), 0);
    for n in 1.. {
        let group = store.chunk_state(id, 0).await.unwrap().unwrap().group;
        let from = group.cursors.get(&chunk).cloned();
        let position = from.as_ref().map_or(0, |c| c.position) + 1;
        if position > items {
            break;
        }
        let to = cursor(&Cursor::token(&nonce, n), position);
        let counts = Counts { succeeded: 1, ..Counts::default() };
        match store
            .commit(id, 0, &Commit { chunk, from, to, counts, usage: Default::default(), at: at(n.into()) })
            .await
            .unwrap()
        {
            CommitOutcome::Committed(_) => {}
            CommitOutcome::Lost => lost += 1,
            other => panic!("unexpected outcome: {other:?}"),
        }
    }
    lost
}

async fn two_workers_on_one_chunk_count_every_item_once(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    tokio::join!(work(&store, id, 0, 10), work(&store, id, 0, 10), work(&store, id, 0, 10));
    let group = store.chunk_state(id, 0).await.unwrap().unwrap().group;
    assert_eq!((group.counts.done(), group.cursors[&0].position), (10, 10));
}

async fn concurrent_chunks_of_a_group_keep_all_counts(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    let lost = tokio::join!(work(&store, id, 0, 10), work(&store, id, 1, 10));
    assert_eq!(lost, (0, 0));
    assert_eq!(store.chunk_state(id, 0).await.unwrap().unwrap().group.counts.done(), 20);
}

async fn a_splitter_and_workers_write_one_job_concurrently(store: impl Store) {
    let mut job = split(&store, 1).await;
    let id = job.job_id;
    let splitter = async {
        for group in 1..20_u32 {
            match store.commit_group(&job, &plan(group), at(group.into())).await.unwrap() {
                Transition::Made(next) => job = *next,
                Transition::Refused => panic!("the only splitter was refused"),
            }
        }
        store.end_split(&job, 20, &[], at(99)).await.unwrap()
    };
    let worker = async |groups: std::ops::Range<u32>| {
        for group in groups {
            assert_ne!(store.group_done(id, group, at(50)).await.unwrap(), Transition::Refused);
        }
    };
    let (ended, ..) = tokio::join!(splitter, worker(0..10), worker(5..20), worker(0..20));
    assert_ne!(ended, Transition::Refused);
    let JobProgress { groups, job } = store.progress(id).await.unwrap().unwrap();
    assert_eq!((groups.len(), job.split.groups, job.split.item_count, job.all_done()), (20, 20, 400, true));
}

async fn either_cancel_or_completion_wins(store: impl Store) {
    for _ in 0..10 {
        let id = split(&store, 0).await.job_id;
        let (request, end) = (stop(5), finish(Status::Completed, 6));
        let (stopped, completed) = tokio::join!(store.stop(id, 0, &request), store.finish(id, &end));
        let won = [stopped.unwrap(), completed.unwrap()].map(|answer| answer != Transition::Refused);
        assert_eq!(won.iter().filter(|won| **won).count(), 1, "{won:?}");
    }
}
