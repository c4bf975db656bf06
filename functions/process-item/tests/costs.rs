//! The cost that a worker records with its commits, and the stop before the maximum of a job is exceeded.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::cell::Cell;

use longshore::chunk::{ChunkEnd, CostMeter, Mode};
use longshore::handler::{ItemKey, JobContext, JobType, Outcome, Registry};
use longshore_domain::cost::{NanoDollars, Units, cost_so_far, generation_cost};
use longshore_domain::ids::JobId;
use longshore_domain::job::{Job, Tolerance};
use longshore_domain::ports::{JobProgress, Queues};
use longshore_domain::tenant::TenantId;
use longshore_domain::timestamp::Timestamp;
use longshore_testing::{ChunkWorld, numbered_rows};
use serde_json::Value;

/// Items of the only chunk, each of a tenth of a second: five turns of a worker.
const ITEMS: u32 = 1_000;

thread_local! {
    static CLOCK: Cell<i64> = const { Cell::new(0) };
    /// Items that were processed: each writes a unit.
    static WRITES: Cell<u64> = const { Cell::new(0) };
}

fn clock() -> Timestamp {
    Timestamp(CLOCK.get())
}

fn meter() -> CostMeter {
    let read = || Units { writes: WRITES.get(), ..Units::NONE };
    CostMeter { read, memory_mb: 1_024, chunks_at_once: 1 }
}

struct Slow;

impl JobType for Slow {
    const NAME: &'static str = "slow";
    type Options = Value;
    type Item = Value;
    type Output = ();

    async fn process(&self, _: &JobContext, _: &Value, _: ItemKey, _: Value) -> Outcome {
        CLOCK.set(CLOCK.get() + 100);
        WRITES.set(WRITES.get() + 1);
        Outcome::Ok(())
    }
}

/// Processes the only chunk of a job with this maximum. Returns the job and its groups after the last delivery, and the
/// end of that delivery.
async fn work(max_cost: Option<NanoDollars>) -> (JobProgress, ChunkEnd) {
    let job = Job::waiting(JobId::generate(), TenantId::from_static("default"), "slow", clock());
    let tolerance = Tolerance { max_cost, ..Tolerance::default() };
    let mut world = ChunkWorld::with_job(Job { tolerance, ..job }, &numbered_rows(ITEMS), clock).await;
    world.process.meter = meter();
    let registry = Registry::default().with(Slow);
    let (worker, queues) = (world.worker(&registry), &world.ports.queues);
    queues.send_chunks(std::slice::from_ref(&world.message), 0).await.unwrap();
    loop {
        let message = queues.take_chunks().pop().unwrap().message;
        let end = worker.work(&message, Mode::Work, clock().plus_seconds(116)).await.unwrap();
        if end != ChunkEnd::Continued {
            return (world.progress().await, end);
        }
    }
}

#[tokio::test]
async fn commits_record_the_time_and_the_units_of_their_work() {
    let (JobProgress { job, groups }, end) = work(None).await;
    let usage = groups[0].usage;
    assert_eq!((end, usage.deliveries, usage.gb_ms), (ChunkEnd::Finished, 5, 100_000));
    // Each item, and each of about a hundred commits.
    assert!((1_090..=1_110).contains(&usage.writes), "{usage:?}");
    assert!(cost_so_far(&job, &groups).unwrap().total() > NanoDollars(100_000 * 13));
}

#[tokio::test]
async fn a_job_is_stopped_before_its_maximum_cost_is_exceeded_and_one_below_is_not() {
    let (JobProgress { job, groups }, _) = work(None).await;
    let whole = generation_cost(&job, &groups).total();
    for percent in [30, 60, 90] {
        let max = NanoDollars(whole.0 * percent / 100);
        let (JobProgress { job, groups }, end) = work(Some(max)).await;
        let (error, cost) = (job.stop.as_ref().unwrap().error.clone().unwrap(), generation_cost(&job, &groups));
        assert_eq!((error.code.as_str(), end), ("cost_limit", ChunkEnd::NotLive), "{percent} %");
        assert!(cost.total() <= max, "{percent} %: {cost:?} is more than {max:?}");
        assert!(cost.total().0 > max.0 / 2, "{percent} %: {cost:?} is far below {max:?}");
    }
    let (JobProgress { job, groups }, end) = work(Some(NanoDollars(whole.0 * 11 / 10))).await;
    assert_eq!((job.stop, end, groups[0].is_done()), (None, ChunkEnd::Finished, true));
}
