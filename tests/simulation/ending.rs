//! Endings that a client requests: a job is canceled at the moment of its natural end, and a removal dies half-way.

use longshore_domain::job::Status;

use crate::world::World;

/// More steps than completion of the small job below takes.
const STEPS: usize = 70;

/// The last item is done and completion is running. The cancel comes between any two of its steps.
#[test]
fn a_cancel_and_a_natural_end_at_the_same_moment_leave_one_of_the_two_exact() {
    let rows = [0, 1, 2, 0, 0, 0, 2, 1, 0, 0];
    let (mut canceled, mut completed) = (0, 0);
    for steps in 0..STEPS {
        for turns in 0..8 {
            let mut world = World::new(&rows, None);
            world.cancel_within_completion(steps, turns);
            world.run_to_the_end();
            world.check_report(&rows);
            let job = world.job();
            assert_eq!(job.completion.totals.unwrap().done(), 10, "everything had ended");
            match (job.status, job.error) {
                (Status::Canceled, Some(error)) if error.code == "canceled" => canceled += 1,
                (Status::Completed, None) => completed += 1,
                other => panic!("after {steps} steps: {other:?}"),
            }
        }
    }
    assert!(canceled > 20 && completed > 20, "{canceled} canceled, {completed} completed: one-sided");
}

#[test]
fn a_removal_that_dies_at_any_step_leaves_nothing_in_the_end() {
    for steps in 0..60 {
        let mut world = World::new(&[0, 2, 1, 0], None);
        world.run_to_the_end();
        world.delete(false);
        let left = world.run_until_removed(steps);
        assert!(left.is_empty(), "{left:?}");
    }
}
