//! Helpers for the stories of the concurrency limit, and of a queue that is never empty.

use longshore_domain::concurrency::Permit;
use longshore_domain::message::ChunkMessage;
use longshore_domain::ports::{Acquisition, Ledger, ParkedChunks, Permits};
use longshore_domain::timestamp::Timestamp;

use super::function::{Message, PATIENCE_S};
use super::{RESERVE_S, World, now};
use crate::clock::clock;
use crate::handler::{CONCURRENCY_LIMIT, running};
use crate::plan::JobPlan;

impl World {
    /// Delivers every message immediately. `turns` selects the function that takes the next step. No sweep runs, and no
    /// time passes.
    pub(crate) fn run_in_turns(&mut self, turns: Vec<(usize, usize)>) {
        let mut turns = turns.into_iter().cycle();
        while self.deliver_all() || !self.tasks.is_empty() {
            let (task, steps) = turns.next().unwrap_or((0, 1));
            for _ in 0..steps {
                let count = self.tasks.len();
                if count == 0 {
                    break;
                }
                self.step(task % count);
                self.check_responses();
                if self.tasks.len() < count {
                    break;
                }
            }
        }
    }

    /// Splits the file, starts all chunks, and kills one worker after this number of its steps.
    pub(crate) fn kill_at(&mut self, victim: usize, steps: usize) {
        self.run_split();
        self.deliver_all();
        let victim = victim.min(self.tasks.len() - 1);
        for _ in 0..steps {
            let count = self.tasks.len();
            for task in (0..count).rev() {
                if task < self.tasks.len() && self.tasks.len() == count {
                    self.step(task);
                }
            }
        }
        if victim < self.tasks.len() {
            self.kill(victim);
        }
    }

    /// Splits the file, and delivers no chunk.
    pub(crate) fn split(&mut self) {
        self.run_split();
    }

    fn run_split(&mut self) {
        self.deliver_all();
        while !self.tasks.is_empty() {
            self.step(0);
        }
        self.collect();
    }

    /// Occupies all permits for this number of minutes, with a sweep every minute. All chunks stay parked.
    pub(crate) fn occupy_all_permits(&mut self, minutes: i64) {
        let until = Timestamp(clock().0 + minutes * 60_000);
        for number in 0..CONCURRENCY_LIMIT {
            let permit = Permit { number, holder: format!("other {number}"), until };
            assert_eq!(now(self.store.acquire("limited", &permit, clock())).unwrap(), Acquisition::Acquired);
        }
        for _ in 0..minutes {
            self.run_until_idle();
            self.pass(60_000);
            self.sweep();
            self.collect();
            if clock() < until {
                assert!(self.messages.is_empty(), "a parked chunk was pushed");
                let parked = now(self.store.parked("limited", 99)).unwrap();
                assert_eq!(parked.len(), 14, "every chunk is parked");
            }
        }
    }

    /// Occupies all permits with workers that stay in the handler a little longer than allowed, and delivers all other
    /// messages.
    pub(crate) fn exceed_the_permits(&mut self) {
        self.run_split();
        let others = self.visible();
        let (first, others) = others.split_at(CONCURRENCY_LIMIT as usize);
        first.iter().for_each(|number| self.deliver(*number));
        while running() < CONCURRENCY_LIMIT {
            (0..CONCURRENCY_LIMIT as usize).for_each(|task| assert!(!self.step(task)));
        }
        self.pass((PATIENCE_S + RESERVE_S - 1) * 1000);
        for number in others {
            self.deliver(*number);
            let task = self.tasks.len() - 1;
            while !self.step(task) {}
        }
        self.pass(2_000);
        assert_eq!(running(), 0, "the workers were killed at their timeout");
    }

    /// Delivers every chunk after this number of failed deliveries, while all permits are occupied.
    pub(crate) fn deliver_after(&mut self, failures: u32) {
        for number in 0..CONCURRENCY_LIMIT {
            let permit = Permit { number, holder: format!("other {number}"), until: Timestamp(i64::MAX) };
            assert_eq!(now(self.store.acquire("limited", &permit, clock())).unwrap(), Acquisition::Acquired);
        }
        self.run_split();
        for queued in self.messages.values_mut() {
            if let Message::Chunk(message) = &mut queued.message {
                message.failures = failures;
            }
        }
        self.run_until_idle();
    }

    /// Runs sweeps just after permits were released. They wake parked chunks, and no message is delivered. No chunk is
    /// sent twice.
    pub(crate) fn wake_without_deliveries(&mut self) {
        for _ in 0..3 {
            self.pass(20_000);
            self.sweep();
        }
        self.collect();
        let mut sent: Vec<_> = self.messages.values().filter_map(|queued| queued.message.chunk()).collect();
        let count = sent.len();
        assert!(count >= CONCURRENCY_LIMIT as usize, "no chunk was woken");
        sent.sort_unstable();
        sent.dedup();
        assert_eq!(sent.len(), count, "a woken chunk was pushed at once");
    }

    /// Number of failed rows of the job.
    pub(crate) fn failed_count(&self) -> u64 {
        self.job().completion.totals.map_or(0, |totals| totals.failed)
    }
}

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
                Message::Create(_) | Message::Prepare(_) | Message::Complete(_) => true,
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
            Message::Create(_) | Message::Prepare(_) | Message::Complete(_) => false,
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
