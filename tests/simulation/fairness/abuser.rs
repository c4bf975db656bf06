//! The abuser: it creates jobs over large files with slow rows, and with schemas that take long to compile, deletes
//! them at once, and reads at the gateway's maximum rate.

use longshore_domain::ports::CallWindow;
use longshore_domain::timestamp::Timestamp;

use super::deployment::{ABUSER, CALL, Call, Guard, STEP, World};

/// Calls per second that the gateway allows: creates, deletes and reads.
const CREATES: i64 = 100;
const DELETES: i64 = 50;
const READS: i64 = 850;
/// Milliseconds of a call that is counted and refused.
const REFUSED_MS: i64 = 15;
/// The template's limit of calls that cause work, per window.
const WORK_CALLS: u64 = 100;
/// Milliseconds of a create with a schema of the maximum size.
const COMPILE_MS: i64 = 1_000;
/// Milliseconds until the sweeper removes a deleted job.
const REMOVAL_MS: i64 = 225_000;

impl World {
    pub(super) fn abuse(&mut self) {
        for (call, per_second) in [(Call::Hostile, CREATES), (Call::Delete, DELETES), (Call::Read, READS)] {
            self.calls.extend(std::iter::repeat_n(call, (per_second * STEP / 1_000) as usize));
        }
        while self.abuser.removals.front().is_some_and(|at| *at <= self.now) {
            self.abuser.removals.pop_front();
            self.active[ABUSER] -= 1;
        }
    }

    /// Creates a job with slow rows. The call is counted before the schema is compiled.
    pub(super) fn create_hostile(&mut self) -> i64 {
        if !self.count_call() {
            return REFUSED_MS;
        }
        if self.admits(ABUSER) {
            let job = self.add_job(ABUSER, self.now, self.scale.large, 100_000);
            self.active[ABUSER] += 1;
            self.abuser.live.push_back(job);
            self.send(job);
        }
        COMPILE_MS
    }

    /// Deletes the oldest job, unless a quarter of the admitted jobs are deleted ones. The instance counts the call
    /// like a read.
    pub(super) fn delete_one(&mut self, instance: usize) -> i64 {
        let took = self.read(instance);
        let is_below_quarter = 4 * self.abuser.removals.len() < self.scale.max_active as usize;
        if took == CALL
            && self.count_call()
            && is_below_quarter
            && let Some(job) = self.abuser.live.pop_front()
        {
            self.jobs[job].is_deleted = true;
            self.abuser.removals.push_back(self.now + REMOVAL_MS);
        }
        took
    }

    /// Counts a call that causes work. Returns false if the window is full.
    fn count_call(&mut self) -> bool {
        let window = Some(CallWindow::at(Timestamp(self.now)));
        if self.abuser.window != window {
            (self.abuser.window, self.abuser.counted) = (window, 0);
        }
        self.abuser.counted += 1;
        self.abuser.counted <= WORK_CALLS || !self.has(Guard::WorkCalls)
    }
}
