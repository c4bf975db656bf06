//! Running functions: begin, step, end, kill.

use std::rc::Rc;
use std::task::{Context, Poll, Waker};

use longshore_domain::ids::JobId;

use super::acts::Act;
use super::function::{self, FunctionEnd, PATIENCE_S, SWEEP_S, Task, Work};
use super::{DEDUPLICATION_MS, MAX_STEPS, RESERVE_S, World};
use crate::clock::{CLOCK, SKEW};
use crate::unguarded::without;
use crate::{faults, trace};

impl World {
    /// Begins a function.
    pub(super) fn begin(&mut self, work: Work, message: Option<u64>) {
        let number = self.number();
        let skew_ms = self.environment.skew_ms;
        let skew_ms = if skew_ms > 0 { self.rng.between(-skew_ms, skew_ms) } else { 0 };
        if matches!(work, Work::Sweep) {
            // The messages that the previous sweep received are visible again.
            self.queues.make_all_visible();
        }
        if skew_ms != 0 {
            faults::count_fault("clock skew");
        }
        let slow = self.environment.has_slow_functions && self.rng.often(150);
        let limit_s = if matches!(work, Work::Sweep) { SWEEP_S } else { PATIENCE_S + RESERVE_S };
        trace::set_function(work.name(), number);
        if trace::is_on() {
            trace::append(format_args!("begins: {}", work.describe()));
        }
        let future = function::function(Rc::clone(&self.shared), work.clone());
        let killed_at = CLOCK.get() + limit_s * 1000;
        let hops = message.and_then(|message| self.messages.get(&message)).map_or([0; 3], |message| message.hops);
        self.tasks.push(Task { number, work, message, hops, skew_ms, slow, killed_at, errors: 0, steps: 0, future });
    }

    /// Runs one step of a function. Returns true if it has ended.
    pub(super) fn step(&mut self, task: usize) -> bool {
        let running = &mut self.tasks[task];
        SKEW.set(running.skew_ms);
        trace::set_function(running.work.name(), running.number);
        let poll = running.future.as_mut().poll(&mut Context::from_waker(Waker::noop()));
        running.errors += faults::take_errors();
        running.steps += 1;
        assert!(running.steps < MAX_STEPS, "{} never ends", running.work.name());
        SKEW.set(0);
        let hops = running.hops;
        self.take_sent(hops);
        let Poll::Ready(end) = poll else { return false };
        let task = self.tasks.swap_remove(task);
        self.end_task(task, end);
        true
    }

    fn end_task(&mut self, task: Task, end: FunctionEnd) {
        match &end {
            FunctionEnd::Done(end) => trace::append(format_args!("ends: {end}")),
            FunctionEnd::Failed(error) => trace::append(format_args!("fails: {error}")),
        }
        let failed = match end {
            FunctionEnd::Done(end) => {
                self.check_end(&task, &end);
                self.messages.remove(&task.message.unwrap_or(0));
                false
            }
            FunctionEnd::Failed(error) => {
                assert!(task.errors > 0, "{} failed without a failed call: {error}", task.work.name());
                self.deliver_later(task.message.unwrap_or(0));
                true
            }
        };
        match task.work {
            Work::Sweep => self.disturbances += u32::from(failed),
            Work::Client(id, act) if failed => self.repeat_later(id, act),
            Work::Client(..) | Work::Message(..) => {}
        }
    }

    /// Makes a client without a response repeat its request later, or give up, at random.
    pub(super) fn repeat_later(&mut self, id: JobId, act: Act) {
        if self.rng.often(500) {
            self.requests.push((id, act));
        }
    }

    /// Kills a function. Its message is redelivered later.
    pub(super) fn kill(&mut self, task: usize) {
        let Task { number, work, .. } = self.tasks.swap_remove(task);
        trace::set_function(work.name(), number);
        trace::append(format_args!("is killed"));
        faults::count_fault("crash");
        match work {
            Work::Sweep => self.disturbances += 1,
            Work::Client(id, act) => self.repeat_later(id, act),
            Work::Message(..) => {}
        }
    }

    /// Advances the clock, and kills functions that have reached their timeout.
    pub(super) fn pass(&mut self, millis: i64) {
        CLOCK.set(CLOCK.get() + millis);
        if CLOCK.get() - self.forgot_at >= DEDUPLICATION_MS {
            self.forgot_at = CLOCK.get();
            self.queues.forget_deduplication();
        }
        if self.environment.has_timeouts {
            while let Some(task) = self.tasks.iter().position(|task| CLOCK.get() > task.killed_at) {
                self.kill(task);
            }
        }
    }

    /// Runs a sweep to its end, without other events.
    pub(super) fn sweep(&mut self) {
        if without("sweeper") {
            return;
        }
        self.begin(Work::Sweep, None);
        let task = self.tasks.len() - 1;
        while !self.step(task) {}
    }
}
