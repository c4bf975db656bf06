//! Running functions: start, progress, crash, and a lost reply.

use crate::flaw::Flaw;
use crate::protocol::Protocol;
use crate::step::{Action, Cut, Message, Mode, Redelivery, Run, Step};
use crate::world::World;
use crate::{completion, splitter, worker};

/// Returns true if another function may be started for this message.
pub(crate) fn is_free(protocol: &Protocol, world: &World, message: Message) -> bool {
    let kind = |m: Message| match m {
        Message::Create(_) => 0,
        Message::Chunk(..) => 1,
        Message::Complete(_) => 2,
    };
    let running = world.runs.iter().filter(|run| !run.gives_up && kind(run.message) == kind(message));
    running.count() < protocol.runs[kind(message)]
}

/// Returns true if the next step neither reads nor writes shared state, so that its order among the others' is
/// irrelevant.
pub(crate) fn is_local(run: &Run) -> bool {
    matches!(run.step, Step::Continue(_) | Step::Lost)
}

/// Returns the possible outcomes of the next step of the run at index `i`.
pub(crate) fn next_actions(protocol: &Protocol, world: &World, i: usize, actions: &mut Vec<Action>) {
    let run = &world.runs[i];
    let choices = match (&run.step, run.message) {
        (Step::Continue(from), Message::Chunk(chunk)) if !run.gives_up => {
            worker::choices(protocol, world, chunk, Some(from))
        }
        _ => 1,
    };
    actions.extend((0..choices).map(|choice| Action::Next { run: i, choice }));
    // Splitter and worker check the clock between two of their commits.
    let is_between_commits = matches!(run.step, Step::Continue(_) | Step::Advance { own: true, .. });
    actions.extend((world.left.deadlines > 0 && is_between_commits).then_some(Action::HandOver { run: i }));
}

/// Adds the possible actions of the run at index `i`.
pub(crate) fn actions(protocol: &Protocol, world: &World, i: usize, actions: &mut Vec<Action>) {
    let (run, left) = (&world.runs[i], &world.left);
    next_actions(protocol, world, i, actions);
    let writes = matches!(run.step, Step::Commit(_) | Step::Advance { .. } | Step::Finish { .. });
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
pub(crate) fn start(protocol: &Protocol, world: &mut World, message: Message, choice: usize) -> Option<Step> {
    match message {
        Message::Create(generation) => splitter::next(protocol, world, generation, &Step::Look),
        Message::Chunk(chunk) => worker::start(protocol, world, chunk, Mode::Work { choice }),
        Message::Complete(generation) => completion::next(protocol, world, generation, &Step::Read),
    }
}

/// Does the next step of the run at index `i`; the run ends when it acknowledges its message.
pub(crate) fn advance(protocol: &Protocol, world: &mut World, i: usize, choice: usize) {
    let run = world.runs.remove(i);
    let mode = if run.gives_up { Mode::GiveUp } else { Mode::Work { choice } };
    let step = match run.message {
        Message::Create(generation) => splitter::next(protocol, world, generation, &run.step),
        Message::Chunk(chunk) => worker::next(protocol, world, chunk, &run.step, mode),
        Message::Complete(generation) => completion::next(protocol, world, generation, &run.step),
    };
    world.runs.extend(step.map(|step| Run { step, ..run }));
}

/// Hands over when time is nearly over: the function sends a continuation, and acknowledges its own message.
pub(crate) fn hand_over(world: &mut World, i: usize) {
    world.left.deadlines -= 1;
    let groups = if let Step::Advance { groups, .. } = world.runs[i].step { groups } else { 0 };
    world.runs[i].step = Step::HandOver { groups };
}

/// Does a write whose reply is lost. The SDK repeats the call, so the run stays at its step.
pub(crate) fn lose_reply(protocol: &Protocol, world: &mut World, i: usize) {
    let run = world.runs[i].clone();
    let others = world.runs.len() - 1;
    advance(protocol, world, i, 0);
    world.runs.truncate(others);
    world.runs.push(run);
    world.left.lost_replies -= 1;
}

/// Ends a run by a crash. The sweeper has no message: the dead letter that it read stays in its queue, and is not
/// redelivered.
pub(crate) fn crash(protocol: &Protocol, world: &mut World, i: usize, redelivery: Redelivery) {
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
