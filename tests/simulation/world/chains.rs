//! Chains of messages: their lengths, and the messages that Lambda refuses at the maximum length.

use super::dead_letters::{Hops, Message};
use super::function::Work;
use super::{MOST_HOPS, World};

impl World {
    /// From now on Lambda treats long chains as loops, and refuses their next message.
    pub(crate) fn refuse_loops(&mut self) {
        self.refuses_loops = true;
    }

    /// Returns true if some chain is longer than Lambda allows by default.
    pub(crate) fn loops(&self) -> bool {
        self.most_hops.iter().any(|hops| *hops > MOST_HOPS)
    }

    /// The most invocations of splitter, worker and completion in one chain.
    pub(crate) fn most_hops(&self) -> Hops {
        self.most_hops
    }

    /// Runs one function after the other. Each of their steps takes `millis`, and no message is redelivered
    /// meanwhile.
    pub(crate) fn run_slowly(&mut self, millis: i64) {
        self.run_with_slow(|_| true, millis);
    }

    /// Runs in the same way, but only the steps of completions take time.
    pub(crate) fn run_with_slow_completions(&mut self, millis: i64) {
        self.run_with_slow(|work| matches!(work, Work::Message(Message::Complete(_), ..)), millis);
    }

    fn run_with_slow(&mut self, is_slow: fn(&Work) -> bool, millis: i64) {
        self.environment.visibility_s = i64::from(i32::MAX);
        while self.deliver_all() || !self.tasks.is_empty() {
            if let Some(task) = self.tasks.first() {
                let millis = if is_slow(&task.work) { millis } else { 0 };
                self.pass(millis);
                self.step(0);
                self.answer();
            }
        }
    }
}
