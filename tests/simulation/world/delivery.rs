//! Delivery of messages: visible, in flight, deleted, lost, or dead-lettered after too many deliveries.
//!
//! Lambda refuses the messages of a chain at its maximum length, if a story asks for it.

use longshore_domain::dead_letter::Queue;
use longshore_domain::ports::Received;
use longshore_domain::retry::redelivery_s;
use longshore_domain::time_stamp::Timestamp;

use super::function::Work;
use super::message::{Hops, Message, QueuedMessage};
use super::{MAX_RECEIVES, MOST_HOPS, TEMPLATE_RECEIVES, World};
use crate::clock::CLOCK;
use crate::stepwise::queues::set_depths;
use crate::{faults, trace};

impl World {
    /// Takes the messages that a function after these hops has sent.
    pub(super) fn take_sent(&mut self, hops: Hops) {
        for message in self.queues.take_creates() {
            self.put(Message::Create(message), 0, hops);
        }
        for sent in self.queues.take_chunks() {
            let message = Message::Chunk(sent.message);
            // A push without effect: the chunk's message exists, and no function has received it yet.
            self.disturbances +=
                u32::from(self.messages.values().any(|queued| queued.message.place() == message.place()));
            self.put(message, sent.delay_s, hops);
        }
        for message in self.queues.take_completes() {
            self.put(Message::Complete(message), 0, hops);
        }
    }

    /// Takes the messages that clients have sent, and updates the queue depths.
    pub(super) fn collect(&mut self) {
        self.take_sent([0; 3]);
        let chunks = self.messages.values().filter_map(|queued| match &queued.message {
            Message::Chunk(message) => Some(message.priority),
            Message::Create(_) | Message::Complete(_) => None,
        });
        set_depths(chunks, !self.numbers.is_multiple_of(2));
    }

    fn put(&mut self, message: Message, delay_s: i32, mut hops: Hops) {
        let (number, visible_at) = (self.number(), CLOCK.get() + i64::from(delay_s) * 1000);
        let function = message.function();
        hops[function] += 1;
        self.most_hops[function] = self.most_hops[function].max(hops[function]);
        self.messages.insert(number, QueuedMessage { message, receives: 0, sent_at: CLOCK.get(), visible_at, hops });
    }

    pub(super) fn put_again(&mut self, message: Message) {
        self.put(message, 0, [0; 3]);
    }

    /// Numbers of the messages that may be delivered now.
    pub(super) fn visible(&self) -> Vec<u64> {
        let visible = self.messages.iter().filter(|(_, queued)| queued.visible_at <= CLOCK.get());
        visible
            .filter(|(number, queued)| !self.is_behind_another(**number, queued))
            .map(|(number, _)| *number)
            .collect()
    }

    fn is_behind_another(&self, number: u64, queued: &QueuedMessage) -> bool {
        let Some(group) = self.environment.fifo.then(|| queued.message.group()).flatten() else { return false };
        self.messages.range(..number).any(|(_, before)| before.message.group().as_ref() == Some(&group))
    }

    /// Delivers a message, unless it has reached the maximum number of deliveries. A message that is delivered twice
    /// at once stays visible.
    pub(super) fn deliver(&mut self, number: u64, twice: bool) {
        let visible_at = CLOCK.get() + self.environment.visibility_s * 1000;
        let Some(queued) = self.messages.get_mut(&number) else { return };
        let receives = if self.environment.redelivery_base_s.is_some() { TEMPLATE_RECEIVES } else { MAX_RECEIVES };
        let loops = self.refuses_loops && queued.hops[queued.message.function()] > MOST_HOPS;
        if queued.receives >= receives || loops {
            return self.bury(number);
        }
        queued.receives += 1;
        if !twice {
            queued.visible_at = visible_at;
        }
        let work = Work::Message(queued.message.clone(), queued.receives - 1, Timestamp(queued.sent_at));
        self.begin(work, Some(number));
    }

    /// Sets the time of a message's next delivery after an error, as the function does.
    pub(super) fn deliver_later(&mut self, number: u64) {
        let Some(base_s) = self.environment.redelivery_base_s else { return };
        let fraction = self.rng.below(1_000) as f64 / 1_000.0;
        if let Some(queued) = self.messages.get_mut(&number) {
            queued.visible_at = CLOCK.get() + i64::from(redelivery_s(queued.receives, base_s, fraction)) * 1_000;
        }
    }

    fn bury(&mut self, number: u64) {
        let Some(queued) = self.messages.remove(&number) else { return };
        trace::set_function("queue", number);
        trace::append(format_args!("buried: {:?}", queued.message));
        faults::count_fault("buried");
        let (queue, body) = queued.message.dead();
        if queue == Queue::Chunk {
            self.buried.0 += 1;
        } else {
            self.buried.1 += 1;
        }
        let id = format!("letter-{number}");
        self.queues.bury(Received {
            queue,
            message_id: id.clone(),
            body: body.expect("a message is JSON"),
            sent_at: Timestamp(queued.sent_at),
            receives: queued.receives,
            source: None,
            group_id: queued.message.group().map(|(_, group)| group),
            handle: id,
        });
    }

    pub(super) fn lose(&mut self, number: u64) {
        trace::set_function("queue", number);
        trace::append(format_args!("lost"));
        faults::count_fault("lost");
        self.losses += 1;
        self.disturbances += 1;
        self.messages.remove(&number);
    }

    /// Delivers all visible messages and begins their functions. Returns false if there was none.
    pub(super) fn deliver_all(&mut self) -> bool {
        self.collect();
        let visible = self.visible();
        visible.iter().for_each(|number| self.deliver(*number, false));
        !visible.is_empty()
    }
}

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
