//! Situations that random runs seldom reach: jobs that are given up, canceled during their completion, removed
//! half-way, or past their time limit, and splitters that overtake each other.

use longshore_domain::job::Status;

use crate::kinds::Kind;
use crate::plan::JobPlan;
use crate::rows::NEVER;
use crate::run::{run, violation_of};
use crate::trace::TraceMode;
use crate::world::World;

/// Number of seeds within which a replay of too many rows must be detected.
const SEEDS: u64 = 20_000;

/// Conditions whose removal random runs rarely detect, each with the story that fails without it.
pub(crate) const SHOWN_BY_STORIES: [(&str, fn()); 1] = [("place-of-the-split", one_splitter_overtakes_another)];

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
fn a_table_without_the_condition_of_an_insert_is_detected() {
    assert!((0..500).any(|seed| run(seed, Some("records-by-their-rule"), TraceMode::Off).is_err()));
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
