//! A job type with a concurrency limit of two chunks: no more than two run, and every job ends.

use longshore_domain::job::Status;
use proptest::prelude::*;

use crate::handler::{CONCURRENCY_LIMIT, max_running, repeated};
use crate::world::World;

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]

    /// No sweep runs: only workers that release a permit wake parked chunks.
    #[test]
    fn without_crashes_no_parked_chunk_waits_for_the_sweeper(
        turns in prop::collection::vec((0..64_usize, 1..32_usize), 0..200),
    ) {
        let rows = [0; 40];
        let mut world = World::limited(&rows);
        world.run_in_turns(turns);
        prop_assert_eq!(world.job().status, Status::Completed);
        world.check_report(&rows);
        prop_assert_eq!(repeated(world.job().job_id), [0_u64; 0], "items ran twice, although no message was repeated");
    }
}

/// No sweep runs, and time does not pass.
pub(crate) fn workers_wake_all_parked_chunks() {
    let mut world = World::limited(&[0; 40]);
    world.run_in_turns((0..64).map(|task| (task, 1)).collect());
    assert_eq!((max_running(), world.job().status), (CONCURRENCY_LIMIT, Status::Completed));
}

#[test]
fn chunks_run_up_to_the_concurrency_limit() {
    workers_wake_all_parked_chunks();
}

/// A worker of the limited type is killed at each of its steps in turn. Its permit expires, and a parked chunk is
/// woken.
#[test]
fn a_worker_that_is_killed_at_any_step_does_not_block_the_concurrency_limit() {
    for victim in 0..14 {
        for steps in 1..40 {
            let mut world = World::limited(&[0; 40]);
            world.kill_at(victim, steps);
            world.run_to_the_end();
            assert_eq!(world.failed_count(), 0, "worker {victim} at step {steps}: a chunk was given up");
        }
    }
}

#[test]
fn a_slow_worker_keeps_its_permit_until_it_is_killed() {
    let mut world = World::limited(&[0; 40]);
    world.exceed_the_permits();
    assert_eq!(max_running(), CONCURRENCY_LIMIT);
    world.run_to_the_end();
    assert_eq!((world.job().status, world.failed_count()), (Status::Completed, 0));
}

#[test]
fn chunks_that_are_parked_for_a_day_are_neither_pushed_nor_given_up() {
    chunks_are_parked_for_a_day();
}

pub(crate) fn chunks_are_parked_for_a_day() {
    let mut world = World::limited(&[0; 40]);
    world.occupy_all_permits(24 * 60);
    world.wake_without_deliveries();
    world.run_to_the_end();
    assert_eq!((world.job().status, world.failed_count()), (Status::Completed, 0));
}

/// A parked chunk is woken by a new message, whose receive count begins at zero.
#[test]
fn a_chunk_that_failed_too_often_is_not_parked_again() {
    for (failures, status, failed) in [(0, Status::Running, 0), (9, Status::Running, 0), (10, Status::Completed, 40)] {
        let mut world = World::limited(&[0; 40]);
        world.deliver_after(failures);
        assert_eq!((world.job().status, world.failed_count()), (status, failed), "after {failures}");
    }
}
