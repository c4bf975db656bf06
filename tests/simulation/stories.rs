//! Situations that random runs seldom reach: jobs that are given up, canceled during their completion, removed
//! half-way, or past their time limit, and splitters that overtake each other.
//!
//! A queue that is never empty, with messages of two tenants. Waiting messages are not pushed needlessly, however long
//! they wait. Lost messages are detected within five minutes. These stories run the real functions with one message
//! every ten seconds, the template's stall time, and one sweep every minute.

use std::collections::BTreeSet;

use longshore_domain::job::{Priority, Status};

use crate::concurrency::{chunks_are_parked_for_a_day, workers_wake_all_parked_chunks};
use crate::kinds::Kind;
use crate::limits::four_instances_keep_the_limit;
use crate::plan::{Environment, JobPlan, Plan};
use crate::rng::Rng;
use crate::rows::{NEVER, OK};
use crate::run::{run, violation_of};
use crate::trace::TraceMode;
use crate::undo_races::RACES;
use crate::world::{Turns, World};

/// Number of seeds within which a replay of too many rows must be detected.
const SEEDS: u64 = 20_000;

/// Conditions whose removal random runs rarely detect, each with the story that fails without it.
pub(crate) const SHOWN_BY_STORIES: [(&str, fn()); 10] = {
    // A preview that writes is found by the seeds.
    let [undo, generation, retry, delete, _] = RACES;
    let permits = ("permits-released", workers_wake_all_parked_chunks as fn());
    let parked = ("parked-chunks-are-not-stalled", chunks_are_parked_for_a_day as fn());
    let rate = ("rate-added-to-the-stored-time", four_instances_keep_the_limit as fn());
    let split = ("place-of-the-split", one_splitter_overtakes_another as fn());
    let moves = ("events-moved-in-time", a_function_is_paused_within_its_move_of_events as fn());
    let roll_up = ("no-roll-up-after-the-end", a_worker_is_paused_until_its_job_has_ended as fn());
    [split, undo, generation, retry, delete, permits, parked, rate, moves, roll_up]
};

/// Number of steps: more than the start of a job takes.
const START_STEPS: usize = 60;

/// The function that starts a job is paused for half a minute before any of its calls. Meanwhile a client reads later
/// events. Events of the paused function must not enter the list before those that the client has read.
fn a_function_is_paused_within_its_move_of_events() {
    for steps in 0..START_STEPS {
        let jobs = [0, 1].map(|upload| JobPlan { upload, ..JobPlan::plain(&[OK; 10], Kind::Fine) });
        let plan = Plan { jobs: jobs.into(), environment: Environment::PLAIN, phases: Vec::new() };
        let mut world = World::from_plan(&plan, Rng::from_seed(5));
        world.pause_the_first_function(steps);
        world.run_to_the_end();
        world.run_until_all_events_are_listed();
        world.check_events();
    }
}

/// A worker is paused before any of its calls. Meanwhile a client cancels the job, and completion ends it. What the
/// worker does afterwards changes nothing: not even the roll-up of a group whose last item it has committed.
fn a_worker_is_paused_until_its_job_has_ended() {
    for steps in 0..START_STEPS {
        let mut world = World::alone(JobPlan::plain(&[OK; 10], Kind::Fine));
        world.end_beside_a_worker(steps);
        world.run_to_the_end();
    }
}

/// Two splitters of a retry. One has written its group, and has not yet read the job again. The other reads the job,
/// and writes the next group. The first one must continue from its own position.
fn one_splitter_overtakes_another() {
    let rows = [NEVER; 80];
    let mut world = World::alone(JobPlan::plain(&rows, Kind::Fine));
    world.run_to_the_end();
    world.retry();
    world.overtake_the_split();
    world.run_to_the_end();
    world.check_report(&rows);
}

#[test]
fn a_splitter_that_is_overtaken_within_its_commit_plans_no_row_twice() {
    one_splitter_overtakes_another();
}

#[test]
fn each_story_fails_without_its_condition() {
    for (name, story) in SHOWN_BY_STORIES {
        assert_eq!(violation_of(None, story), None);
        assert!(violation_of(Some(name), story).is_some(), "the story does not fail without {name}");
    }
}

#[test]
fn chunks_whose_messages_are_always_lost_are_given_up() {
    let mut world = World::new(&[0; 10], None);
    world.run_without_chunks();
    let job = world.job();
    assert_eq!((job.status, job.completion.totals.unwrap().failed), (Status::Completed, 10));
    let codes: Vec<_> = world.failed_codes().into_values().collect();
    assert_eq!(codes, ["dead_lettered"; 10]);
}

#[test]
fn a_job_past_its_deadline_is_stopped_and_its_rows_are_unprocessed() {
    let mut world = World::new(&[0; 10], None);
    world.pass_the_deadline();
    world.run_to_the_end();
    world.check_report(&[0; 10]);
    assert_eq!(world.job().error.unwrap().code, "time_limit");
}

#[test]
fn a_table_without_the_condition_of_an_import_mode_is_detected() {
    for condition in ["records-by-their-rule", "updates-of-existing-records", "deletes-of-no-later-writer"] {
        assert!((0..500).any(|seed| run(seed, Some(condition), TraceMode::Off).is_err()), "{condition}");
    }
}

#[test]
fn a_replay_of_more_than_the_given_up_items_is_detected() {
    let is_detected = |seed| run(seed, Some("replay-of-what-was-given-up"), TraceMode::Off).is_err();
    assert!((0..SEEDS).any(is_detected), "no violation without the condition");
}

/// Number of steps: more than the completion of the job below takes.
const STEPS: usize = 70;

/// The last item is done, and the completion is running. The cancel comes between any two of its steps.
#[test]
fn of_a_concurrent_cancel_and_completion_exactly_one_takes_effect() {
    let rows = [0, 1, 2, 0, 0, 0, 2, 1, 0, 0];
    let (mut canceled, mut completed) = (0, 0);
    for steps in 0..STEPS {
        for turns in 0..8 {
            let mut world = World::new(&rows, None);
            world.cancel_within_completion(steps, turns);
            world.run_to_the_end();
            world.check_report(&rows);
            let job = world.job();
            assert_eq!(job.completion.totals.unwrap().done(), 10, "every item had ended");
            match (job.status, job.error) {
                (Status::Canceled, Some(error)) if error.code == "canceled" => canceled += 1,
                (Status::Completed, None) => completed += 1,
                other => panic!("after {steps} steps: {other:?}"),
            }
        }
    }
    assert!(canceled > 20 && completed > 20, "{canceled} canceled, {completed} completed");
}

#[test]
fn a_removal_that_is_interrupted_at_any_step_finally_leaves_nothing() {
    for steps in 0..60 {
        let mut world = World::new(&[0, 2, 1, 0], None);
        world.run_to_the_end();
        world.delete_without_stop();
        let left = world.run_until_removed(steps);
        assert!(left.is_empty(), "{left:?}");
    }
}

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
