//! The maximum cost of a job whose handler is remote.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use longshore::chunk::ChunkEnd;
use longshore_domain::cost::{NanoDollars, generation_cost};
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest};
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{JobProgress, JobTransitions};
use longshore_domain::registration::Registration;

use crate::scripted::{Scripted, all, status};
use crate::world::{Plan, World, clock, pass, registration};

/// Returns the cost of the run as of now, if it ended now.
async fn cost(world: &World) -> NanoDollars {
    let JobProgress { job, groups } = world.progress().await;
    generation_cost(&job, &groups).total()
}

/// Returns the code of the error that has stopped the job.
async fn stop_code(world: &World) -> Option<String> {
    Some(world.progress().await.job.stop?.error?.code)
}

/// A handler that answers one batch, then refuses one because of its quota, and so on.
fn with_quota() -> Arc<Scripted> {
    let calls = AtomicU32::new(0);
    Scripted::new(
        move |received| {
            if calls.fetch_add(1, Ordering::Relaxed).is_multiple_of(2) { all(received) } else { status(429) }
        },
    )
}

/// Each commit but the last one is made because the chunk is parked.
#[tokio::test]
async fn a_job_whose_chunks_are_parked_again_and_again_is_stopped_before_its_maximum_is_exceeded() {
    let registration = || Registration { concurrency: 1, ..registration() };
    let plan = Plan { chunks: 1, items: 800, max_cost: None };
    let world = World::from_plan(&with_quota(), registration(), plan).await;
    world.run(999).await;
    assert_eq!((world.counts().await.succeeded, stop_code(&world).await), (800, None));
    let whole = cost(&world).await;
    for percent in [50, 70, 90] {
        let max = NanoDollars(whole.0 * percent / 100);
        let handler = with_quota();
        let world = World::from_plan(&handler, registration(), Plan { max_cost: Some(max), ..plan }).await;
        world.run(999).await;
        assert_eq!(stop_code(&world).await.as_deref(), Some("cost_limit"), "{percent} %");
        let cost = cost(&world).await;
        assert!(cost <= max, "{percent} %: {cost:?} is more than {max:?}");
        assert!(cost.0 > max.0 / 3, "{percent} %: {cost:?} is far below {max:?}");
    }
}

/// Adds so many groups of one chunk to the job. More groups make a check more expensive, and so less frequent.
async fn add_groups(world: &World, number: u32) {
    for group in 1..=number {
        let split = world.progress().await.job.split;
        let (start, end) = (split.offset, split.offset + 100);
        let plan = ChunkPlan { first: split.item_count + 1, items: 1, start, end, oversize: false, keys: None };
        let group = GroupPlan::from_file(0, Manifest { group, chunks: vec![plan] }, start..end);
        world.ports.store.commit_group(&world.job, &group, clock()).await.unwrap();
    }
}

/// The worker of the failed delivery may have died between the commit that made the check due and the check.
#[tokio::test]
async fn the_first_commit_after_a_failed_delivery_is_checked() {
    let plan = Plan { chunks: 2, items: 8, max_cost: Some(NanoDollars(1)) };
    let world = World::from_plan(&Scripted::new(all), registration(), plan).await;
    add_groups(&world, 100).await;
    let message = world.next_message().unwrap();
    assert_eq!((world.deliver(&message).await, stop_code(&world).await), (ChunkEnd::Finished, None), "not due yet");
    let message = ChunkMessage { failures: 1, ..world.next_message().unwrap() };
    assert_eq!(world.deliver(&message).await, ChunkEnd::Finished);
    assert_eq!(stop_code(&world).await.as_deref(), Some("cost_limit"));
}

/// A call that has begun is not ended by a stop.
#[tokio::test]
async fn calls_of_a_hundred_seconds_are_reserved_for_all_chunks_under_way() {
    let handler = || {
        Scripted::new(|received| {
            pass(100);
            all(received)
        })
    };
    let slow = || {
        let mut registration = Registration { concurrency: 3, ..registration() };
        registration.batch.timeout_seconds = 110;
        registration
    };
    let plan = Plan { chunks: 4, items: 16, max_cost: None };
    let world = World::from_plan(&handler(), slow(), plan).await;
    world.run(99).await;
    let whole = cost(&world).await;
    // Eight calls are the whole job. After the first one, four can be under way, so that five of them are too many.
    let (max_cost, calls) = (Some(NanoDollars(whole.0 / 2)), handler());
    let world = World::from_plan(&calls, slow(), Plan { max_cost, ..plan }).await;
    world.run(99).await;
    assert_eq!((stop_code(&world).await.as_deref(), calls.batches().len()), (Some("cost_limit"), 1));
}

/// The stack processes a hundred chunks at once, which are more than the job has.
#[tokio::test]
async fn only_as_many_chunks_are_reserved_as_the_type_has_at_once() {
    let registration = || Registration { concurrency: 2, ..registration() };
    let plan = Plan { chunks: 16, items: 8, max_cost: None };
    let world = World::from_plan(&Scripted::new(all), registration(), plan).await;
    world.run(99).await;
    let max = NanoDollars(cost(&world).await.0 * 9 / 10);
    let world = World::from_plan(&Scripted::new(all), registration(), Plan { max_cost: Some(max), ..plan }).await;
    world.run(99).await;
    let (chunks, cost) = (world.counts().await.succeeded / 8, cost(&world).await);
    assert_eq!(stop_code(&world).await.as_deref(), Some("cost_limit"));
    assert!((6..=12).contains(&chunks) && cost <= max, "{chunks} chunks: {cost:?} of {max:?}");
}

#[tokio::test]
async fn the_first_commit_records_the_deliveries_that_have_failed_before() {
    let world = World::new(&Scripted::new(all), registration(), 2, 8).await;
    for (failures, recorded) in [(2, 3), (0, 4)] {
        assert_eq!(world.deliver_again(world.next_message().unwrap(), failures).await, ChunkEnd::Finished);
        assert_eq!(world.progress().await.groups[0].usage.deliveries, recorded);
    }
}
