//! Many tenants, one of which abuses the deployment. The test measures the time that the small jobs of the other
//! tenants wait.
//!
//! The clock is simulated, and so are the parts of AWS that a job waits for: instances of the API's function, the
//! FIFO queue of splits, the fair queue of chunks, and the workers of both. The decisions are the real code's:
//! message groups, turns, rate limits, admission.
//!
//! A FIFO queue delivers no message of a group while another message of the group is in flight
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/FIFO-queues-understanding-logic.html>).
//! A fair queue delivers the messages of a tenant that uses more than a tenth of the workers' time after those of
//! others
//! (<https://docs.aws.amazon.com/AWSSimpleQueueService/latest/SQSDeveloperGuide/sqs-fair-queues-detailed.html>).

mod abuser;
mod api;
mod deployment;
mod queues;

use deployment::{BOUND_MS, GUARDS, HEAVY, SMALL, STEP, WHOLE, World};

impl World {
    /// Runs until the end, or until a small job has waited too long.
    fn run(mut self) -> Self {
        while self.now < self.scale.seconds * 1_000 && self.within_bounds() {
            self.abuse();
            self.calls.extend(self.later.remove(&self.now).into_iter().flatten());
            self.answer();
            self.split();
            self.work();
            self.now += STEP;
        }
        self
    }

    /// Checks the waiting small jobs once a second.
    fn within_bounds(&mut self) -> bool {
        if self.now % 1_000 == 0 {
            for job in self.jobs.iter().filter(|job| job.tenant > HEAVY && job.asked_at <= self.now) {
                for (began, worst) in job.began.iter().zip(&mut self.worst) {
                    *worst = if *began { *worst } else { (self.now - job.asked_at).max(*worst) };
                }
            }
        }
        self.worst.iter().zip(BOUND_MS).all(|(worst, bound)| *worst <= bound)
    }
}

#[test]
fn a_small_job_is_split_within_ten_seconds_and_begins_within_thirty_whatever_another_tenant_does() {
    let scale = if measurements::is_whole() { WHOLE } else { SMALL };
    let world = World::new(scale, None).run();
    let [split, row] = world.worst;
    println!("{} jobs of {} tenants: split within {split} ms, begun within {row} ms", scale.jobs, scale.tenants);
    assert!(split <= BOUND_MS[0] && row <= BOUND_MS[1], "{split} ms, {row} ms");
    assert_eq!(world.begun, scale.jobs, "every small job has begun");
}

#[test]
fn without_any_one_guard_a_small_job_waits_for_longer() {
    for guard in GUARDS {
        let [split, row] = World::new(SMALL, Some(guard)).run().worst;
        println!("without {guard:?}: {split} ms, {row} ms");
        assert!(split > BOUND_MS[0] || row > BOUND_MS[1], "without {guard:?}: {split} ms, {row} ms");
    }
}
