//! A table that takes fewer calls a second than the workers make, for many minutes: it refuses the others. No row fails for
//! that, and nothing comes to a dead-letter queue.
//!
//! The stories run the real functions with the deliveries of the template: ten of a message, each later than the one before.
//! A refused call fails its delivery at once. The SDK would make it again first.

use longshore_domain::job::Status;

use crate::dice::Dice;
use crate::handler::OK;
use crate::kinds::Kind;
use crate::plan::{JobPlan, Manners, Plan};
use crate::weather::{self, Rates};
use crate::world::{Turns, World};

/// Rows of each of the jobs, each of which is a chunk.
const ROWS: usize = 300;
const JOBS: usize = 4;
/// Calls that the services take in a second.
const CALLS_PER_S: i64 = 20;
/// Base of the delays between deliveries in the template, in seconds.
const TEMPLATE_BASE_S: i64 = 30;
/// Time within which all jobs end, in seconds.
const BOUND_S: i64 = 3_600;

/// What a run came to.
#[derive(Debug)]
struct Ran {
    ended: bool,
    failed: u64,
    buried: u64,
    refused: u64,
    seconds: i64,
}

/// Runs jobs at once under a limit of calls.
fn ran(redelivery_base_s: i64) -> Ran {
    let manners = Manners { stall_s: 165, mortal: true, redelivery_base_s: Some(redelivery_base_s), ..Manners::PLAIN };
    let job = |upload| JobPlan { upload, ..JobPlan::plain(&[OK; ROWS], Kind::Fine) };
    weather::begin(Dice::of(1), Rates::default());
    let mut world =
        World::of(&Plan { jobs: (0..JOBS).map(job).collect(), manners, stretches: Vec::new() }, Dice::of(2));
    weather::limit_calls(CALLS_PER_S);
    let turns = Turns { at_once: Some("default"), slowly: "nobody" };
    let mut seconds = 0;
    while seconds < BOUND_S && !world.all(|world| world.job().status.is_final()) {
        world.take_turns(60, turns, |_, _| {});
        seconds += 60;
    }
    let ended = world.all(|world| world.job().status == Status::Completed);
    let mut failed = 0;
    world.each(|world| failed += world.job().totals.map_or(0, |totals| totals.failed));
    let (tally, _) = weather::tally();
    let count = |kind: &str| tally.get(kind).copied().unwrap_or(0);
    Ran { ended, failed, buried: count("buried"), refused: count("throttled"), seconds }
}

#[test]
fn no_row_fails_for_calls_that_are_refused_for_their_rate() {
    let ran = ran(TEMPLATE_BASE_S);
    println!("{ran:?}");
    assert!(ran.ended && ran.seconds < BOUND_S && (ran.failed, ran.buried) == (0, 0), "{ran:?}");
    assert!(ran.refused > 1_000, "nothing was short: {ran:?}");
}

#[test]
fn deliveries_that_follow_at_once_come_to_the_dead_letter_queue() {
    let ran = ran(0);
    println!("{ran:?}");
    assert!(!ran.ended && ran.buried > 100, "the delays are not needed: {ran:?}");
}
