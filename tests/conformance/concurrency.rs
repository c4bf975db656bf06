//! Concurrency limits: never more holders than permits, and no parked chunk is lost or woken twice.

use longshore_domain::concurrency::{ParkedChunk, Permit, free_permits};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, JobTimes};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::Store;

use crate::fixtures::{at, split, waiting_job};

on_both_stores! {
    a_permit_has_one_holder,
    an_expired_permit_is_replaced_and_its_holder_releases_nothing,
    a_permit_that_one_holder_acquires_twice_is_held_once,
    of_many_concurrent_acquires_as_many_succeed_as_there_are_permits,
    parked_chunks_are_listed_in_order_and_once_each,
    of_two_concurrent_wakes_one_succeeds,
    a_repeated_wake_succeeds,
    a_chunk_that_was_parked_again_is_not_forgotten,
    the_concurrency_limits_of_two_types_are_separate,
    waking_a_chunk_is_progress_of_its_group_and_changes_nothing_else,
}

fn permit(number: u32, holder: &str, until: i64) -> Permit {
    Permit { number, holder: holder.into(), until: at(until) }
}

async fn a_permit_has_one_holder(store: impl Store) {
    let (first, second) = (permit(0, "a", 100), permit(0, "b", 200));
    assert!(store.acquire("limited", &first, at(0)).await.unwrap());
    assert!(!store.acquire("limited", &second, at(100)).await.unwrap(), "held until its very end");
    assert_eq!(store.permits("limited").await.unwrap(), std::slice::from_ref(&first));
    store.release("limited", &second).await.unwrap();
    assert_eq!(store.permits("limited").await.unwrap(), std::slice::from_ref(&first), "only its holder gives it back");
    for _ in 0..2 {
        store.release("limited", &first).await.unwrap();
        assert_eq!(store.permits("limited").await.unwrap(), []);
    }
    assert!(store.acquire("limited", &second, at(100)).await.unwrap());
    assert_eq!(store.permits("limited").await.unwrap(), [second]);
}

async fn an_expired_permit_is_replaced_and_its_holder_releases_nothing(store: impl Store) {
    let (dead, next) = (permit(3, "dead", 100), permit(3, "next", 300));
    assert!(store.acquire("limited", &dead, at(0)).await.unwrap());
    assert!(store.acquire("limited", &next, at(101)).await.unwrap());
    store.release("limited", &dead).await.unwrap();
    assert_eq!(store.permits("limited").await.unwrap(), [next]);
}

async fn a_permit_that_one_holder_acquires_twice_is_held_once(store: impl Store) {
    let permit = permit(0, "a", 100);
    for _ in 0..2 {
        assert!(store.acquire("limited", &permit, at(0)).await.unwrap());
    }
    assert_eq!(store.permits("limited").await.unwrap(), [permit]);
}

async fn of_many_concurrent_acquires_as_many_succeed_as_there_are_permits(store: impl Store) {
    let take = async |n: u32| {
        for number in 0..3 {
            if store.acquire("limited", &permit(number, &format!("worker {n}"), 100), at(0)).await.unwrap() {
                return 1;
            }
        }
        0
    };
    let taken = futures::future::join_all((0..20).map(take)).await;
    assert_eq!(taken.iter().sum::<u32>(), 3);
    let permits = store.permits("limited").await.unwrap();
    assert_eq!((permits.len(), free_permits(&permits, 3, at(0)).len()), (3, 0));
}

fn parked(job: &Job, chunk: u32) -> ParkedChunk {
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false };
    ParkedChunk::new(job, &ChunkMessage { failures: 2, ..ChunkMessage::new(job, ChunkId::new(0, chunk), &plan) }, 2)
}

async fn parked_chunks_are_listed_in_order_and_once_each(store: impl Store) {
    let early = waiting_job();
    let late = Job {
        job_id: JobId::generate(),
        times: JobTimes { created_at: at(90_000), ..waiting_job().times.clone() },
        ..waiting_job()
    };
    let all = [parked(&early, 0), parked(&early, 1), parked(&late, 0), parked(&early, 2)];
    for parked in all.iter().rev().chain(&all) {
        store.park("limited", parked).await.unwrap();
    }
    assert_eq!(store.parked("limited", 2).await.unwrap(), all[..2]);
    assert_eq!(store.parked("limited", usize::MAX).await.unwrap(), all);
    for _ in 0..2 {
        store.forget("limited", &all[0]).await.unwrap();
    }
    assert_eq!(store.parked("limited", usize::MAX).await.unwrap(), all[1..]);
}

async fn of_two_concurrent_wakes_one_succeeds(store: impl Store) {
    let seen = parked(&waiting_job(), 0);
    assert!(!store.mark_woken("limited", &seen, at(1)).await.unwrap(), "nobody waits");
    assert_eq!(store.parked("limited", 9).await.unwrap(), [], "a call makes nobody wait");
    store.park("limited", &seen).await.unwrap();
    assert!(store.mark_woken("limited", &seen, at(1)).await.unwrap());
    assert!(!store.mark_woken("limited", &seen, at(2)).await.unwrap());
    let woken = ParkedChunk { woken_at: Some(at(1)), ..seen };
    assert_eq!(store.parked("limited", 9).await.unwrap(), std::slice::from_ref(&woken));
    assert!(store.mark_woken("limited", &woken, at(40_000)).await.unwrap(), "whoever called first is dead");
}

async fn a_repeated_wake_succeeds(store: impl Store) {
    let seen = parked(&waiting_job(), 0);
    store.park("limited", &seen).await.unwrap();
    for _ in 0..2 {
        assert!(store.mark_woken("limited", &seen, at(1)).await.unwrap());
    }
}

/// A chunk is woken and its message sent. Before its caller removes the parked chunk, the chunk's worker finds no
/// permit and parks it again.
async fn a_chunk_that_was_parked_again_is_not_forgotten(store: impl Store) {
    let seen = parked(&waiting_job(), 0);
    store.park("limited", &seen).await.unwrap();
    assert!(store.mark_woken("limited", &seen, at(1)).await.unwrap());
    store.park("limited", &seen).await.unwrap();
    store.forget("limited", &ParkedChunk { woken_at: Some(at(1)), ..seen.clone() }).await.unwrap();
    assert_eq!(store.parked("limited", 9).await.unwrap(), [seen]);
}

async fn the_concurrency_limits_of_two_types_are_separate(store: impl Store) {
    let seen = parked(&waiting_job(), 0);
    store.park("limited", &seen).await.unwrap();
    assert!(store.acquire("limited", &permit(0, "a", 100), at(0)).await.unwrap());
    for other in ["limited2", "limite", "other"] {
        assert_eq!(store.permits(other).await.unwrap(), []);
        assert_eq!(store.parked(other, 9).await.unwrap(), []);
    }
}

async fn waking_a_chunk_is_progress_of_its_group_and_changes_nothing_else(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    assert!(store.count_group_resend(id, 0, 0, at(7)).await.unwrap());
    let (mut groups, job) = store.progress(id).await.unwrap().unwrap();
    for now in [at(500), at(400)] {
        store.chunk_woken(id, 0, now).await.unwrap();
    }
    (groups[0].progressed_at, groups[0].sent_at) = (at(500), at(500));
    assert_eq!(store.progress(id).await.unwrap().unwrap(), (groups, job));
    let closed = store.close(id, 0).await.unwrap().unwrap();
    store.chunk_woken(id, 0, at(600)).await.unwrap();
    assert_eq!(store.chunk_state(id, 0).await.unwrap().unwrap().group, closed, "it has ended");
    store.chunk_woken(id, 7, at(500)).await.unwrap();
    store.chunk_woken(JobId::generate(), 0, at(500)).await.unwrap();
    assert!(store.chunk_state(id, 7).await.unwrap().is_none());
    assert_eq!(store.progress(id).await.unwrap().unwrap().0.len(), 1, "no ghost of a group");
}
