//! Several concurrent writers, as in production: counts stay exact, and each transition happens once.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{Commit, CommitOutcome};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Status, Transition};
use longshore_domain::outcome::Counts;
use longshore_domain::ports::{JobProgress, Store};
use longshore_domain::random::nonce;

use crate::fixtures::{at, cursor, finish, plan, split, stop};

on_both_stores! {
    two_workers_on_one_chunk_count_every_item_once,
    concurrent_chunks_of_a_group_keep_all_counts,
    a_splitter_and_workers_write_one_job_concurrently,
    either_cancel_or_completion_wins,
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
        match store.commit(id, 0, &Commit { chunk, from, to, counts, at: at(n.into()) }).await.unwrap() {
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
