//! The real splitter, worker, completion and sweeper over in-memory services, in every order that chance proposes.
//!
//! Each call of a service is two places where a function can be left for another, or die: before the call and after
//! it (the call took, its reply was lost). Messages are delivered twice, late, in any order, or not at all. Whatever
//! happens, every answer adds up, progress never falls, the job ends, and succeeded rows and the rows of the report's
//! files are the rows of the input. The model in the domain checks the protocol; this checks the code.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "what tests call stops a test as tests do")]

mod corrections;
mod ending;
mod gate;
mod handler;
mod report;
mod stepwise;
mod world;

use longshore_domain::job::Status;
use proptest::prelude::*;

use handler::{ACTIONS, csv_of};
use world::{Event, World};

fn rows() -> impl Strategy<Value = Vec<usize>> {
    prop::collection::vec(prop_oneof![4 => Just(0_usize), 3 => 0..ACTIONS.len() - 1], 0..40)
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        8 => any::<prop::sample::Index>().prop_map(Event::Deliver),
        2 => any::<prop::sample::Index>().prop_map(Event::DeliverAndKeep),
        40 => (any::<prop::sample::Index>(), 1..30_u8).prop_map(|(task, steps)| Event::Step(task, steps)),
        2 => any::<prop::sample::Index>().prop_map(Event::Kill),
        1 => any::<prop::sample::Index>().prop_map(Event::Lose),
        1 => Just(Event::Sweep),
        1 => (1..100_i64).prop_map(Event::Wait),
    ];
    prop::collection::vec(event, 0..300)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, max_shrink_iters: 4_000, ..ProptestConfig::default() })]

    #[test]
    fn whatever_happens_every_row_is_counted_and_reported_once(rows in rows(), events in events()) {
        let mut world = World::new(&csv_of(&rows), None);
        events.into_iter().for_each(|event| world.happen(event));
        world.run_to_the_end();
        world.check_report(&rows);
        prop_assert_eq!(world.job().status, Status::Completed);
    }

    #[test]
    fn a_job_that_stops_leaves_a_partition_of_its_rows(rows in rows(), events in events(), tolerated in 0..4_u64) {
        let mut world = World::new(&csv_of(&rows), Some(tolerated));
        events.into_iter().for_each(|event| world.happen(event));
        world.run_to_the_end();
        world.check_report(&rows);
        prop_assert!(world.job().status.is_final());
    }

    #[test]
    fn a_fatal_row_stops_its_job_and_leaves_a_partition(rows in rows(), at in any::<prop::sample::Index>(), events in events()) {
        let mut rows = rows;
        if !rows.is_empty() {
            let at = at.index(rows.len());
            rows[at] = ACTIONS.len() - 1;
        }
        let mut world = World::new(&csv_of(&rows), None);
        events.into_iter().for_each(|event| world.happen(event));
        world.run_to_the_end();
        world.check_report(&rows);
        let expected = if rows.is_empty() { Status::Completed } else { Status::Failed };
        prop_assert_eq!(world.job().status, expected);
    }

    #[test]
    fn a_retry_that_is_canceled_at_any_moment_leaves_a_partition_and_can_be_retried(
        rows in rows(), before in events(), after in events(), at in any::<prop::sample::Index>()
    ) {
        let mut world = World::new(&csv_of(&rows), None);
        before.into_iter().for_each(|event| world.happen(event));
        world.run_to_the_end();
        let mut after = after;
        after.insert(at.index(after.len() + 1), Event::Cancel);
        world.happen(Event::Retry);
        after.into_iter().for_each(|event| world.happen(event));
        world.run_to_the_end();
        world.check_report(&rows);
        world.happen(Event::Retry);
        world.run_to_the_end();
        world.check_report(&rows);
        prop_assert_eq!(world.job().status, Status::Completed);
    }

    #[test]
    fn a_retry_runs_what_was_left_and_nothing_else(
        rows in rows(), stops in any::<bool>(), before in events(), between in events(), after in events()
    ) {
        let mut world = World::new(&csv_of(&rows), stops.then_some(1));
        before.into_iter().for_each(|event| world.happen(event));
        for events in [between, after] {
            world.run_to_the_end();
            world.check_report(&rows);
            world.happen(Event::Retry);
            events.into_iter().for_each(|event| world.happen(event));
        }
        world.run_to_the_end();
        world.check_report(&rows);
        let fails_always = rows.iter().any(|action| ["reject", "never"].contains(&ACTIONS[*action]));
        prop_assert!(!fails_always || world.job().generation >= 2, "each end left something to run again");
    }
}

#[test]
fn chunks_whose_messages_are_lost_for_ever_are_given_up() {
    let mut world = World::new(&csv_of(&[0; 10]), None);
    world.run_without_chunks();
    let job = world.job();
    assert_eq!((job.status, job.totals.unwrap().failed), (Status::Completed, 10));
    assert_eq!(world.failed_codes(), ["dead_lettered"; 10]);
}

#[test]
fn a_job_past_its_deadline_is_stopped_and_its_rows_are_unprocessed() {
    let mut world = World::new(&csv_of(&[0; 10]), None);
    world.pass_the_deadline();
    world.run_to_the_end();
    world.check_report(&[0; 10]);
    assert_eq!(world.job().error.unwrap().code, "time_limit");
}
