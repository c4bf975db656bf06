//! Messages in their queues: visible, in flight, deleted, lost, or dead-lettered after too many deliveries.

use std::cell::Cell;

use longshore_domain::dead_letter::Queue;
use longshore_domain::ids::JobId;
use longshore_domain::job::Priority;
use longshore_domain::message::{ChunkMessage, CompleteMessage, CreateMessage};
use longshore_domain::ports::Received;
use longshore_domain::retry::redelivery_s;
use longshore_domain::time_stamp::Timestamp;

use super::{CLOCK, MAX_RECEIVES, MOST_HOPS, TEMPLATE_RECEIVES, Work, World};
use crate::{faults, trace};

thread_local! {
    /// Number of chunk messages by priority, now and a while ago.
    static DEPTHS: Cell<[[u64; 3]; 2]> = const { Cell::new([[0; 3]; 2]) };
}

/// Resets the depths at the beginning of a run: no queue has had any messages.
pub(super) fn begin() {
    DEPTHS.set([[0; 3]; 2]);
}

/// Number of chunk messages of this priority, now or a while ago.
pub(crate) fn depth(priority: Priority, stale: bool) -> u64 {
    DEPTHS.get()[usize::from(stale)][place(priority)]
}

fn place(priority: Priority) -> usize {
    Priority::ALL.iter().position(|other| *other == priority).unwrap_or(0)
}

#[derive(Clone, Debug)]
pub(super) enum Message {
    Create(CreateMessage),
    Chunk(ChunkMessage),
    Complete(CompleteMessage),
}

impl Message {
    /// The chunk that the message is about.
    pub(super) fn place(&self) -> Option<(JobId, u32, u32)> {
        match self {
            Self::Chunk(message) => Some((message.job_id, message.group, message.chunk)),
            _ => None,
        }
    }

    /// The message group in a FIFO queue.
    fn group(&self) -> Option<(&'static str, String)> {
        match self {
            Self::Create(message) => Some(("create", message.group_id())),
            Self::Complete(message) => Some(("complete", message.group_id())),
            Self::Chunk(_) => None,
        }
    }

    /// Returns the queue of the message, and its body as a dead-letter message.
    fn dead(&self) -> (Queue, serde_json::Result<String>) {
        match self {
            Self::Create(message) => (Queue::Create, serde_json::to_string(message)),
            Self::Chunk(message) => (Queue::Chunk, serde_json::to_string(message)),
            Self::Complete(message) => (Queue::Complete, serde_json::to_string(message)),
        }
    }

    /// Index of the function that the message invokes in [`Hops`].
    fn function(&self) -> usize {
        match self {
            Self::Create(_) => 0,
            Self::Chunk(_) => 1,
            Self::Complete(_) => 2,
        }
    }
}

/// Invocations of splitter, worker and completion in a chain of messages.
pub(super) type Hops = [u32; 3];

/// A message in its queue.
#[derive(Debug)]
pub(super) struct QueuedMessage {
    pub(super) message: Message,
    pub(super) receives: u32,
    sent_at: i64,
    pub(super) visible_at: i64,
    /// Invocations in the chain that led to the message, including its own.
    pub(super) hops: Hops,
}

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
        let mut depths = [0; 3];
        for queued in self.messages.values() {
            if let Message::Chunk(message) = &queued.message {
                depths[place(message.priority)] += 1;
            }
        }
        let [before, older] = DEPTHS.get();
        if depths != before {
            DEPTHS.set([depths, if self.numbers.is_multiple_of(2) { before } else { older }]);
        }
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
