//! Expired jobs: the table removes their items some hours late and in any order, while the queues still have messages
//! about them.
//!
//! <https://docs.aws.amazon.com/amazondynamodb/latest/developerguide/howitworks-ttl.html>

use longshore_domain::job::Job;
use longshore_domain::ports::{JobStore, Ledger};
use longshore_testing::JobItem;

use super::{World, now};
use crate::clock::CLOCK;
use crate::{faults, handler};

impl World {
    /// Expires some jobs: once all jobs have ended, the clock passes their expiry, and items of expired jobs are
    /// removed.
    pub(super) fn expire_some(&mut self) {
        if self.customers.iter().all(|customer| !customer.expires) {
            return;
        }
        let expires_now = self.rng.often(20) && (self.tasks.is_empty() || !self.environment.no_kills);
        if expires_now && self.all(|world| world.stored().is_none_or(|job| job.status.is_final())) {
            // A job ends an hour before its expiry, and no function runs for an hour.
            while !self.tasks.is_empty() {
                self.kill(0);
            }
            let ends = self.customers.iter().filter_map(|customer| now(self.store.job(customer.id)).unwrap());
            let last = ends.filter(|job| job.times.expires_at < i64::MAX).map(|job| job.times.expires_at * 1000).max();
            self.pass(last.map_or(0, |last| (last - CLOCK.get()).max(0)));
        }
        self.each(|world| {
            if let Some(job) =
                world.stored().filter(|job| job.times.expires_at <= CLOCK.get() / 1000 && job.status.is_final())
            {
                world.expire_one(&job);
            }
        });
    }

    fn expire_one(&mut self, job: &Job) {
        self.customer_mut().expired.get_or_insert(None);
        if !self.rng.often(50) {
            return;
        }
        let progress = now(self.store.progress(job.job_id)).unwrap();
        let groups = progress.map_or_else(Vec::new, |progress| progress.groups);
        let item = match (groups.is_empty() || self.rng.often(300), self.rng.often(500)) {
            (true, _) if self.rng.often(300) => JobItem::Definition,
            (true, _) => JobItem::Job,
            (false, true) => JobItem::Group(groups[self.rng.below(groups.len())].number),
            (false, false) => JobItem::Manifest(self.rng.below(job.split.groups as usize + 1) as u32),
        };
        self.store.expire(job.job_id, item);
        faults::count_fault("expired");
        if item == JobItem::Job {
            self.customer_mut().expired = Some(Some(self.numbers));
        }
    }

    /// Checks that no function that began after the removal of the job has run its rows.
    pub(super) fn check_expired(&self) {
        let customer = self.customer();
        let Some(Some(last_function)) = customer.expired else { return };
        for row in 1..=customer.possible.len() {
            let has_run = handler::ran_after(customer.id, row as u64, last_function);
            assert!(!has_run, "row {row} has run after the removal of its job");
        }
    }
}
