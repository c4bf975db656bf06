//! The protocol as a state machine: who may do what next, and what comes of it.
//!
//! Reordering is that any message may be taken; delay is that it is not yet; a duplicate is a message that comes
//! again while it is worked. A function dies between two steps; its message comes again, or is lost for good.

use longshore_domain::group::{ChunkPlan, Manifest};
use longshore_domain::job::Job;
use stateright::{Model, Property};

use crate::bounds::{Bounds, Flaw, Nature};
use crate::world::{Message, Record, Run, World};
use crate::{client, properties, runs, sweeper, worker};

/// Bytes of every item, so that a percentage can be checked.
pub(crate) const ITEM_BYTES: u64 = 10;

/// One configuration.
#[derive(Clone, Debug)]
pub(crate) struct Protocol {
    /// Groups of chunks of items.
    pub(crate) file: Vec<Vec<Vec<Nature>>>,
    /// Items after which a worker commits.
    pub(crate) checkpoint: usize,
    /// Functions at work at once: splitters, workers, completions.
    pub(crate) runs: [usize; 3],
    /// The sweeper runs. Without it, crashes alone must not stop a job.
    pub(crate) sweeper: bool,
    /// What may go wrong.
    pub(crate) bounds: Bounds,
    /// What the configuration must be able to show.
    pub(crate) sights: &'static [&'static str],
    /// What is wrong with the protocol.
    pub(crate) flaw: Flaw,
}

/// One step of the whole system.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Action {
    /// A function gets a message. `choice` picks what handlers say in its first run.
    Take { message: Message, choice: usize },
    /// The function at this place of the list does its next step.
    Next { run: usize, choice: usize },
    /// It does, but never hears of it, and will do it again.
    LoseReply { run: usize },
    /// It dies; `lost` if its message does not come again.
    Crash { run: usize, lost: bool },
    /// Its message comes again while it lives.
    Duplicate { run: usize },
    /// The client cancels; `sent` if the API lived to ask for completion.
    Stop { sent: bool },
    /// The sweeper finds what the ledger says is unfinished and sends it.
    Sweep,
    /// A status call reads the groups.
    ReadGroups,
    /// Then it reads the job, and answers.
    ReadJob,
}

impl Protocol {
    /// The sound protocol over this file: one commit a run, two workers, no sweeper, and nothing goes wrong.
    pub(crate) fn of(file: Vec<Vec<Vec<Nature>>>) -> Self {
        let (bounds, sights, flaw) = (Bounds::default(), &[][..], Flaw::None);
        Self { file, checkpoint: usize::MAX, runs: [1, 2, 1], sweeper: false, bounds, sights, flaw }
    }

    /// The numbers of the items of a chunk.
    pub(crate) fn items(&self, group: u32, chunk: u32) -> Vec<u8> {
        let all = self.file.iter().flatten();
        let before: usize = self.file[..group as usize].iter().map(Vec::len).sum::<usize>() + chunk as usize;
        let first: usize = all.take(before).map(Vec::len).sum();
        (first..first + self.file[group as usize][chunk as usize].len()).map(|i| i as u8).collect()
    }

    /// What an item is like.
    pub(crate) fn nature(&self, item: u8) -> Option<Nature> {
        self.file.iter().flatten().flatten().nth(item as usize).copied()
    }

    /// Items of the whole file.
    pub(crate) fn item_count(&self) -> usize {
        self.file.iter().flatten().map(Vec::len).sum()
    }

    /// The plan of a group, as the splitter cuts it.
    pub(crate) fn manifest(&self, group: u32) -> Manifest {
        let chunks = (0..self.file[group as usize].len() as u32).map(|chunk| {
            let items = self.items(group, chunk);
            let start = items.first().map_or(0, |i| u64::from(*i)) * ITEM_BYTES;
            let end = start + items.len() as u64 * ITEM_BYTES;
            ChunkPlan { first: start / ITEM_BYTES + 1, items: items.len() as u32, start, end, oversize: false }
        });
        Manifest { group, chunks: chunks.collect() }
    }

    /// Every item has ended, as the job record knows it.
    pub(crate) fn all_done(&self, job: &Job) -> bool {
        match self.flaw {
            Flaw::DoneBeforeSplitEnd => job.groups > 0 && job.done_groups.len() == job.groups as usize,
            _ => job.all_done(),
        }
    }
}

impl Model for Protocol {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        vec![World {
            job: client::job(self.item_count() as u64 * ITEM_BYTES),
            groups: vec![],
            files: Default::default(),
            report: None,
            reported: None,
            queue: [(Message::Create, 1)].into(),
            announced: false,
            runs: vec![],
            reading: None,
            left: self.bounds.clone(),
            record: Record::default(),
        }]
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
        let stoppable = world.left.stops > 0 && world.job.is_live();
        for (allowed, action) in [
            (stoppable, Action::Stop { sent: true }),
            (stoppable && world.left.losses > 0, Action::Stop { sent: false }),
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
                world.runs.extend(step.map(|step| Run { message, step }));
            }
            Action::Next { run, choice } => runs::advance(self, &mut world, run, choice),
            Action::LoseReply { run } => runs::lose_reply(self, &mut world, run),
            Action::Crash { run, lost } => runs::crash(self, &mut world, run, lost),
            Action::Duplicate { run } => {
                world.left.duplicates -= 1;
                world.send(last.runs[run].message);
            }
            Action::Stop { sent } => client::stop(&mut world, sent),
            Action::Sweep => sweeper::sweep(self, &mut world),
            Action::ReadGroups => world.reading = Some(world.groups.clone()),
            Action::ReadJob => client::answer(self, &mut world),
        }
        world.normalise(self.flaw == Flaw::UnvouchedFiles);
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties::of(self.sights)
    }
}
