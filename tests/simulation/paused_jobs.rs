//! Jobs during a pause: those whose items have ended complete, and the others continue after it.

use longshore_domain::job::Status;

use crate::rows::OK;
use crate::world::World;

/// Length of the pauses, in seconds.
const PAUSE_S: i64 = 1_200;

/// Maximum time from the end of a pause to that of its job: a sweep, and the work.
const CONTINUED_S: i64 = 120;

#[test]
fn a_job_whose_items_have_ended_completes_during_a_pause() {
    let mut world = World::new(&[OK; 10], None);
    world.lose_the_completion();
    let until = world.pause_the_type(PAUSE_S);
    world.run_to_the_end();
    assert_eq!(world.job().status, Status::Completed);
    assert!(world.job().times.finished_at.unwrap() < until, "the job has waited for the end of the pause");
}

#[test]
fn a_paused_job_continues_after_its_pause() {
    let mut world = World::new(&[OK; 10], None);
    let until = world.pause_the_type(PAUSE_S);
    world.run_to_the_end();
    world.check_report(&[OK; 10]);
    let finished_at = world.job().times.finished_at.unwrap();
    assert!((until..until.plus_seconds(CONTINUED_S)).contains(&finished_at), "{finished_at:?}, {until:?}");
}

#[test]
fn chunks_that_are_queued_when_a_pause_begins_continue_after_it() {
    let mut world = World::new(&[OK; 40], None);
    world.split();
    let until = world.pause_the_type(PAUSE_S);
    world.run_to_the_end();
    world.check_report(&[OK; 40]);
    let finished_at = world.job().times.finished_at.unwrap();
    assert!((until..until.plus_seconds(CONTINUED_S)).contains(&finished_at), "{finished_at:?}, {until:?}");
}
