//! Services with a limited number of calls per second, and functions that exceed it for many minutes. No message
//! reaches a dead-letter queue, and every row succeeds.
//!
//! The stories run the real functions. A message has ten deliveries, with the template's base of the delays between
//! them. The SDK would retry a refused call; here the delivery fails.

use longshore_domain::job::Status;

use crate::faults::{self, Rates};
use crate::kinds::Kind;
use crate::plan::{Environment, JobPlan, Plan};
use crate::rng::Rng;
use crate::rows::OK;
use crate::world::{Turns, World};

/// Rows per job; each row is a chunk.
const ROWS: usize = 300;
const JOBS: usize = 4;
/// Calls per second that the services accept.
const CALLS_PER_S: i64 = 20;
/// Base of the delays between deliveries in the template, in seconds.
const TEMPLATE_BASE_S: i64 = 30;
/// Time within which all jobs end, in seconds.
const BOUND_S: i64 = 3_600;

/// The result of a run.
#[derive(Debug)]
struct RunResult {
    ended: bool,
    failed: u64,
    dead_lettered: u64,
    refused: u64,
    calls: u64,
    seconds: i64,
}

/// Runs concurrent jobs under a limit of calls.
fn run_jobs(redelivery_base_s: i64) -> RunResult {
    let environment = Environment {
        stall_s: 165,
        has_timeouts: true,
        redelivery_base_s: Some(redelivery_base_s),
        ..Environment::PLAIN
    };
    let job = |upload| JobPlan { upload, ..JobPlan::plain(&[OK; ROWS], Kind::Fine) };
    faults::begin(Rng::from_seed(1), Rates::default());
    let mut world = World::from_plan(
        &Plan { jobs: (0..JOBS).map(job).collect(), environment, phases: Vec::new() },
        Rng::from_seed(2),
    );
    faults::limit_calls(CALLS_PER_S);
    let turns = Turns { at_once: Some("default"), slowly: "no tenant" };
    let mut seconds = 0;
    while seconds < BOUND_S && !world.all(|world| world.job().status.is_final()) {
        world.take_turns(60, turns, |_, _| {});
        seconds += 60;
    }
    let ended = world.all(|world| world.job().status == Status::Completed);
    let mut failed = 0;
    world.each(|world| failed += world.job().completion.totals.map_or(0, |totals| totals.failed));
    if ended {
        world.each(|world| world.check_report(&[OK; ROWS]));
    }
    let (tally, calls) = faults::tally();
    let count = |kind: &str| tally.get(kind).copied().unwrap_or(0);
    RunResult { ended, failed, dead_lettered: count("dead-lettered"), refused: count("throttled"), calls, seconds }
}

#[test]
fn no_row_fails_because_of_throttled_calls() {
    let result = run_jobs(TEMPLATE_BASE_S);
    println!("{result:?}");
    assert!(result.ended && result.seconds < BOUND_S && (result.failed, result.dead_lettered) == (0, 0), "{result:?}");
    assert!(result.refused * 4 > result.calls, "too few calls were refused: {result:?}");
}

#[test]
fn messages_that_are_redelivered_every_second_reach_the_dead_letter_queue() {
    let result = run_jobs(0);
    println!("{result:?}");
    assert!(!result.ended && result.dead_lettered > 100, "{result:?}");
}
