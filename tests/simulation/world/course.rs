//! How a world goes on: to its end, or to the moment that a story is about.

use std::task::{Context, Waker};

use longshore_domain::ports::JobStore;
use longshore_domain::time_stamp::Timestamp;
use sweep::Sweep;

use super::{CLOCK, Message, STALL_S, Services, World, clock, now};

impl World {
    /// Everything healthy from now on: every message delivered, every function run, a sweep whenever all is still.
    pub(crate) fn run_to_the_end(&mut self) {
        for _ in 0..64 {
            self.run_until_still();
            if self.job().status.is_final() {
                return self.assert_nothing_changes();
            }
            self.queues.forget_deduplication();
            CLOCK.set(CLOCK.get() + STALL_S * 1000);
            self.sweep();
        }
        panic!("the job did not end: {:?}", self.job());
    }

    /// Every message of a chunk is lost, whoever sends it.
    pub(crate) fn run_without_chunks(&mut self) {
        for _ in 0..64 {
            self.collect();
            let messages = std::mem::take(&mut self.messages);
            messages.into_iter().filter(|m| !matches!(m, Message::Chunk(_))).for_each(|m| self.begin(m));
            while !self.tasks.is_empty() {
                self.step(0);
                self.answer();
            }
            if self.job().status.is_final() {
                return;
            }
            CLOCK.set(CLOCK.get() + STALL_S * 1000);
            self.sweep();
        }
        panic!("the job did not end: {:?}", self.job());
    }

    /// The job may not go on any more, and the sweeper sees it.
    pub(crate) fn pass_the_deadline(&mut self) {
        CLOCK.set(self.job().deadline_at.0);
        self.sweep();
    }

    /// Delivers everything but what asks for completion, until only that is left.
    pub(crate) fn run_until_completion(&mut self) {
        loop {
            self.collect();
            let (last, messages) =
                std::mem::take(&mut self.messages).into_iter().partition(|m| matches!(m, Message::Complete(_)));
            self.messages = last;
            let messages: Vec<_> = messages;
            if messages.is_empty() {
                return;
            }
            messages.into_iter().for_each(|message| self.begin(message));
            while !self.tasks.is_empty() {
                self.step(0);
                self.answer();
            }
        }
    }

    /// Delivers completion, takes `steps` steps of it, has the client cancel in `turns` steps, and lets the rest happen.
    pub(crate) fn cancel_within_completion(&mut self, steps: usize, turns: usize) {
        self.run_until_completion();
        std::mem::take(&mut self.messages).into_iter().for_each(|message| self.begin(message));
        self.steps(0, steps);
        self.begin(Message::Cancel);
        let cancel = self.tasks.len() - 1;
        self.steps(cancel, turns);
    }

    /// Functions run and sweeps sweep until the job is gone; the first sweep that would remove it dies after so many
    /// steps. What is left then: files, and records.
    pub(crate) fn run_until_removed(&mut self, steps: usize) -> Vec<String> {
        let mut dies = true;
        for _ in 0..64 {
            self.run_until_still();
            CLOCK.set(CLOCK.get() + STALL_S * 1000);
            self.queues.forget_deduplication();
            if dies && self.job().is_removable() {
                dies = false;
                self.sweep_for(steps);
            } else {
                self.sweep();
            }
            if now(self.ports.store.0.job(self.id)).unwrap().is_none() {
                self.run_until_still();
                return self.files.keys();
            }
        }
        panic!("the job is not removed: {:?}", self.job());
    }

    /// A sweep that dies after so many steps.
    fn sweep_for(&self, steps: usize) {
        let ports = Services {
            store: self.ports.store.clone(),
            queues: self.ports.queues.clone(),
            files: self.ports.files.clone(),
        };
        let sweep = Sweep { ports, dead_letters: self.queues.clone(), stall_s: STALL_S, clock };
        let mut run = Box::pin(sweep.run(Timestamp(i64::MAX)));
        for _ in 0..steps {
            if run.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_ready() {
                return;
            }
        }
    }

    pub(super) fn run_until_still(&mut self) {
        loop {
            self.collect();
            for message in std::mem::take(&mut self.messages) {
                self.begin(message);
            }
            if self.tasks.is_empty() {
                return;
            }
            while !self.tasks.is_empty() {
                self.step(0);
                self.answer();
            }
        }
    }
}
