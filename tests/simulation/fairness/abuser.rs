//! One tenant that does its worst: large files with slow rows under schemas that take long to compile, deleted as soon as they
//! are created, and reads as fast as the gateway lets them through.

use std::collections::VecDeque;

use longshore_domain::ports::CallWindow;
use longshore_domain::time_stamp::Timestamp;

use super::{ABUSER, CALL, Call, Course, Guard, STEP, World};

/// Calls in a second that the gateway lets through: creates, deletes and reads.
const CREATES: i64 = 100;
const DELETES: i64 = 50;
const READS: i64 = 850;
/// Milliseconds of a call that is counted and refused.
const COUNTED: i64 = 15;
/// The template's calls that make work in a window.
const WORK_CALLS: u64 = 100;
/// Milliseconds of a create whose schema is as large as it may be.
const COMPILE: i64 = 1_000;
/// Milliseconds of a delivery that finds its job deleted.
const PASSED_OVER: i64 = 60;
/// Milliseconds until the sweeper has removed a job that was deleted.
const REMOVED_AFTER: i64 = 225_000;

/// What the abuser has made.
#[derive(Default)]
pub(super) struct Abuser {
    /// Jobs that are neither done nor deleted, the oldest first.
    pub(super) live: VecDeque<usize>,
    /// When jobs that are deleted will be removed.
    removals: VecDeque<i64>,
    window: Option<CallWindow>,
    counted: u64,
}

impl Course {
    /// Milliseconds of work that are left of so many.
    pub(super) fn left(&self, left: i64) -> i64 {
        if self.is_deleted { left.min(PASSED_OVER) } else { left }
    }
}

impl World {
    pub(super) fn abuse(&mut self) {
        for (call, a_second) in [(Call::Hostile, CREATES), (Call::Delete, DELETES), (Call::Read, READS)] {
            self.calls.extend(std::iter::repeat_n(call, (a_second * STEP / 1_000) as usize));
        }
        while self.abuser.removals.front().is_some_and(|at| *at <= self.now) {
            self.abuser.removals.pop_front();
            self.active[ABUSER] -= 1;
        }
    }

    /// The create is counted before its schema is compiled. Each of its rows is slow.
    pub(super) fn create_hostile(&mut self) -> i64 {
        if !self.counts() {
            return COUNTED;
        }
        if self.admits(ABUSER) {
            let job = self.course(ABUSER, self.now, self.scale.large, 100_000);
            self.active[ABUSER] += 1;
            self.abuser.live.push_back(job);
            self.send(job);
        }
        COMPILE
    }

    /// Deletes the oldest job as long as that leaves three quarters of the places to jobs that go on. The instance counts the call as it
    /// counts a read.
    pub(super) fn delete_one(&mut self, instance: usize) -> i64 {
        let took = self.read(instance);
        let leaves_most = 4 * self.abuser.removals.len() < self.scale.max_active as usize;
        if took == CALL
            && self.counts()
            && leaves_most
            && let Some(job) = self.abuser.live.pop_front()
        {
            self.jobs[job].is_deleted = true;
            self.abuser.removals.push_back(self.now + REMOVED_AFTER);
        }
        took
    }

    /// Counts a call that makes work, if its window has room.
    fn counts(&mut self) -> bool {
        let window = Some(CallWindow::at(Timestamp(self.now)));
        if self.abuser.window != window {
            (self.abuser.window, self.abuser.counted) = (window, 0);
        }
        self.abuser.counted += 1;
        self.abuser.counted <= WORK_CALLS || !self.has(Guard::WorkCalls)
    }
}
