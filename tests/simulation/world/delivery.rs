//! Delivery of messages: they are visible, in flight, deleted, lost, or dead-lettered after too many deliveries.
//!
//! In some stories, Lambda refuses messages of chains that exceed the maximum length.

use longshore_domain::dead_letter::Queue;
use longshore_domain::ports::Received;
use longshore_domain::retry::redelivery_s;
use longshore_domain::timestamp::Timestamp;

use super::function::{Hops, Message, QueuedMessage, Work};
use super::{MAX_HOPS, MAX_RECEIVES, TEMPLATE_RECEIVES, World};
use crate::clock::CLOCK;
use crate::stepwise::queues::{OlderDepths, set_depths};
use crate::{faults, trace};

impl World {
    /// Collects the messages that a function with these hops has sent.
    pub(super) fn take_sent(&mut self, hops: Hops) {
        for message in self.queues.take_creates() {
            self.put(Message::Create(message), 0, hops);
        }
        for message in self.queues.take_prepares() {
            self.put(Message::Prepare(message), 0, hops);
        }
        for sent in self.queues.take_chunks() {
            let message = Message::Chunk(sent.message);
            // This is a push without effect: the chunk's message already exists, and has not been received.
            self.disturbances +=
                u32::from(self.messages.values().any(|queued| queued.message.chunk() == message.chunk()));
            self.put(message, sent.delay_s, hops);
        }
        for message in self.queues.take_completes() {
            self.put(Message::Complete(message), 0, hops);
        }
    }

    /// Collects the messages that clients have sent, and updates the queue depths.
    pub(super) fn collect(&mut self) {
        self.take_sent([0; 4]);
        let chunks = self.messages.values().filter_map(|queued| match &queued.message {
            Message::Chunk(message) => Some(message.queue()),
            Message::Create(_) | Message::Prepare(_) | Message::Complete(_) => None,
        });
        let is_even = self.numbers.is_multiple_of(2);
        set_depths(chunks, if is_even { OlderDepths::Replace } else { OlderDepths::Keep });
    }

    fn put(&mut self, message: Message, delay_s: i32, mut hops: Hops) {
        let (number, visible_at) = (self.number(), CLOCK.get() + i64::from(delay_s) * 1000);
        let function = message.function();
        hops[function] += 1;
        self.most_hops[function] = self.most_hops[function].max(hops[function]);
        self.messages.insert(number, QueuedMessage { message, receives: 0, sent_at: CLOCK.get(), visible_at, hops });
    }

    pub(super) fn put_copy(&mut self, message: Message) {
        self.put(message, 0, [0; 4]);
    }

    /// Numbers of the messages that can be delivered now.
    pub(super) fn visible(&self) -> Vec<u64> {
        let visible = self.messages.iter().filter(|(_, queued)| queued.visible_at <= CLOCK.get());
        visible.filter(|(number, queued)| !self.is_blocked(**number, queued)).map(|(number, _)| *number).collect()
    }

    fn is_blocked(&self, number: u64, queued: &QueuedMessage) -> bool {
        let Some(group) = self.environment.fifo.then(|| queued.message.group()).flatten() else { return false };
        self.messages.range(..number).any(|(_, earlier)| earlier.message.group().as_ref() == Some(&group))
    }

    /// Delivers a message, and hides it for its visibility timeout.
    pub(super) fn deliver(&mut self, number: u64) {
        self.deliver_until(number, Some(CLOCK.get() + self.environment.visibility_s * 1000));
    }

    /// Delivers a message that stays visible, so that it can be delivered again at once.
    pub(super) fn deliver_and_keep_visible(&mut self, number: u64) {
        self.deliver_until(number, None);
    }

    /// Delivers a message, or dead-letters it after the maximum number of deliveries.
    fn deliver_until(&mut self, number: u64, visible_at: Option<i64>) {
        let Some(queued) = self.messages.get_mut(&number) else { return };
        let max_receives = if self.environment.redelivery_base_s.is_some() { TEMPLATE_RECEIVES } else { MAX_RECEIVES };
        let is_refused = self.refuses_loops && queued.hops[queued.message.function()] > MAX_HOPS;
        if queued.receives >= max_receives || is_refused {
            return self.dead_letter(number);
        }
        queued.receives += 1;
        if let Some(visible_at) = visible_at {
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

    fn dead_letter(&mut self, number: u64) {
        let Some(queued) = self.messages.remove(&number) else { return };
        trace::set_function("queue", number);
        trace::append(format_args!("dead-lettered: {:?}", queued.message));
        faults::count_fault("dead-lettered");
        let (queue, body) = queued.message.dead();
        if queue == Queue::Chunk {
            self.dead_chunks += 1;
        } else {
            self.other_dead_letters += 1;
        }
        let id = format!("letter-{number}");
        self.queues.add_dead_letter(Received {
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
        visible.iter().for_each(|number| self.deliver(*number));
        !visible.is_empty()
    }
}

impl World {
    /// Makes Lambda refuse the next message of a chain that exceeds the maximum length.
    pub(crate) fn refuse_loops(&mut self) {
        self.refuses_loops = true;
    }

    /// Returns true if a chain is longer than Lambda allows by default.
    pub(crate) fn exceeds_hops(&self) -> bool {
        self.most_hops.iter().any(|hops| *hops > MAX_HOPS)
    }

    /// Maximum number of invocations of splitter, worker and completion in a chain.
    pub(crate) fn most_hops(&self) -> Hops {
        self.most_hops
    }

    /// Runs one function after the other. Each of their steps takes `millis`, and no message is redelivered meanwhile.
    pub(crate) fn run_slowly(&mut self, millis: i64) {
        self.run_with_slow(|_| true, millis);
    }

    /// Does the same, but only the steps of completions take time.
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
                self.check_responses();
            }
        }
    }
}
