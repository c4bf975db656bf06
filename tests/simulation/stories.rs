//! Jobs that are given up, jobs that exceed their time limit, and splitters that overtake each other.

use longshore_domain::job::Status;

use crate::handler::NEVER;
use crate::kinds::Kind;
use crate::plan::JobPlan;
use crate::run::violation_of;
use crate::world::World;

/// Conditions that random runs rarely need, each with the story that fails without it.
pub(crate) const SHOWN_BY_STORIES: [(&str, fn()); 1] = [("place-of-the-split", one_splitter_overtakes_another)];

/// Two splitters of a retry: one has written its group and has not yet read the job again; the other reads the job and
/// writes the next group. The first one continues from its own position.
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
        assert!(violation_of(Some(name), story).is_some(), "the story does not miss {name}");
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
