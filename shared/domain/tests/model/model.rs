//! The protocol as a state machine: its initial state, its actions, and their effects; start, progress and crash of a
//! running function.
//!
//! Any message can be received next (reordering) or later (delay). A duplicate is a message that is redelivered while
//! it is being processed. A function crashes between two steps; its message is redelivered, lost, or dead-lettered. The
//! reply of a write can be lost.

use stateright::{Model, Property};

use crate::properties::{INVARIANTS, SIGHTS};
use crate::protocol::{Flaw, Protocol};
use crate::record::Record;
use crate::step::{Action, ApiSend, Cut, Message, Mode, Redelivery, Run, Step};
use crate::world::World;
use crate::{client, completion, pauses, splitter, sweeper, worker};

impl Model for Protocol {
    type State = World;
    type Action = Action;

    fn init_states(&self) -> Vec<World> {
        let mut world = World {
            job: client::job(self),
            groups: vec![],
            manifests: vec![],
            files: Default::default(),
            reports: Default::default(),
            queue: Default::default(),
            dead: Default::default(),
            sent: Default::default(),
            runs: vec![],
            uncounted: vec![],
            pauses: Default::default(),
            reading: None,
            left: self.bounds.clone(),
            record: Record::default(),
        };
        self.send_fifo(&mut world, Message::Create(0), 0);
        vec![world]
    }

    fn actions(&self, world: &World, actions: &mut Vec<Action>) {
        if let Some(i) = world.runs.iter().position(|run| is_local(self, run)) {
            return next_actions(self, world, i, actions);
        }
        for message in world.queue.keys().copied().filter(|m| is_free(self, world, *m)) {
            let ways = pauses::ways_to_start(self, world, message);
            let choices = if ways.can_begin { worker::first_choices(self, world, message) } else { 0 };
            actions.extend((0..choices).map(|choice| Action::Take { message, choice }));
            actions.extend(ways.can_end_paused.then_some(Action::EndPaused { message }));
        }
        (0..world.runs.len()).for_each(|i| run_actions(self, world, i, actions));
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
            (client::may_select(world), Action::RetryForOneReason),
            (sweeper::may_sweep(self, world), Action::Sweep),
            (world.left.reads > 0 && world.reading.is_none(), Action::ReadGroups),
            (world.reading.is_some(), Action::ReadJob),
            (!world.uncounted.is_empty(), Action::CountPush),
            (pauses::may_pause(world), Action::Pause),
            (world.pauses.in_force && !world.job.status.is_final(), Action::Resume),
            (world.pauses.has_old_views && !world.job.status.is_final(), Action::ForgetViews),
        ] {
            actions.extend(allowed.then_some(action));
        }
    }

    fn next_state(&self, last: &World, action: Action) -> Option<World> {
        let mut world = last.clone();
        match action {
            Action::Take { message, choice } => {
                world.take(message);
                pauses::note_items(&mut world, message);
                let step = start(self, &mut world, message, choice);
                world.runs.extend(step.map(|step| Run { message, step, gives_up: false }));
            }
            Action::Next { run, choice } => advance(self, &mut world, run, choice),
            Action::LoseReply { run } => lose_reply(self, &mut world, run),
            Action::Crash { run, redelivery } => crash(self, &mut world, run, redelivery),
            Action::Duplicate { run } => {
                world.left.duplicates -= 1;
                world.send(last.runs[run].message);
            }
            Action::HandOver { run } => hand_over(&mut world, run),
            Action::Stop { send } => client::stop(self, &mut world, send),
            Action::Retry { send } => client::retry(self, &mut world, send),
            Action::RetryForOneReason => client::retry_for_one_reason(self, &mut world),
            Action::Replay { dead_letter } => client::replay(self, &mut world, dead_letter),
            Action::GiveUp { dead_letter } => sweeper::give_up(self, &mut world, dead_letter),
            Action::Sweep => sweeper::sweep(self, &mut world),
            Action::ReadGroups => world.reading = Some(world.groups.clone()),
            Action::ReadJob => client::answer(self, &mut world),
            Action::EndPaused { message } => {
                world.take(message);
                pauses::end_paused(self, &mut world, message);
            }
            Action::EndPausedRun { run } => drop(world.runs.remove(run)),
            Action::CountPush => sweeper::count_push(&mut world),
            Action::Pause => pauses::pause(&mut world),
            Action::Resume => pauses::resume(&mut world),
            Action::ForgetViews => world.pauses.has_old_views = false,
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

/// Returns true if another function may be started for this message.
fn is_free(protocol: &Protocol, world: &World, message: Message) -> bool {
    let kind = |m: Message| match m {
        Message::Create(_) => 0,
        Message::Chunk(..) => 1,
        Message::Complete(_) => 2,
    };
    let running = world.runs.iter().filter(|run| !run.gives_up && kind(run.message) == kind(message));
    running.count() < protocol.runs[kind(message)]
}

/// Returns true if the next step neither reads nor writes shared state, so that its order among the others' is
/// irrelevant. A worker that continues looks at the pauses.
fn is_local(protocol: &Protocol, run: &Run) -> bool {
    match run.step {
        Step::Continue(_) => run.gives_up || protocol.bounds.pauses == 0,
        _ => run.step == Step::Lost,
    }
}

/// Returns the possible outcomes of the next step of the run at index `i`.
fn next_actions(protocol: &Protocol, world: &World, i: usize, actions: &mut Vec<Action>) {
    let run = &world.runs[i];
    let choices = match (&run.step, run.message) {
        (Step::Continue(from), Message::Chunk(chunk)) if !run.gives_up => {
            let ways = pauses::ways_of_worker(protocol, world);
            actions.extend(ways.can_end_paused.then_some(Action::EndPausedRun { run: i }));
            if ways.can_begin { worker::choices(protocol, world, chunk, Some(from)) } else { 0 }
        }
        _ => 1,
    };
    actions.extend((0..choices).map(|choice| Action::Next { run: i, choice }));
    // Splitter and worker check the clock between two of their commits.
    let is_between_commits = matches!(run.step, Step::Continue(_) | Step::Advance { own: true, .. });
    actions.extend((world.left.deadlines > 0 && is_between_commits).then_some(Action::HandOver { run: i }));
}

/// Adds the possible actions of the run at index `i`.
fn run_actions(protocol: &Protocol, world: &World, i: usize, actions: &mut Vec<Action>) {
    let (run, left) = (&world.runs[i], &world.left);
    next_actions(protocol, world, i, actions);
    let writes = matches!(run.step, Step::Commit(_) | Step::Advance { .. } | Step::Finish { .. } | Step::Paused { .. });
    let has_message = !run.gives_up;
    for (allowed, action) in [
        (left.lost_replies > 0 && writes, Action::LoseReply { run: i }),
        (left.crashes > 0, Action::Crash { run: i, redelivery: Redelivery::Again }),
        (left.losses > 0 && has_message, Action::Crash { run: i, redelivery: Redelivery::Lost }),
        (left.dead_letters > 0 && has_message, Action::Crash { run: i, redelivery: Redelivery::Dead }),
        (left.duplicates > 0 && has_message, Action::Duplicate { run: i }),
    ] {
        actions.extend(allowed.then_some(action));
    }
}

/// Starts a function with a message, which it reads. Returns its first visible step; `None` if it acknowledges at once.
fn start(protocol: &Protocol, world: &mut World, message: Message, choice: usize) -> Option<Step> {
    match message {
        Message::Create(generation) => splitter::next(protocol, world, generation, &Step::Look),
        Message::Chunk(chunk) => worker::start(protocol, world, chunk, Mode::Work { choice }),
        Message::Complete(generation) => completion::next(protocol, world, generation, &Step::Read),
    }
}

/// Does the next step of the run at index `i`; the run ends when it acknowledges its message.
fn advance(protocol: &Protocol, world: &mut World, i: usize, choice: usize) {
    let run = world.runs.remove(i);
    if matches!(run.step, Step::Continue(_)) && !run.gives_up {
        pauses::note_items(world, run.message);
    }
    let mode = if run.gives_up { Mode::GiveUp } else { Mode::Work { choice } };
    let step = match run.message {
        Message::Create(generation) => splitter::next(protocol, world, generation, &run.step),
        Message::Chunk(chunk) => worker::next(protocol, world, chunk, &run.step, mode),
        Message::Complete(generation) => completion::next(protocol, world, generation, &run.step),
    };
    world.runs.extend(step.map(|step| Run { step, ..run }));
}

/// Hands over when time is nearly over: the function sends a continuation, and acknowledges its own message.
fn hand_over(world: &mut World, i: usize) {
    world.left.deadlines -= 1;
    let groups = if let Step::Advance { groups, .. } = world.runs[i].step { groups } else { 0 };
    world.runs[i].step = Step::HandOver { groups };
}

/// Does a write whose reply is lost. The SDK repeats the call, so the run stays at its step.
fn lose_reply(protocol: &Protocol, world: &mut World, i: usize) {
    let run = world.runs[i].clone();
    let others = world.runs.len() - 1;
    advance(protocol, world, i, 0);
    world.runs.truncate(others);
    world.runs.push(run);
    world.left.lost_replies -= 1;
}

/// Ends a run by a crash. The sweeper has no message: the dead letter that it read stays in its queue, and is not
/// redelivered.
fn crash(protocol: &Protocol, world: &mut World, i: usize, redelivery: Redelivery) {
    let run = world.runs.remove(i);
    match redelivery {
        Redelivery::Again => {
            world.left.crashes -= 1;
            if run.gives_up {
                world.record.losses += 1;
            } else if !acknowledged(protocol, &run.step) {
                world.send(run.message);
            }
        }
        Redelivery::Lost => {
            world.left.losses -= 1;
            world.record.losses += 1;
        }
        Redelivery::Dead => {
            world.left.dead_letters -= 1;
            world.record.losses += 1;
            world.dead.insert(run.message);
        }
    }
}

/// Returns true if a flawed function has acknowledged its message before this step.
fn acknowledged(protocol: &Protocol, step: &Step) -> bool {
    match protocol.flaw {
        Flaw::UnsealedSplit => matches!(step, Step::Advance { cut: Cut::End, .. }),
        Flaw::RoundUnsent => *step == Step::OpenRound,
        _ => false,
    }
}
