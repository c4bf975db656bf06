//! The API: the instances that answer calls, its rate limit, and its admission.

use longshore_domain::admission::Admission;
use longshore_domain::timestamp::Timestamp;

use super::deployment::{CALL, CALLS, Call, Guard, INSTANCES, REFUSAL, World};

impl World {
    pub(super) fn answer(&mut self) {
        let mut free: Vec<_> = (0..INSTANCES).filter(|i| self.instances[*i].free_at <= self.now).collect();
        while !free.is_empty() {
            let Some(call) = self.calls.pop_front() else { return };
            let instance = free.swap_remove(self.rng.below(free.len()));
            let took = match call {
                Call::Read => self.read(instance),
                Call::Hostile => self.create_hostile(),
                Call::Delete => self.delete_one(instance),
                Call::Create(job) => {
                    self.create(job);
                    CALL
                }
            };
            self.instances[instance].free_at = self.now + took;
        }
    }

    pub(super) fn read(&mut self, instance: usize) -> i64 {
        let (has_rate_limit, now) = (self.has(Guard::CallRate), Timestamp(self.now));
        let instance = &mut self.instances[instance];
        match CALLS.spend(instance.full_at, 1, now) {
            Ok(full_at) => instance.full_at = full_at,
            Err(_) if has_rate_limit => return REFUSAL,
            Err(_) => {}
        }
        CALL
    }

    pub(super) fn create(&mut self, job: usize) {
        let tenant = self.jobs[job].tenant;
        if self.admits(tenant) {
            self.active[tenant] += 1;
            self.send(job);
        } else {
            self.later.entry(self.now + 1_000).or_default().push(Call::Create(job));
        }
    }

    pub(super) fn admits(&self, tenant: usize) -> bool {
        let admission = match Admission::from_depth(self.depth, self.scale.max_queued) {
            Admission::FewJobs if !self.has(Guard::Admission) => Admission::Closed,
            admission => admission,
        };
        let has_room = self.active[tenant] < self.scale.max_active || !self.has(Guard::ActiveJobs);
        has_room && admission.admits(self.active[tenant])
    }
}
