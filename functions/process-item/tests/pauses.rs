//! A chunk whose job type is paused while it is processed, and afterwards.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::{Cell, RefCell};

use longshore::chunk::{ChunkEnd, Mode};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore_domain::ids::PauseId;
use longshore_domain::outcome::Counts;
use longshore_domain::pause::{Pause, PauseScope};
use longshore_domain::ports::{Ledger, PauseOutcome, PauseRecords};
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{ChunkWorld, MemoryStore, numbered_rows};
use serde_json::Value;

/// Number of items.
const ITEMS: u32 = 200;

/// Number of the item at which an operator pauses the type.
const PAUSED_AT: u64 = 30;

/// Maximum number of items that are started after the pause: those of two seconds, and one batch.
const LATE: usize = 20 + 16;

/// Seconds of the pause.
const PAUSE_S: i64 = 600;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(0) };
    /// Numbers of the items that were passed to the handler.
    static PASSED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

/// A handler that takes a tenth of a second for each item, and whose type is paused during one.
struct Paused(MemoryStore);

impl JobType for Paused {
    const NAME: &'static str = "paused";
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, key: ItemKey, _: Value) -> Outcome {
        CLOCK.set(CLOCK.get() + 100);
        PASSED.with_borrow_mut(|passed| passed.push(key.number));
        if key.number == PAUSED_AT {
            let scope = PauseScope::JobType(Self::NAME.to_owned());
            let (since, until) = (clock(), clock().plus_seconds(PAUSE_S));
            let pause = Pause { id: PauseId::generate(), scope, since, until, by: "olga".to_owned() };
            assert_eq!(self.0.put_pause(&pause).await.unwrap(), PauseOutcome::Made);
        }
        Outcome::Ok(())
    }
}

#[tokio::test]
async fn a_chunk_is_committed_and_ends_during_a_pause_and_each_item_is_processed_once() {
    let world = ChunkWorld::new(Paused::NAME, &numbered_rows(ITEMS), clock).await;
    let (job_id, store, queues) = (world.job.job_id, &world.ports.store, &world.ports.queues);
    let registry = Registry::default().with(Paused(store.clone()));
    let worker = world.worker(&registry);
    let work = async || worker.work(&world.message, Mode::Work, clock().plus_seconds(60)).await.unwrap();
    let counts = async || world.progress().await.groups[0].counts;
    assert_eq!(work().await, ChunkEnd::Paused);
    let passed = PASSED.with_borrow(Vec::len);
    assert!(passed <= PAUSED_AT as usize + LATE, "{passed} items were passed");
    assert_eq!(counts().await, Counts { succeeded: passed as u64, ..Counts::default() });
    assert_eq!(queues.take_chunks().len(), 0, "the sweeper sends the chunk after the pause");
    // The sweeper has sent it between two pauses.
    let sent_at = clock();
    store.count_group_resend(job_id, 0, 0, sent_at).await.unwrap();
    assert_eq!(work().await, ChunkEnd::Paused);
    assert_eq!(PASSED.with_borrow(Vec::len), passed);
    let group = store.chunk_state(job_id, 0).await.unwrap().unwrap().group;
    assert_eq!((group.resends, group.sent_at), (0, sent_at), "its message has arrived");
    CLOCK.set(clock().plus_seconds(PAUSE_S).0);
    while work().await == ChunkEnd::Continued {
        assert_eq!(queues.take_chunks().len(), 1);
    }
    assert_eq!(counts().await, Counts { succeeded: ITEMS.into(), ..Counts::default() });
    assert_eq!(PASSED.take(), (1..=u64::from(ITEMS)).collect::<Vec<_>>());
}
