//! The protocol as a state machine: its initial state, its actions, and their effects.
//!
//! Any message can be received next (reordering) or later (delay). A duplicate is a message that is redelivered while
//! it is being processed. A function crashes between two steps; its message is redelivered, lost, or dead-lettered.

use stateright::{Model, Property};

use crate::flaw::Flaw;
use crate::properties::{INVARIANTS, SIGHTS};
use crate::protocol::{ITEM_BYTES, Protocol};
use crate::record::Record;
use crate::step::{Action, ApiSend, Message, Run};
use crate::world::World;
use crate::{client, runs, sweeper, worker};

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
        let can_lose = world.left.losses > 0;
        let (stoppable, retriable) = (client::may_stop(world), client::may_retry(world));
        let replays = world.dead.iter().filter(|dead_letter| client::may_replay(world, **dead_letter));
        actions.extend(replays.map(|dead_letter| Action::Replay { dead_letter: *dead_letter }));
        let dead_letters = world.dead.iter().filter(|dead_letter| sweeper::may_give_up(self, world, **dead_letter));
        actions.extend(dead_letters.map(|dead_letter| Action::GiveUp { dead_letter: *dead_letter }));
        for (allowed, action) in [
            (stoppable, Action::Stop { send: ApiSend::Sent }),
            (stoppable && can_lose, Action::Stop { send: ApiSend::Lost }),
            (retriable, Action::Retry { send: ApiSend::Sent }),
            (retriable && can_lose, Action::Retry { send: ApiSend::Lost }),
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
            Action::Stop { send } => client::stop(self, &mut world, send),
            Action::Retry { send } => client::retry(self, &mut world, send),
            Action::Replay { dead_letter } => client::replay(self, &mut world, dead_letter),
            Action::GiveUp { dead_letter } => sweeper::give_up(self, &mut world, dead_letter),
            Action::Sweep => sweeper::sweep(self, &mut world),
            Action::ReadGroups => world.reading = Some(world.groups.clone()),
            Action::ReadJob => client::answer(self, &mut world),
        }
        world.sort_runs();
        if self.flaw != Flaw::UnvouchedFiles {
            world.remove_unnamed_files();
        }
        Some(world)
    }

    fn properties(&self) -> Vec<Property<Self>> {
        properties(self.sights)
    }
}

/// Returns every invariant, and the sights of these names.
fn properties(sights: &[&str]) -> Vec<Property<Protocol>> {
    let always = INVARIANTS.iter().map(|(name, holds)| Property::always(name, *holds));
    let expected = SIGHTS.iter().filter(|(name, _)| sights.contains(name));
    let sometimes = expected.map(|(name, condition)| Property::sometimes(name, *condition));
    always.chain(sometimes).collect()
}
