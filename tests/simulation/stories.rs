//! Jobs that are given up, and jobs that take too long.

use longshore_domain::job::Status;

use crate::world::World;

#[test]
fn chunks_whose_messages_are_lost_for_ever_are_given_up() {
    let mut world = World::new(&[0; 10], None);
    world.run_without_chunks();
    let job = world.job();
    assert_eq!((job.status, job.totals.unwrap().failed), (Status::Completed, 10));
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
