//! Helpers for the stories of a queue that is never empty.

use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::Ledger;

use super::message::Message;
use super::{World, now};
use crate::plan::JobPlan;

/// Seconds between two sweeps.
const MINUTE_S: i64 = 60;

/// Seconds between two messages of a slow tenant.
const TURN_S: i64 = 10;

/// Tenants whose chunk messages are delivered.
#[derive(Copy, Clone, Debug)]
pub(crate) struct Turns {
    /// Tenant whose messages are all delivered at once.
    pub(crate) at_once: Option<&'static str>,
    /// Tenant whose messages are delivered every ten seconds, in the order of sending.
    pub(crate) slowly: &'static str,
}

impl World {
    /// Adds a job.
    pub(crate) fn add_job(&mut self, plan: &JobPlan) {
        self.accept(plan);
    }

    /// Runs for this number of seconds, with a sweep every minute. `each` is called every second.
    pub(crate) fn take_turns(&mut self, seconds: i64, turns: Turns, mut each: impl FnMut(&mut Self, i64)) {
        for second in 0..seconds {
            self.collect();
            let slow = self.chunks(&|message| second % TURN_S == 0 && message.tenant.as_str() == turns.slowly);
            let mut next = self.visible();
            next.retain(|number| match &self.messages[number].message {
                Message::Chunk(message) => Some(message.tenant.as_str()) == turns.at_once,
                Message::Create(_) | Message::Complete(_) => true,
            });
            next.extend(slow.first());
            next.into_iter().for_each(|number| self.deliver(number));
            self.run_tasks();
            if second % MINUTE_S == MINUTE_S - 1 {
                self.sweep();
                self.queues.forget_deduplication();
            }
            self.collect();
            each(self, second);
            self.pass(1_000);
        }
    }

    /// Visible chunk messages that match a predicate, in the order of sending.
    fn chunks(&self, predicate: &impl Fn(&ChunkMessage) -> bool) -> Vec<u64> {
        let matches = |number: &u64| match &self.messages[number].message {
            Message::Chunk(message) => predicate(message),
            Message::Create(_) | Message::Complete(_) => false,
        };
        self.visible().into_iter().filter(matches).collect()
    }

    /// Number of a tenant's visible chunk messages.
    pub(crate) fn queued_of(&self, tenant: &str) -> usize {
        self.chunks(&|message| message.tenant.as_str() == tenant).len()
    }

    /// Loses the current job's chunk messages that match a predicate.
    pub(crate) fn lose_chunks(&mut self, predicate: impl Fn(&ChunkMessage) -> bool) {
        let id = self.customer().id;
        let lost = self.chunks(&|message| message.job_id == id && predicate(message));
        assert!(!lost.is_empty(), "no message matches");
        lost.into_iter().for_each(|number| self.lose(number));
    }

    /// Number of pushes of each group of the current job.
    pub(crate) fn pushes(&self) -> Vec<u32> {
        let progress = now(self.store.progress(self.customer().id)).unwrap();
        let groups = progress.map_or_else(Vec::new, |progress| progress.groups);
        groups.iter().map(|group| group.resends).collect()
    }

    /// Number of pushes of all groups of all jobs of a tenant.
    pub(crate) fn pushes_of(&mut self, tenant: &str) -> u32 {
        let mut sum = 0;
        self.each(|world| {
            if world.customer().tenant == tenant {
                sum += world.pushes().iter().sum::<u32>();
            }
        });
        sum
    }
}
