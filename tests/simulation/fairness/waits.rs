//! The waits of the small jobs: with every guard, and without any one of them.

use super::deployment::{BOUND_MS, COMPLETE, GUARDS, HEAVY, SMALL, STEP, World};

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
            for job in self.jobs.iter().filter(|job| job.tenant > HEAVY && job.requested_at <= self.now) {
                for (began, worst) in job.began.iter().zip(&mut self.worst) {
                    *worst = if *began { *worst } else { (self.now - job.requested_at).max(*worst) };
                }
            }
        }
        self.worst.iter().zip(BOUND_MS).all(|(worst, bound)| *worst <= bound)
    }
}

#[test]
fn a_small_job_is_split_within_ten_seconds_and_begins_within_thirty_whatever_another_tenant_does() {
    let scale = if measurements::is_complete_run() { COMPLETE } else { SMALL };
    let world = World::new(scale, None).run();
    let [split, row] = world.worst;
    println!("{} jobs of {} tenants: split within {split} ms, begun within {row} ms", scale.jobs, scale.tenants);
    assert!(split <= BOUND_MS[0] && row <= BOUND_MS[1], "{split} ms, {row} ms");
    assert_eq!(world.begun, scale.jobs, "every small job has begun");
}

#[test]
fn without_any_one_guard_a_small_job_waits_longer() {
    for guard in GUARDS {
        let [split, row] = World::new(SMALL, Some(guard)).run().worst;
        println!("without {guard:?}: {split} ms, {row} ms");
        assert!(split > BOUND_MS[0] || row > BOUND_MS[1], "without {guard:?}: {split} ms, {row} ms");
    }
}
