//! Pauses: calls that were not begun are not made, and chunks of others go on.

use std::sync::Arc;

use longshore::chunk::ChunkEnd;
use longshore_domain::concurrency::Permit;
use longshore_domain::ids::PauseId;
use longshore_domain::message::ChunkMessage;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{Acquisition, ParkedChunks, PauseOutcome, PauseRecords, Permits};
use longshore_domain::registration::Registration;
use longshore_domain::tenant::TenantId;
use longshore_testing::MemoryStore;

use crate::scripted::{Scripted, all, ok, status};
use crate::world::{TYPE, World, clock, pass, registration};

/// Seconds of a pause.
const PAUSE_S: i64 = 3_600;

/// Pauses the work of a scope, from now on.
async fn pause(store: &MemoryStore, scope: PauseScope) {
    let (since, until) = (clock(), clock().plus_seconds(PAUSE_S));
    let pause = Pause { id: PauseId::generate(), scope, since, until, by: "olga".to_owned() };
    assert_eq!(store.put_pause(&pause).await.unwrap(), PauseOutcome::Made);
}

fn of_type() -> PauseScope {
    PauseScope::JobType(TYPE.to_owned())
}

/// Returns a world in which three chunks of acme and then one of umbrella are parked, no permit is taken, and a fourth
/// message of acme is due.
async fn with_parked_chunks(handler: &Arc<Scripted>) -> World {
    let registration = Registration { concurrency: 1, ..registration() };
    let world = World::new(handler, registration.clone(), 4, 1).await;
    let permit = Permit::new(0, "another worker", clock().plus_seconds(3_600));
    let acquired = world.ports.store.acquire(TYPE, &permit, clock()).await.unwrap();
    assert_eq!(acquired, Acquisition::Acquired);
    let last = world.next_message().unwrap();
    assert_eq!(world.run(3).await, [ChunkEnd::Parked; 3]);
    // Its turn is behind those of acme.
    pass(600);
    world.start_job_of("umbrella", registration).await;
    assert_eq!(world.run(1).await, [ChunkEnd::Parked]);
    world.ports.store.release(TYPE, &permit).await.unwrap();
    world.send(last);
    world
}

#[tokio::test]
async fn a_paused_tenant_does_not_keep_the_chunks_of_others_parked() {
    let handler = Scripted::new(all);
    let world = with_parked_chunks(&handler).await;
    pause(&world.ports.store, PauseScope::Tenant(TenantId::from_static("acme"))).await;
    let ends = world.run(9).await;
    assert_eq!(ends[..4], [ChunkEnd::Paused; 4], "those of acme");
    assert_eq!(ends[4..], [ChunkEnd::Finished], "the one of umbrella, without a sweep");
    assert_eq!(handler.batches().len(), 1);
    assert_eq!(world.ports.store.parked(TYPE, 9).await.unwrap(), []);
}

#[tokio::test]
async fn a_paused_type_wakes_no_chunk() {
    let handler = Scripted::new(all);
    let world = with_parked_chunks(&handler).await;
    pause(&world.ports.store, of_type()).await;
    assert_eq!(world.run(9).await, [ChunkEnd::Paused]);
    assert_eq!(world.ports.store.parked(TYPE, 9).await.unwrap().len(), 4);
}

/// Pauses the type during the next call, or ping, which takes some seconds longer.
fn pause_during_the_next_call(handler: &Scripted, world: &World, seconds: i64) {
    let store = world.ports.store.clone();
    handler.during_the_next_call(move || async move {
        pause(&store, of_type()).await;
        pass(seconds);
    });
}

/// Continues a chunk after the pause, until it is finished.
async fn continue_after_the_pause(world: &World, message: ChunkMessage) {
    assert_eq!(world.deliver(&message).await, ChunkEnd::Paused, "during the pause");
    pass(PAUSE_S);
    world.send(message);
    assert_eq!(world.run(9).await.last(), Some(&ChunkEnd::Finished));
}

/// The pause begins after the pauses were read for the next call, which waits four seconds for its turn.
#[tokio::test]
async fn a_call_that_waits_for_the_rate_limit_is_not_made_once_its_type_is_paused() {
    let handler = Scripted::new(all);
    let world = World::new(&handler, Registration { items_per_second: Some(0.25), ..registration() }, 1, 3).await;
    let message = world.next_message().unwrap();
    pause_during_the_next_call(&handler, &world, 0);
    assert_eq!(world.deliver(&message).await, ChunkEnd::Paused);
    assert_eq!(handler.batches(), [[1]]);
    assert_eq!(world.counts().await.succeeded, 1, "what was answered is committed");
    continue_after_the_pause(&world, message).await;
    assert_eq!(handler.batches().concat(), [1, 2, 3], "each once");
    assert_eq!(world.counts().await.succeeded, 3);
}

#[tokio::test]
async fn a_call_after_a_ping_is_not_made_once_its_type_is_paused() {
    let handler = Scripted::new(|received| if received.at.0 < 1_005_000 { status(500) } else { all(received) });
    *handler.bad_pings.lock().unwrap() = 1;
    let world = World::new(&handler, registration(), 1, 8).await;
    assert_eq!(world.run(1).await, [ChunkEnd::HandlerWait], "the breaker is open");
    let message = world.next_message().unwrap();
    pass(60);
    let calls = handler.batches().len();
    pause_during_the_next_call(&handler, &world, 3);
    assert_eq!(world.deliver(&message).await, ChunkEnd::Paused);
    assert_eq!((handler.pings(), handler.batches().len()), (2, calls));
    continue_after_the_pause(&world, message).await;
    assert_eq!(world.counts().await.succeeded, 8);
}

#[tokio::test]
async fn a_pause_closes_the_gaps_of_a_partial_answer_and_no_item_spends_a_try() {
    let handler = Scripted::new(|received| match received.numbers[..] {
        [1, .., 8] => ok(received, 3..=8),
        _ => all(received),
    });
    let world = World::new(&handler, Registration { tries: 1, ..registration() }, 1, 20).await;
    let message = world.next_message().unwrap();
    pause_during_the_next_call(&handler, &world, 3);
    assert_eq!(world.deliver(&message).await, ChunkEnd::Paused);
    assert_eq!((handler.batches().len(), world.counts().await.succeeded), (1, 6), "the outcomes behind the gap count");
    continue_after_the_pause(&world, message).await;
    assert_eq!(world.counts().await.succeeded, 20);
    let sent = handler.batches().concat();
    let times = |n: u64| sent.iter().filter(|sent| **sent == n).count();
    assert_eq!((1..=20).map(times).collect::<Vec<_>>(), [&[2; 2][..], &[1; 18]].concat());
    let received = handler.received.lock().unwrap();
    let tries = received.iter().flat_map(|received| received.body["items"].as_array().unwrap());
    assert!(tries.map(|item| &item["try"]).all(|attempt| attempt == 1));
}

/// Nothing is left to send in this round: it ends, and the next one waits for the end of the pause.
#[tokio::test]
async fn a_pause_ends_a_round_whose_last_items_have_gaps() {
    let handler = Scripted::new(|received| match received.numbers[..] {
        [1, .., 8] => ok(received, 3..=8),
        _ => all(received),
    });
    let world = World::new(&handler, registration(), 1, 8).await;
    pause_during_the_next_call(&handler, &world, 3);
    assert_eq!(world.run(1).await, [ChunkEnd::NextRound]);
    let message = world.next_message().unwrap();
    continue_after_the_pause(&world, message).await;
    assert_eq!(handler.batches(), [(1..=8).collect::<Vec<_>>(), vec![1, 2]]);
    assert_eq!(world.counts().await.succeeded, 8);
}
