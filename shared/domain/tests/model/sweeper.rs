//! The sweeper: sends again whatever the ledger shows as unfinished while nothing is in flight, and gives up the work
//! of dead letters.
//!
//! It needs only the ledger and the queues. Its death between two sends needs no step of its own: the next sweep finds
//! the remaining work. A send before the queue is idle is the duplicate that every message may have. A dead letter is
//! read and never deleted.

use longshore_domain::job::{Stage, Status, Stop};

use crate::protocol::Protocol;
use crate::step::{Message, Mode, Run};
use crate::worker;
use crate::world::World;

/// One pass over the job.
pub(crate) fn sweep(protocol: &Protocol, world: &mut World) {
    world.record.sweeps += 1;
    match world.job.stage {
        Stage::Queued => world.send(Message::Create(world.job.generation)),
        Stage::Stopping => complete(world),
        Stage::Splitting => {
            world.send(Message::Create(world.job.generation));
            chunks(protocol, world);
        }
        _ => chunks(protocol, world),
    }
}

/// Rolls up full groups, sends the unfinished chunks of the others, and the complete message if all is done.
fn chunks(protocol: &Protocol, world: &mut World) {
    for g in world.job.retry.carried_over.groups as usize..world.groups.len() {
        if world.groups[g].is_done() {
            world.job.group_done(g as u32, world.now());
            continue;
        }
        for c in 0..world.manifests[g].len() as u32 {
            if !world.groups[g].cursors.get(&c).is_some_and(|cursor| cursor.finished) {
                world.send(Message::Chunk(g as u32, c));
            }
        }
    }
    if protocol.all_done(&world.job) {
        complete(world);
    }
}

/// Sends the complete message. A re-send has its own deduplication id, so it is never dropped.
fn complete(world: &mut World) {
    world.job.resends += 1;
    world.send(Message::Complete(world.job.generation));
}

/// Returns true if giving up this dead letter's work would change something, and no sweep is doing so.
pub(crate) fn may_give_up(protocol: &Protocol, world: &World, dead_letter: Message) -> bool {
    let at_it = world.runs.iter().any(|run| run.gives_up && run.message == dead_letter);
    let changes = match dead_letter {
        Message::Create(generation) => {
            world.job.is_live() && world.job.generation == generation && !world.job.split.ended
        }
        Message::Chunk(group, chunk) => worker::workable(world, group).is_some_and(|stored| {
            let finished = stored.cursors.get(&chunk).is_some_and(|c| c.finished);
            !finished || (stored.is_done() && !world.job.split.done_groups.contains(&group))
        }),
        Message::Complete(_) => false,
    };
    protocol.sweeper && !at_it && changes
}

/// Gives up the work of a dead letter: a chunk's items fail by the steps of a worker; a splitter's job fails.
pub(crate) fn give_up(protocol: &Protocol, world: &mut World, dead_letter: Message) {
    match dead_letter {
        Message::Chunk(group, chunk) => {
            let step = worker::start(protocol, world, (group, chunk), Mode::GiveUp);
            world.runs.extend(step.map(|step| Run { message: dead_letter, step, gives_up: true }));
        }
        Message::Create(generation) => {
            world.job.stop(generation, &Stop { status: Status::Failed, error: None, at: world.now() });
            protocol.send_fifo(world, Message::Complete(generation), 0);
        }
        Message::Complete(_) => {}
    }
}
