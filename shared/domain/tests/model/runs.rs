//! Functions at work: how a run starts, goes on, dies, and is deceived by a lost reply.

use crate::bounds::Flaw;
use crate::protocol::{Action, Protocol};
use crate::world::{Message, Run, Step, World};
use crate::{completion, splitter, worker};

/// Another function may be started for this message.
pub(crate) fn is_free(protocol: &Protocol, world: &World, message: Message) -> bool {
    let kind = |m: Message| match m {
        Message::Create => 0,
        Message::Chunk(..) => 1,
        Message::Complete => 2,
    };
    world.runs.iter().filter(|run| kind(run.message) == kind(message)).count() < protocol.runs[kind(message)]
}

/// Its next step touches nothing that another can see or change, so its order among the others' has no meaning.
pub(crate) fn is_local(run: &Run) -> bool {
    matches!(run.step, Step::Continue(_) | Step::Lost)
}

/// The ways in which the next step of the run at place `i` can come out.
pub(crate) fn next_actions(protocol: &Protocol, world: &World, i: usize, actions: &mut Vec<Action>) {
    let choices = match (&world.runs[i].step, world.runs[i].message) {
        (Step::Continue(from), Message::Chunk(group, chunk)) => {
            worker::choices(protocol, world, (group, chunk), Some(from))
        }
        _ => 1,
    };
    actions.extend((0..choices).map(|choice| Action::Next { run: i, choice }));
}

/// What can happen to the run at place `i`.
pub(crate) fn actions(protocol: &Protocol, world: &World, i: usize, actions: &mut Vec<Action>) {
    let (run, left) = (&world.runs[i], &world.left);
    next_actions(protocol, world, i, actions);
    let writes = matches!(run.step, Step::Commit(_) | Step::Advance { .. } | Step::Finish { .. });
    for (allowed, action) in [
        (left.lost_replies > 0 && writes, Action::LoseReply { run: i }),
        (left.crashes > 0, Action::Crash { run: i, lost: false }),
        (left.losses > 0, Action::Crash { run: i, lost: true }),
        (left.duplicates > 0, Action::Duplicate { run: i }),
    ] {
        actions.extend(allowed.then_some(action));
    }
}

/// A function gets a message and reads; its first step that others can see. `None` if it acknowledges at once.
pub(crate) fn start(protocol: &Protocol, world: &mut World, message: Message, choice: usize) -> Option<Step> {
    match message {
        Message::Create => splitter::next(protocol, world, &Step::Look),
        Message::Chunk(group, chunk) => worker::start(protocol, world, (group, chunk), choice),
        Message::Complete => completion::next(protocol, world, &Step::Read),
    }
}

/// Does the next step of the run at place `i`; it ends by acknowledging its message.
pub(crate) fn advance(protocol: &Protocol, world: &mut World, i: usize, choice: usize) {
    let run = world.runs.remove(i);
    let step = match run.message {
        Message::Create => splitter::next(protocol, world, &run.step),
        Message::Chunk(group, chunk) => worker::next(protocol, world, (group, chunk), &run.step, choice),
        Message::Complete => completion::next(protocol, world, &run.step),
    };
    world.runs.extend(step.map(|step| Run { message: run.message, step }));
}

/// The write takes, its reply does not arrive, and the client calls again: the run stays where it was.
pub(crate) fn lose_reply(protocol: &Protocol, world: &mut World, i: usize) {
    let run = world.runs[i].clone();
    let others = world.runs.len() - 1;
    advance(protocol, world, i, 0);
    world.runs.truncate(others);
    world.runs.push(run);
    world.left.lost_replies -= 1;
}

/// The run dies; its message comes again, or is lost for good.
pub(crate) fn crash(protocol: &Protocol, world: &mut World, i: usize, lost: bool) {
    let run = world.runs.remove(i);
    if lost {
        world.left.losses -= 1;
        world.record.losses += 1;
        return;
    }
    world.left.crashes -= 1;
    let acknowledged = match protocol.flaw {
        Flaw::UnsealedSplit => run.step == Step::Advance { groups: protocol.file.len() as u32 },
        Flaw::RoundUnsent => run.step == Step::OpenRound,
        _ => false,
    };
    if !acknowledged {
        world.send(run.message);
    }
}
