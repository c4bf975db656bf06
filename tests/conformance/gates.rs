//! The gates: never more holders than slots, and nobody who waits is lost or called twice.

use longshore_domain::gate::{Lease, Waiting, free_slots};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::JobId;
use longshore_domain::job::Job;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::Store;

use crate::fixtures::{at, split, waiting_job};

on_both_stores! {
    a_slot_has_one_holder,
    a_lease_that_has_ended_is_replaced_and_its_holder_gives_nothing_back,
    a_slot_that_is_taken_twice_by_one_holder_is_held_once,
    of_many_that_take_at_once_as_many_get_a_slot_as_there_are,
    those_who_wait_are_found_by_their_turn_and_wait_once,
    of_two_callers_one_calls,
    a_call_that_is_made_twice_is_made,
    one_who_was_put_down_again_is_not_forgotten,
    the_gates_of_two_types_are_apart,
    a_group_that_is_called_is_not_still_and_nothing_else_changes,
}

fn lease(slot: u32, holder: &str, until: i64) -> Lease {
    Lease { slot, holder: holder.into(), until: at(until) }
}

async fn a_slot_has_one_holder(store: impl Store) {
    let (first, second) = (lease(0, "a", 100), lease(0, "b", 200));
    assert!(store.take("limited", &first, at(0)).await.unwrap());
    assert!(!store.take("limited", &second, at(100)).await.unwrap(), "held until its very end");
    assert_eq!(store.leases("limited").await.unwrap(), std::slice::from_ref(&first));
    store.give_back("limited", &second).await.unwrap();
    assert_eq!(store.leases("limited").await.unwrap(), std::slice::from_ref(&first), "only its holder gives it back");
    for _ in 0..2 {
        store.give_back("limited", &first).await.unwrap();
        assert_eq!(store.leases("limited").await.unwrap(), []);
    }
    assert!(store.take("limited", &second, at(100)).await.unwrap());
    assert_eq!(store.leases("limited").await.unwrap(), [second]);
}

async fn a_lease_that_has_ended_is_replaced_and_its_holder_gives_nothing_back(store: impl Store) {
    let (dead, next) = (lease(3, "dead", 100), lease(3, "next", 300));
    assert!(store.take("limited", &dead, at(0)).await.unwrap());
    assert!(store.take("limited", &next, at(101)).await.unwrap());
    store.give_back("limited", &dead).await.unwrap();
    assert_eq!(store.leases("limited").await.unwrap(), [next]);
}

async fn a_slot_that_is_taken_twice_by_one_holder_is_held_once(store: impl Store) {
    let lease = lease(0, "a", 100);
    for _ in 0..2 {
        assert!(store.take("limited", &lease, at(0)).await.unwrap());
    }
    assert_eq!(store.leases("limited").await.unwrap(), [lease]);
}

async fn of_many_that_take_at_once_as_many_get_a_slot_as_there_are(store: impl Store) {
    let take = async |n: u32| {
        for slot in 0..3 {
            if store.take("limited", &lease(slot, &format!("worker {n}"), 100), at(0)).await.unwrap() {
                return 1;
            }
        }
        0
    };
    let taken = futures::future::join_all((0..20).map(take)).await;
    assert_eq!(taken.iter().sum::<u32>(), 3);
    let leases = store.leases("limited").await.unwrap();
    assert_eq!((leases.len(), free_slots(&leases, 3, at(0)).len()), (3, 0));
}

fn waiting(job: &Job, chunk: u32) -> Waiting {
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false };
    Waiting::of(job, &ChunkMessage { failures: 2, ..ChunkMessage::of(job, (0, chunk), &plan) }, 2)
}

async fn those_who_wait_are_found_by_their_turn_and_wait_once(store: impl Store) {
    let early = waiting_job();
    let late = Job { job_id: JobId::generate(), created_at: at(90_000), ..waiting_job() };
    let all = [waiting(&early, 0), waiting(&early, 1), waiting(&late, 0), waiting(&early, 2)];
    for waiting in all.iter().rev().chain(&all) {
        store.wait("limited", waiting).await.unwrap();
    }
    assert_eq!(store.waiting("limited", 2).await.unwrap(), all[..2]);
    assert_eq!(store.waiting("limited", usize::MAX).await.unwrap(), all);
    for _ in 0..2 {
        store.forget("limited", &all[0]).await.unwrap();
    }
    assert_eq!(store.waiting("limited", usize::MAX).await.unwrap(), all[1..]);
}

async fn of_two_callers_one_calls(store: impl Store) {
    let seen = waiting(&waiting_job(), 0);
    assert!(!store.call("limited", &seen, at(1)).await.unwrap(), "nobody waits");
    assert_eq!(store.waiting("limited", 9).await.unwrap(), [], "a call makes nobody wait");
    store.wait("limited", &seen).await.unwrap();
    assert!(store.call("limited", &seen, at(1)).await.unwrap());
    assert!(!store.call("limited", &seen, at(2)).await.unwrap());
    let called = Waiting { called_at: Some(at(1)), ..seen };
    assert_eq!(store.waiting("limited", 9).await.unwrap(), std::slice::from_ref(&called));
    assert!(store.call("limited", &called, at(40_000)).await.unwrap(), "whoever called first is dead");
}

async fn a_call_that_is_made_twice_is_made(store: impl Store) {
    let seen = waiting(&waiting_job(), 0);
    store.wait("limited", &seen).await.unwrap();
    for _ in 0..2 {
        assert!(store.call("limited", &seen, at(1)).await.unwrap());
    }
}

/// Called and sent; before its caller forgets it, it comes, finds no slot and is put down again.
async fn one_who_was_put_down_again_is_not_forgotten(store: impl Store) {
    let seen = waiting(&waiting_job(), 0);
    store.wait("limited", &seen).await.unwrap();
    assert!(store.call("limited", &seen, at(1)).await.unwrap());
    store.wait("limited", &seen).await.unwrap();
    store.forget("limited", &Waiting { called_at: Some(at(1)), ..seen.clone() }).await.unwrap();
    assert_eq!(store.waiting("limited", 9).await.unwrap(), [seen]);
}

async fn the_gates_of_two_types_are_apart(store: impl Store) {
    let seen = waiting(&waiting_job(), 0);
    store.wait("limited", &seen).await.unwrap();
    assert!(store.take("limited", &lease(0, "a", 100), at(0)).await.unwrap());
    for other in ["limited2", "limite", "other"] {
        assert_eq!(store.leases(other).await.unwrap(), []);
        assert_eq!(store.waiting(other, 9).await.unwrap(), []);
    }
}

async fn a_group_that_is_called_is_not_still_and_nothing_else_changes(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    assert!(store.count_group_resend(id, 0, 0, at(7)).await.unwrap());
    let (mut groups, job) = store.progress(id).await.unwrap().unwrap();
    for now in [at(500), at(400)] {
        store.called(id, 0, now).await.unwrap();
    }
    (groups[0].progressed_at, groups[0].sent_at) = (at(500), at(500));
    assert_eq!(store.progress(id).await.unwrap().unwrap(), (groups, job));
    let closed = store.close(id, 0).await.unwrap().unwrap();
    store.called(id, 0, at(600)).await.unwrap();
    assert_eq!(store.chunk_state(id, 0).await.unwrap().unwrap().group, closed, "it has ended");
    store.called(id, 7, at(500)).await.unwrap();
    store.called(JobId::generate(), 0, at(500)).await.unwrap();
    assert!(store.chunk_state(id, 7).await.unwrap().is_none());
    assert_eq!(store.progress(id).await.unwrap().unwrap().0.len(), 1, "no ghost of a group");
}
