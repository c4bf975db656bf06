//! What the stories of the gate need of a world.

use longshore_domain::gate::Lease;
use longshore_domain::ports::{Slots, WaitingRoom};
use longshore_domain::time_stamp::Timestamp;

use super::{Message, PATIENCE_S, RESERVE_S, World, clock, now};
use crate::handler::{AT_ONCE, running};

impl World {
    /// Delivers every message at once and lets chance choose who gets on by a step, without a sweep and without time.
    pub(crate) fn run_in_turns(&mut self, turns: Vec<usize>) {
        let mut turns = turns.into_iter().cycle();
        loop {
            self.collect();
            for message in std::mem::take(&mut self.messages) {
                self.begin(message);
            }
            if self.tasks.is_empty() {
                return;
            }
            let task = turns.next().map_or(0, |turn| turn % self.tasks.len());
            self.step(task);
            self.answer();
        }
    }

    /// Splits, sets the chunks going together, and kills one worker after so many steps of it.
    pub(crate) fn kill_at(&mut self, victim: usize, steps: usize) {
        self.run_the_split();
        std::mem::take(&mut self.messages).into_iter().for_each(|message| self.begin(message));
        let victim = victim.min(self.tasks.len() - 1);
        for _ in 0..steps {
            let before = self.tasks.len();
            for task in (0..before).rev() {
                if task < self.tasks.len() && self.tasks.len() == before {
                    self.step(task);
                }
            }
        }
        if victim < self.tasks.len() {
            let task = self.tasks.swap_remove(victim);
            self.messages.push(task.message);
        }
    }

    fn run_the_split(&mut self) {
        self.collect();
        let (creates, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.messages).into_iter().partition(|m| matches!(m, Message::Create(_)));
        self.messages = others;
        creates.into_iter().for_each(|message| self.begin(message));
        while !self.tasks.is_empty() {
            self.step(0);
        }
        self.collect();
    }

    /// Others hold all slots for so many minutes, each with its sweep: everybody has to wait, and does.
    pub(crate) fn hold_the_gate(&mut self, minutes: i64) {
        let until = Timestamp(clock().0 + minutes * 60_000);
        for slot in 0..AT_ONCE {
            let lease = Lease { slot, holder: format!("other {slot}"), until };
            assert!(now(self.ports.store.0.take("limited", &lease, clock())).unwrap());
        }
        for _ in 0..minutes {
            self.run_until_still();
            self.wait(60);
            self.sweep();
            self.collect();
            if clock() < until {
                assert!(self.messages.is_empty(), "a chunk that waits was pushed");
                let waiting = now(self.ports.store.0.waiting("limited", 99)).unwrap();
                assert_eq!(waiting.len(), 14, "every chunk waits");
            }
        }
    }

    /// As many workers as may are with the handler and stay there, a little longer than they should; all others come.
    pub(crate) fn linger_inside(&mut self) {
        self.run_the_split();
        let mut others = std::mem::take(&mut self.messages);
        others.drain(..AT_ONCE as usize).collect::<Vec<_>>().into_iter().for_each(|message| self.begin(message));
        while running() < AT_ONCE {
            (0..AT_ONCE as usize).for_each(|task| assert!(!self.step(task)));
        }
        self.wait(PATIENCE_S + RESERVE_S - 1);
        for message in others {
            self.begin(message);
            let task = self.tasks.len() - 1;
            while !self.step(task) {}
        }
        self.wait(2);
        assert_eq!(running(), 0, "the machine has killed them");
    }

    /// Others hold all slots while every chunk is delivered, after so many deliveries of it that failed.
    pub(crate) fn deliver_after(&mut self, failures: u32) {
        for slot in 0..AT_ONCE {
            let lease = Lease { slot, holder: format!("other {slot}"), until: Timestamp(i64::MAX) };
            assert!(now(self.ports.store.0.take("limited", &lease, clock())).unwrap());
        }
        self.run_the_split();
        for message in &mut self.messages {
            if let Message::Chunk(message) = message {
                message.failures = failures;
            }
        }
        self.run_until_still();
    }

    /// The gate has just opened: sweeps call chunks in, and nobody delivers them. None is sent twice.
    pub(crate) fn call_in_unheard(&mut self) {
        for _ in 0..3 {
            self.wait(20);
            self.sweep();
        }
        self.collect();
        let mut sent: Vec<_> = self.messages.iter().filter_map(|message| message.place()).collect();
        let count = sent.len();
        assert!(count >= AT_ONCE as usize, "nobody was called in");
        sent.sort_unstable();
        sent.dedup();
        assert_eq!(sent.len(), count, "a chunk that was called in was pushed at once");
    }

    /// How many rows of the job failed.
    pub(crate) fn failed_count(&self) -> u64 {
        self.job().totals.map_or(0, |totals| totals.failed)
    }
}

impl Message {
    /// Which chunk it is about.
    fn place(&self) -> Option<(u32, u32)> {
        match self {
            Self::Chunk(message) => Some((message.group, message.chunk)),
            _ => None,
        }
    }
}
