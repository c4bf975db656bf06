//! The protocol as a state machine: actors, their steps and the effects.
//!
//! Any message may be taken next (reordering) or later (delay); a duplicate is a message that is redelivered while it
//! is worked. A function dies between two steps; its message is redelivered, lost, or dead-lettered.

use longshore_domain::job::Job;
use stateright::{Model, Property};

use crate::action::Action;
use crate::bounds::{Bounds, Nature};
use crate::flaw::Flaw;
use crate::record::Record;
use crate::step::{Message, Run};
use crate::world::World;
use crate::{client, properties, retry, runs, sweeper, worker};

/// Bytes of every item, so that a percentage can be checked.
pub(crate) const ITEM_BYTES: u64 = 10;

/// One configuration.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    /// Items of each chunk of each group.
    pub(crate) file: Vec<Vec<Vec<Nature>>>,
    /// Number of items after which a worker commits.
    pub(crate) checkpoint: usize,
    /// Maximum concurrent functions: splitters, workers, completions.
    pub(crate) runs: [usize; 3],
    /// True if the sweeper runs. Without it, crashes alone must not stop a job.
    pub(crate) sweeper: bool,
    /// True if the FIFO queues drop a message that was sent before.
    pub(crate) deduplication: bool,
    /// Faults that may occur.
    pub(crate) bounds: Bounds,
    /// Sights that the configuration must reach.
    pub(crate) sights: &'static [&'static str],
    /// The flaw in the protocol.
    pub(crate) flaw: Flaw,
}

impl Protocol {
    /// Creates the sound protocol over this file: one commit a run, two workers, no sweeper, and no faults.
    pub(crate) fn new(file: Vec<Vec<Vec<Nature>>>) -> Self {
        let (bounds, sights, flaw) = (Bounds::default(), &[][..], Flaw::None);
        let (sweeper, deduplication) = (false, true);
        Self { file, checkpoint: usize::MAX, runs: [1, 2, 1], sweeper, deduplication, bounds, sights, flaw }
    }

    /// Returns the numbers of the items of each chunk of a part of the file.
    pub(crate) fn part(&self, part: usize) -> Vec<Vec<u8>> {
        let mut next = self.file[..part].iter().flatten().map(Vec::len).sum::<usize>() as u8..;
        self.file[part].iter().map(|chunk| next.by_ref().take(chunk.len()).collect()).collect()
    }

    /// Returns the part of the file that begins at this byte.
    pub(crate) fn part_at(&self, offset: u64) -> Option<usize> {
        let mut start = 0;
        for (part, chunks) in self.file.iter().enumerate() {
            if start == offset {
                return Some(part);
            }
            start += chunks.iter().map(Vec::len).sum::<usize>() as u64 * ITEM_BYTES;
        }
        None
    }

    /// Returns the behavior of an item.
    pub(crate) fn nature(&self, item: u8) -> Option<Nature> {
        self.file.iter().flatten().flatten().nth(item as usize).copied()
    }

    /// Returns the number of items of the whole file.
    pub(crate) fn item_count(&self) -> usize {
        self.file.iter().flatten().map(Vec::len).sum()
    }

    /// Sends a control message: deduplication drops it if it was sent at this position before.
    pub(crate) fn send_fifo(&self, world: &mut World, message: Message, position: u32) {
        if self.deduplication { world.send_once(message, position) } else { world.send(message) }
    }

    /// Returns true if every item has ended, as the job record knows it.
    pub(crate) fn all_done(&self, job: &Job) -> bool {
        match self.flaw {
            Flaw::DoneBeforeSplitEnd => {
                job.split.groups > 0 && job.split.done_groups.len() == job.split.groups as usize
            }
            _ => job.all_done(),
        }
    }
}

impl Model for Protocol {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let mut world = World {
            job: client::job(self.item_count() as u64 * ITEM_BYTES),
            groups: vec![],
            manifests: vec![],
            files: Default::default(),
            reports: Default::default(),
            queue: Default::default(),
            dead: Default::default(),
            sent: Default::default(),
            runs: vec![],
            reading: None,
            left: self.bounds.clone(),
            record: Record::default(),
        };
        self.send_fifo(&mut world, Message::Create(0), 0);
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if let Some(i) = world.runs.iter().position(runs::is_local) {
            return runs::next_actions(self, world, i, actions);
        }
        for message in world.queue.keys().copied().filter(|m| runs::is_free(self, world, *m)) {
            let choices = worker::first_choices(self, world, message);
            actions.extend((0..choices).map(|choice| Action::Take { message, choice }));
        }
        (0..world.runs.len()).for_each(|i| runs::actions(self, world, i, actions));
        let unsent = world.left.losses > 0;
        let (stoppable, retriable) = (client::may_stop(world), retry::may_retry(world));
        let replays = world.dead.iter().filter(|dead_letter| retry::may_replay(world, **dead_letter));
        actions.extend(replays.map(|dead_letter| Action::Replay { dead_letter: *dead_letter }));
        let dead_letters = world.dead.iter().filter(|dead_letter| sweeper::may_give_up(self, world, **dead_letter));
        actions.extend(dead_letters.map(|dead_letter| Action::GiveUp { dead_letter: *dead_letter }));
        for (allowed, action) in [
            (stoppable, Action::Stop { sent: true }),
            (stoppable && unsent, Action::Stop { sent: false }),
            (retriable, Action::Retry { sent: true }),
            (retriable && unsent, Action::Retry { sent: false }),
            (self.sweeper && world.is_idle() && !world.job.status.is_final(), Action::Sweep),
            (world.left.reads > 0 && world.reading.is_none(), Action::ReadGroups),
            (world.reading.is_some(), Action::ReadJob),
        ] {
            actions.extend(allowed.then_some(action));
        }
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = last.clone();
        match action {
            Action::Take { message, choice } => {
                world.take(message);
                let step = runs::start(self, &mut world, message, choice);
                world.runs.extend(step.map(|step| Run { message, step, gives_up: false }));
            }
            Action::Next { run, choice } => runs::advance(self, &mut world, run, choice),
            Action::LoseReply { run } => runs::lose_reply(self, &mut world, run),
            Action::Crash { run, redelivery } => runs::crash(self, &mut world, run, redelivery),
            Action::Duplicate { run } => {
                world.left.duplicates -= 1;
                world.send(last.runs[run].message);
            }
            Action::HandOver { run } => runs::hand_over(&mut world, run),
            Action::Stop { sent } => client::stop(self, &mut world, sent),
            Action::Retry { sent } => retry::retry(self, &mut world, sent),
            Action::Replay { dead_letter } => retry::replay(self, &mut world, dead_letter),
            Action::GiveUp { dead_letter } => sweeper::give_up(self, &mut world, dead_letter),
            Action::Sweep => sweeper::sweep(self, &mut world),
            Action::ReadGroups => world.reading = Some(world.groups.clone()),
            Action::ReadJob => client::answer(self, &mut world),
        }
        world.normalise(self.flaw == Flaw::UnvouchedFiles);
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::for_conditions(self.sights)
    }
}
