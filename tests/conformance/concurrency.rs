//! Concurrency limits: never more holders than permits, and no parked chunk is lost or woken twice.

use futures::future::join_all;
use longshore_domain::concurrency::{ParkedChunk, Permit, Wake, free_permits};
use longshore_domain::group::ChunkPlan;
use longshore_domain::ids::{ChunkId, JobId};
use longshore_domain::job::{Job, JobTimes};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Acquisition, JobProgress, Replaced, ResendCount, Reserved, Store, WakeMark};
use longshore_domain::remote::{HandlerState, ItemsPerSecond, RateRequest, ReadState, ReservedUntil};

use crate::fixtures::{at, split, waiting_job};

on_both_stores! {
    a_permit_has_one_holder,
    the_holder_of_an_expired_permit_cannot_release_its_successor,
    a_repeated_acquire_holds_one_permit,
    concurrent_acquires_never_exceed_the_permits,
    parked_chunks_are_listed_in_order_and_once_each,
    only_one_of_two_wakes_succeeds,
    a_repeated_wake_succeeds,
    a_chunk_that_is_parked_again_stays_parked,
    the_concurrency_limits_of_two_types_are_separate,
    waking_a_chunk_only_counts_as_progress_of_its_group,
    a_handlers_state_is_replaced_if_it_is_unchanged,
    a_repeated_replacement_of_a_handlers_state_succeeds,
    concurrent_reservations_follow_each_other,
    reservations_and_changes_of_the_state_do_not_prevent_each_other,
}

async fn a_handlers_state_is_replaced_if_it_is_unchanged(store: impl Store) {
    let new = store.handler_state("mail").await.unwrap();
    assert_eq!(new, ReadState::default());
    let lowered = |seconds: i64| HandlerState {
        concurrency: new.state.concurrency.lowered(40, at(seconds * 1_000)).unwrap(),
        ..HandlerState::default()
    };
    let (first, second) = (lowered(1), lowered(2));
    assert_eq!(store.replace_handler_state("mail", 0, &first, "a").await.unwrap(), Replaced::Replaced);
    let current = ReadState { state: first, version: 1, ..ReadState::default() };
    let refused = store.replace_handler_state("mail", 0, &second, "b").await.unwrap();
    assert_eq!(refused, Replaced::Changed(current.clone()), "another worker was faster");
    assert_eq!(store.handler_state("mail").await.unwrap(), current);
    assert_eq!(store.replace_handler_state("mail", 1, &second, "b").await.unwrap(), Replaced::Replaced);
    assert_eq!(
        store.handler_state("mail").await.unwrap(),
        ReadState { state: second, version: 2, ..ReadState::default() }
    );
    assert_eq!(store.handler_state("other").await.unwrap(), ReadState::default());
}

async fn a_repeated_replacement_of_a_handlers_state_succeeds(store: impl Store) {
    let state = HandlerState::default();
    for _ in 0..2 {
        assert_eq!(store.replace_handler_state("mail", 0, &state, "a").await.unwrap(), Replaced::Replaced);
    }
    assert_eq!(store.handler_state("mail").await.unwrap().version, 1);
    // Two workers can write the same state: one of them is the first.
    let changed = store.replace_handler_state("mail", 0, &state, "b").await.unwrap();
    assert!(matches!(changed, Replaced::Changed(_)));
}

/// A request for one item at ten per second.
fn one_item(now: i64) -> RateRequest {
    RateRequest::new(ItemsPerSecond::new(10.0).unwrap(), 1, at(now))
}

async fn reserved(store: &impl Store, request: RateRequest) -> Option<ReservedUntil> {
    match store.reserve_items("mail", &request).await.unwrap() {
        Reserved::Reserved(read) => Some(read.reserved),
        Reserved::TooLate(_) => None,
    }
}

async fn concurrent_reservations_follow_each_other(store: impl Store) {
    let (start, item_us) = (at(100_000).0 * 1_000, one_item(0).duration_us());
    let mut ends = join_all((0..8).map(|_| reserved(&store, one_item(100_000)))).await;
    ends.sort_unstable();
    let expected: Vec<_> = (1..=8).map(|n| Some(ReservedUntil(start + n * item_us))).collect();
    assert_eq!(ends, expected, "whatever the workers have read");
    let last = ends[7].unwrap();
    let known = one_item(100_000).with_last_read(last);
    assert_eq!(reserved(&store, known).await, Some(ReservedUntil(last.0 + item_us)));
    assert_eq!(reserved(&store, one_item(95_000)).await, None, "more than five seconds before");
    let stale = one_item(200_000).with_last_read(last);
    let anew = ReservedUntil(at(200_000).0 * 1_000 + item_us);
    assert_eq!(reserved(&store, stale).await, Some(anew), "nothing is saved up");
    assert_eq!(store.handler_state("mail").await.unwrap().reserved, anew);
}

async fn reservations_and_changes_of_the_state_do_not_prevent_each_other(store: impl Store) {
    let end = reserved(&store, one_item(100_000)).await.unwrap();
    let lowered = HandlerState::default().concurrency.lowered(40, at(1_000)).unwrap();
    let state = HandlerState { concurrency: lowered, ..HandlerState::default() };
    let unread = ReadState { reserved: end, ..ReadState::default() };
    assert_eq!(store.handler_state("mail").await.unwrap(), unread, "the state of a working handler");
    assert_eq!(store.replace_handler_state("mail", 0, &state, "a").await.unwrap(), Replaced::Replaced);
    let next = reserved(&store, one_item(100_000)).await.unwrap();
    let changed = ReadState { state: state.clone(), reserved: next, version: 1 };
    assert_eq!(store.handler_state("mail").await.unwrap(), changed);
    assert_eq!(store.replace_handler_state("mail", 1, &state, "b").await.unwrap(), Replaced::Replaced);
    assert_eq!(store.handler_state("mail").await.unwrap(), ReadState { version: 2, ..changed });
}

fn permit(number: u32, holder: &str, until: i64) -> Permit {
    Permit { number, holder: holder.into(), until: at(until) }
}

async fn a_permit_has_one_holder(store: impl Store) {
    let (first, second) = (permit(0, "a", 100), permit(0, "b", 200));
    assert_eq!(store.acquire("limited", &first, at(0)).await.unwrap(), Acquisition::Acquired);
    assert_eq!(
        store.acquire("limited", &second, at(100)).await.unwrap(),
        Acquisition::Unavailable,
        "the permit is held up to and including its last millisecond"
    );
    assert_eq!(store.permits("limited").await.unwrap(), std::slice::from_ref(&first));
    store.release("limited", &second).await.unwrap();
    assert_eq!(store.permits("limited").await.unwrap(), std::slice::from_ref(&first), "only the holder releases it");
    for _ in 0..2 {
        store.release("limited", &first).await.unwrap();
        assert_eq!(store.permits("limited").await.unwrap(), []);
    }
    assert_eq!(store.acquire("limited", &second, at(100)).await.unwrap(), Acquisition::Acquired);
    assert_eq!(store.permits("limited").await.unwrap(), [second]);
}

async fn the_holder_of_an_expired_permit_cannot_release_its_successor(store: impl Store) {
    let (dead, next) = (permit(3, "dead", 100), permit(3, "next", 300));
    assert_eq!(store.acquire("limited", &dead, at(0)).await.unwrap(), Acquisition::Acquired);
    assert_eq!(store.acquire("limited", &next, at(101)).await.unwrap(), Acquisition::Acquired);
    store.release("limited", &dead).await.unwrap();
    assert_eq!(store.permits("limited").await.unwrap(), [next]);
}

async fn a_repeated_acquire_holds_one_permit(store: impl Store) {
    let permit = permit(0, "a", 100);
    for _ in 0..2 {
        assert_eq!(store.acquire("limited", &permit, at(0)).await.unwrap(), Acquisition::Acquired);
    }
    assert_eq!(store.permits("limited").await.unwrap(), [permit]);
}

async fn concurrent_acquires_never_exceed_the_permits(store: impl Store) {
    let take = async |n: u32| {
        for number in 0..3 {
            let permit = permit(number, &format!("worker {n}"), 100);
            if store.acquire("limited", &permit, at(0)).await.unwrap() == Acquisition::Acquired {
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
    let plan = ChunkPlan { first: 1, items: 2, start: 3, end: 4, oversize: false, keys: None };
    ParkedChunk::new(job, &ChunkMessage { failures: 2, ..ChunkMessage::new(job, ChunkId::new(0, chunk), &plan) }, 2)
}

async fn parked_chunks_are_listed_in_order_and_once_each(store: impl Store) {
    let early = waiting_job();
    let late = Job {
        job_id: JobId::generate(),
        times: JobTimes { created_at: at(90_000), ..waiting_job().times.clone() },
        ..waiting_job()
    };
    let chunks = [parked(&early, 0), parked(&early, 1), parked(&late, 0), parked(&early, 2)];
    for parked in chunks.iter().rev().chain(&chunks) {
        store.park("limited", parked).await.unwrap();
    }
    assert_eq!(store.parked("limited", 2).await.unwrap(), chunks[..2]);
    assert_eq!(store.parked("limited", usize::MAX).await.unwrap(), chunks);
    for _ in 0..2 {
        store.unpark("limited", &chunks[0]).await.unwrap();
    }
    assert_eq!(store.parked("limited", usize::MAX).await.unwrap(), chunks[1..]);
}

fn wake(seconds: i64) -> Wake {
    Wake { at: at(seconds), by: format!("caller {seconds}") }
}

async fn only_one_of_two_wakes_succeeds(store: impl Store) {
    let chunk = parked(&waiting_job(), 0);
    assert_eq!(store.mark_woken("limited", &chunk, &wake(1)).await.unwrap(), WakeMark::Changed, "no chunk is parked");
    assert_eq!(store.parked("limited", 9).await.unwrap(), [], "a failed wake parks nothing");
    store.park("limited", &chunk).await.unwrap();
    assert_eq!(store.mark_woken("limited", &chunk, &wake(1)).await.unwrap(), WakeMark::Marked);
    assert_eq!(store.mark_woken("limited", &chunk, &wake(2)).await.unwrap(), WakeMark::Changed);
    let woken = ParkedChunk { woken: Some(wake(1)), ..chunk };
    assert_eq!(store.parked("limited", 9).await.unwrap(), std::slice::from_ref(&woken));
    assert_eq!(
        store.mark_woken("limited", &woken, &wake(40_000)).await.unwrap(),
        WakeMark::Marked,
        "the first caller counts as dead"
    );
}

async fn a_repeated_wake_succeeds(store: impl Store) {
    let chunk = parked(&waiting_job(), 0);
    store.park("limited", &chunk).await.unwrap();
    for _ in 0..2 {
        assert_eq!(store.mark_woken("limited", &chunk, &wake(1)).await.unwrap(), WakeMark::Marked);
    }
    let other = Wake { by: "another caller".into(), ..wake(1) };
    assert_eq!(
        store.mark_woken("limited", &chunk, &other).await.unwrap(),
        WakeMark::Changed,
        "in the same millisecond"
    );
}

/// A chunk is woken and its message sent. Before its caller removes the parked chunk, the chunk's worker finds no
/// permit and parks it again.
async fn a_chunk_that_is_parked_again_stays_parked(store: impl Store) {
    let chunk = parked(&waiting_job(), 0);
    store.park("limited", &chunk).await.unwrap();
    assert_eq!(store.mark_woken("limited", &chunk, &wake(1)).await.unwrap(), WakeMark::Marked);
    store.park("limited", &chunk).await.unwrap();
    store.unpark("limited", &ParkedChunk { woken: Some(wake(1)), ..chunk.clone() }).await.unwrap();
    assert_eq!(store.parked("limited", 9).await.unwrap(), [chunk]);
}

async fn the_concurrency_limits_of_two_types_are_separate(store: impl Store) {
    let chunk = parked(&waiting_job(), 0);
    store.park("limited", &chunk).await.unwrap();
    assert_eq!(store.acquire("limited", &permit(0, "a", 100), at(0)).await.unwrap(), Acquisition::Acquired);
    for other in ["limited2", "limite", "other"] {
        assert_eq!(store.permits(other).await.unwrap(), []);
        assert_eq!(store.parked(other, 9).await.unwrap(), []);
    }
}

async fn waking_a_chunk_only_counts_as_progress_of_its_group(store: impl Store) {
    let id = split(&store, 1).await.job_id;
    assert_eq!(store.count_group_resend(id, 0, 0, at(7)).await.unwrap(), ResendCount::Counted);
    let JobProgress { mut groups, job } = store.progress(id).await.unwrap().unwrap();
    for now in [at(500), at(400)] {
        store.chunk_woken(id, 0, now).await.unwrap();
    }
    (groups[0].progressed_at, groups[0].sent_at) = (at(500), at(500));
    assert_eq!(store.progress(id).await.unwrap().unwrap(), JobProgress { groups, job });
    let closed = store.close(id, 0).await.unwrap().unwrap();
    store.chunk_woken(id, 0, at(600)).await.unwrap();
    assert_eq!(store.chunk_state(id, 0).await.unwrap().unwrap().group, closed, "a closed group is unchanged");
    store.chunk_woken(id, 7, at(500)).await.unwrap();
    store.chunk_woken(JobId::generate(), 0, at(500)).await.unwrap();
    assert!(store.chunk_state(id, 7).await.unwrap().is_none());
    assert_eq!(store.progress(id).await.unwrap().unwrap().groups.len(), 1, "no group is created");
}
