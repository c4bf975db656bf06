//! A queue that is never empty, with messages of two tenants. Waiting messages are not pushed needlessly, however long
//! they wait. Lost messages are detected within five minutes.
//!
//! The stories run the real functions with one message every ten seconds, the template's stall time, and one sweep
//! every minute.

use std::collections::BTreeSet;

use longshore_domain::job::{Priority, Status};

use crate::kinds::Kind;
use crate::plan::{Environment, JobPlan, Plan};
use crate::rng::Rng;
use crate::rows::OK;
use crate::world::{Turns, World};

/// Stall time of the template.
const STALL_S: i64 = 165;
/// Seconds within which a lost message is sent again.
const BOUND_S: i64 = 300;
/// Time for the split of a file, in seconds.
const SPLIT_S: i64 = 5;
/// Number of hours in which only one tenant's messages are delivered.
const HOURS: i64 = 3;
/// Number of probes of a job in that time. The waits begin with the stall time and double, so the next probe would be
/// after 3.75 hours.
const PROBES: u32 = 6;

const QUIET: &str = "default";
const BUSY: &str = "other";

/// A low-priority job of many small chunks.
fn job(tenant: &'static str, upload: usize) -> JobPlan {
    JobPlan { tenant, upload, priority: Priority::Low, ..JobPlan::plain(&[OK; 80], Kind::Fine) }
}

fn world() -> World {
    let environment = Environment { stall_s: STALL_S, has_timeouts: true, ..Environment::PLAIN };
    World::from_plan(&Plan { jobs: vec![job(QUIET, 0)], environment, phases: Vec::new() }, Rng::from_seed(5))
}

/// Keeps the queue full of the other tenant's messages.
fn supply(world: &mut World, uploads: &mut usize) {
    if world.queued_of(BUSY) < 20 {
        *uploads += 1;
        world.add_job(&job(BUSY, *uploads));
    }
}

/// Groups of the current job that have been pushed. A received message resets a group's own count to zero.
#[derive(Default)]
struct Pushed(BTreeSet<usize>);

impl Pushed {
    /// Adds the groups that were pushed since. Returns true once all groups have been pushed.
    fn add(&mut self, world: &World) -> bool {
        let pushes = world.pushes();
        self.0.extend(pushes.iter().enumerate().filter(|(_, pushes)| **pushes > 0).map(|(group, _)| group));
        self.0.len() == pushes.len()
    }
}

/// Delivers the busy tenant's messages slowly, and those of the tenant `at_once` immediately.
fn turns(at_once: Option<&'static str>) -> Turns {
    Turns { at_once, slowly: BUSY }
}

#[test]
fn chunks_that_wait_for_hours_are_neither_given_up_nor_pushed_needlessly() {
    let (mut world, mut uploads, mut others) = (world(), 0, 0);
    world.take_turns(HOURS * 3_600, turns(None), |world, second| {
        supply(world, &mut uploads);
        if second % 60 == 59 {
            others += world.pushes_of(BUSY);
        }
    });
    let pushes = [world.pushes_of(QUIET), others];
    println!("pushes in {HOURS} hours: {pushes:?}");
    assert!(pushes[0] <= PROBES && pushes[1] == 0, "{pushes:?}");
    world.run_to_the_end();
    assert_eq!((world.job().status, world.failed_count()), (Status::Completed, 0));
    world.check_report(&[OK; 80]);
}

#[test]
fn messages_that_are_lost_in_a_busy_queue_are_sent_again_within_five_minutes() {
    let (mut world, mut uploads, mut found) = (world(), 0, None);
    world.take_turns(SPLIT_S, turns(None), |world, _| supply(world, &mut uploads));
    let mut pushed = Pushed::default();
    assert!(world.pushes().len() > 3, "{:?}", world.pushes());
    world.lose_chunks(|message| message.chunk == 0);
    world.take_turns(2 * BOUND_S, turns(Some(QUIET)), |world, second| {
        supply(world, &mut uploads);
        // Further jobs of the quiet tenant.
        if second % 30 == 20 {
            uploads += 1;
            world.add_job(&job(QUIET, uploads));
        }
        if pushed.add(world) {
            found.get_or_insert(SPLIT_S + second);
        }
    });
    println!("the last lost message was sent again after {found:?} s");
    assert!(found.is_some_and(|second| second <= BOUND_S), "{found:?}");
}

#[test]
fn every_lost_group_of_a_quiet_tenant_is_sent_again_within_five_minutes() {
    let (mut world, mut uploads, mut found) = (world(), 0, None);
    world.take_turns(SPLIT_S, turns(None), |world, _| supply(world, &mut uploads));
    let mut pushed = Pushed::default();
    assert!(world.pushes().len() > 3, "{:?}", world.pushes());
    world.lose_chunks(|_| true);
    world.take_turns(2 * BOUND_S, turns(Some(QUIET)), |world, second| {
        supply(world, &mut uploads);
        if pushed.add(world) {
            found.get_or_insert(SPLIT_S + second);
        }
    });
    println!("the last lost group was sent again after {found:?} s");
    assert!(found.is_some_and(|second| second <= BOUND_S), "{found:?}");
}
