//! The continuation of a run: to the end of all jobs, or to the situation of a story.

use std::collections::BTreeMap;

use super::World;
use super::function::{Message, Work};
use crate::clock::CLOCK;
use crate::plan::STALL_S;
use crate::trace;

/// Maximum number of sweeps until jobs end without faults. Rounds wait for hours, and the intervals between pushes
/// double.
pub(super) const MAX_SWEEPS: usize = 600;

impl World {
    /// Runs without faults: every message is delivered, every function runs to its end, and a sweep follows whenever
    /// the system is idle. Panics if a job does not end.
    pub(crate) fn run_to_the_end(&mut self) {
        let ended = self.ends();
        self.each(|world| assert!(ended || world.has_ended(), "the job did not end: {:?}", world.stored()));
        self.each(Self::assert_nothing_changes);
    }

    fn has_ended(&self) -> bool {
        self.stored().is_none_or(|job| job.status.is_final())
    }

    /// Runs without faults. Returns false if not every job has ended in time.
    pub(crate) fn ends(&mut self) -> bool {
        trace::set_function("world", 0);
        trace::append(format_args!("no faults from here on"));
        let mut done = BTreeMap::new();
        for _ in 0..MAX_SWEEPS {
            self.run_until_idle();
            if self.all(|world| world.has_ended()) {
                return true;
            }
            self.check_completions(&mut done);
            self.queues.forget_deduplication();
            self.pass(STALL_S * 1000);
            self.sweep();
        }
        false
    }

    /// Runs two splitters of one job, for a message and its copy. The first one is paused between its commit of a group
    /// and the read after it, until the second one has committed the next group.
    pub(crate) fn overtake_the_split(&mut self) {
        self.collect();
        let Some(create) = self.visible().pop() else { return };
        self.put_copy(self.messages[&create].message.clone());
        let copy = self.messages.keys().next_back().copied().unwrap_or(create);
        for (splitter, message) in [create, copy].into_iter().enumerate() {
            self.deliver_and_keep_visible(message);
            let groups = self.job().split.groups;
            while self.job().split.groups == groups {
                assert!(!self.step(splitter), "the split has ended");
            }
        }
    }

    /// Runs to the end, and loses every chunk message.
    pub(crate) fn run_without_chunks(&mut self) {
        for _ in 0..64 {
            self.collect();
            self.messages.retain(|_, queued| !matches!(queued.message, Message::Chunk(_)));
            self.deliver_all();
            self.run_tasks();
            if self.job().status.is_final() {
                return;
            }
            self.pass(STALL_S * 1000);
            self.disturbances += 1;
            self.sweep();
        }
        panic!("the job did not end: {:?}", self.job());
    }

    /// Advances the clock to the job's deadline, and sweeps.
    pub(crate) fn pass_the_deadline(&mut self) {
        CLOCK.set(self.job().times.deadline_at.0);
        self.sweep();
    }

    /// Delivers all messages except complete messages, until only these are left.
    fn run_until_completion(&mut self) {
        loop {
            self.collect();
            let others = self.visible();
            let others = others.into_iter().filter(|n| !matches!(self.messages[n].message, Message::Complete(_)));
            let others: Vec<_> = others.collect();
            if others.is_empty() {
                return;
            }
            others.into_iter().for_each(|number| self.deliver(number));
            self.run_tasks();
        }
    }

    /// Processes all items, and loses the complete message.
    pub(crate) fn lose_the_completion(&mut self) {
        self.run_until_completion();
        self.visible().into_iter().for_each(|number| self.lose(number));
    }

    /// Delivers the complete message, and runs `steps` steps of the completion. Then the client cancels in `turns`
    /// steps.
    pub(crate) fn cancel_within_completion(&mut self, steps: usize, turns: usize) {
        self.run_until_completion();
        self.deliver_all();
        self.steps(0, steps);
        self.cancel();
        let cancel = self.tasks.len() - 1;
        self.steps(cancel, turns);
    }

    /// Runs `steps` steps of the worker of the last chunk. Then the client cancels, and all other functions run until the
    /// job has ended. The worker continues afterwards.
    pub(crate) fn end_beside_a_worker(&mut self, steps: usize) {
        self.deliver_all();
        self.run_tasks();
        self.collect();
        let mut chunks = self.visible();
        let Some(last) = chunks.pop() else { panic!("the split has sent no chunk") };
        chunks.into_iter().for_each(|number| self.deliver(number));
        self.run_tasks();
        self.deliver(last);
        self.steps(0, steps);
        let others = self.tasks.len();
        self.cancel();
        for _ in 0..MAX_SWEEPS {
            while self.tasks.len() > others {
                self.step(others);
                self.check_responses();
            }
            if self.has_ended() {
                return;
            }
            self.pass(1_000);
            self.deliver_all();
        }
        panic!("the canceled job has not ended");
    }

    pub(super) fn steps(&mut self, task: usize, steps: usize) {
        for _ in 0..steps {
            if task >= self.tasks.len() || self.step(task) {
                return;
            }
            self.check_responses();
        }
    }

    /// Runs functions and sweeps until every deleted job is removed.
    pub(crate) fn run_until_all_are_removed(&mut self) {
        for _ in 0..MAX_SWEEPS {
            self.run_until_idle();
            if self.all(|world| world.stored().is_none_or(|job| !job.is_deleted())) {
                return;
            }
            self.pass(STALL_S * 1000);
            self.queues.forget_deduplication();
            self.sweep();
        }
        panic!("a deleted job is not removed");
    }

    /// Runs functions and sweeps until the job is removed. The first sweep that would remove it is killed after this
    /// number of steps. Returns the keys of the files that are left.
    pub(crate) fn run_until_removed(&mut self, steps: usize) -> Vec<String> {
        let mut is_first = true;
        for _ in 0..MAX_SWEEPS {
            self.run_until_idle();
            self.pass(STALL_S * 1000);
            self.queues.forget_deduplication();
            if is_first && self.stored().is_some_and(|job| job.is_removable()) {
                is_first = false;
                self.begin(Work::Sweep, None);
                let sweep = self.tasks.len() - 1;
                self.steps(sweep, steps);
                self.tasks.clear();
            } else {
                self.sweep();
            }
            if self.stored().is_none() {
                self.run_until_idle();
                return self.file_keys();
            }
        }
        panic!("the job is not removed: {:?}", self.job());
    }

    /// Keys of all files.
    pub(super) fn file_keys(&self) -> Vec<String> {
        self.files.keys()
    }

    pub(super) fn run_until_idle(&mut self) {
        while self.deliver_all() || !self.tasks.is_empty() {
            self.run_tasks();
        }
    }

    /// Runs one function after the other, each to its end.
    pub(super) fn run_tasks(&mut self) {
        while !self.tasks.is_empty() {
            self.step(0);
            self.check_responses();
        }
    }
}
