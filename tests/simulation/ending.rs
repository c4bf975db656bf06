//! Endings that a client asks for: a job is canceled at any moment, and deleted at any moment.

use longshore_domain::job::Status;
use proptest::prelude::*;

use crate::handler::csv_of;
use crate::world::{Event, World};
use crate::{events, rows};

/// More steps than completion of the small job below takes.
const STEPS: usize = 50;

/// The last item has ended and completion is at work: the cancel comes between any two steps of it.
#[test]
fn a_cancel_and_a_natural_end_at_the_same_moment_leave_one_of_the_two_exact() {
    let rows = [0, 1, 2, 0, 0, 0, 2, 1, 0, 0];
    let (mut canceled, mut completed) = (0, 0);
    for steps in 0..STEPS {
        for turns in 0..8 {
            let mut world = World::new(&csv_of(&rows), None);
            world.cancel_within_completion(steps, turns);
            world.run_to_the_end();
            world.check_report(&rows);
            let job = world.job();
            assert_eq!(job.totals.unwrap().done(), 10, "everything had ended");
            match (job.status, job.error) {
                (Status::Canceled, Some(error)) if error.code == "canceled" => canceled += 1,
                (Status::Completed, None) => completed += 1,
                other => panic!("after {steps} steps: {other:?}"),
            }
        }
    }
    assert!(canceled > 20 && completed > 20, "{canceled} canceled, {completed} completed: one-sided");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn a_job_that_is_canceled_at_any_moment_leaves_a_partition(
        rows in rows(), events in events(), at in any::<prop::sample::Index>(), again in any::<bool>()
    ) {
        let mut events = events;
        for _ in 0..=usize::from(again) {
            events.insert(at.index(events.len() + 1), Event::Cancel);
        }
        let mut world = World::new(&csv_of(&rows), None);
        events.into_iter().for_each(|event| world.happen(event));
        world.run_to_the_end();
        world.check_report(&rows);
        let job = world.job();
        prop_assert!(matches!(job.status, Status::Completed | Status::Canceled), "{:?}", job);
    }

    #[test]
    fn a_job_that_is_deleted_at_any_moment_is_gone_in_the_end(
        rows in rows(), events in events(), stopped in any::<bool>(), steps in 0..80_usize
    ) {
        let mut world = World::new(&csv_of(&rows), None);
        events.into_iter().for_each(|event| world.happen(event));
        world.delete(stopped);
        let left = world.run_until_removed(steps);
        prop_assert!(left.is_empty(), "{:?}", left);
    }
}
