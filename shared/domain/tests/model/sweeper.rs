//! The sweeper: sends again whatever the ledger shows as unfinished while nothing is in flight, and gives up the work
//! of dead letters.
//!
//! It needs only the ledger and the queues. A crash between two of its sends is not modelled: the next sweep sends the
//! rest. A send before the queue is idle is not modelled either: it is a duplicate, which every message can have. A
//! dead letter is read and never deleted.

use longshore_domain::ids::ChunkId;
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

/// Rolls up done groups, sends the unfinished chunks of the others, and the complete message if all is done.
fn chunks(protocol: &Protocol, world: &mut World) {
    for group in world.job.retry.carried_over.groups..world.groups.len() as u32 {
        if world.groups[group as usize].is_done() {
            world.job.group_done(group, world.now());
            continue;
        }
        for chunk in 0..world.manifests[group as usize].len() as u32 {
            let id = ChunkId { group, chunk };
            if !world.cursor(id).is_some_and(|cursor| cursor.finished) {
                world.send(Message::Chunk(id));
            }
        }
    }
    if protocol.all_done(&world.job) {
        complete(world);
    }
}

/// Sends the complete message. Each send has its own deduplication id, so it is never dropped.
fn complete(world: &mut World) {
    world.job.resends += 1;
    world.send(Message::Complete(world.job.generation));
}

/// Returns true if giving up this dead letter's work would change something, and no sweep is doing so now.
pub(crate) fn may_give_up(protocol: &Protocol, world: &World, dead_letter: Message) -> bool {
    let is_running = world.runs.iter().any(|run| run.gives_up && run.message == dead_letter);
    let changes = match dead_letter {
        Message::Create(generation) => {
            world.job.is_live() && world.job.generation == generation && !world.job.split.ended
        }
        Message::Chunk(ChunkId { group, chunk }) => worker::workable(world, group).is_some_and(|stored| {
            let finished = stored.cursors.get(&chunk).is_some_and(|c| c.finished);
            !finished || (stored.is_done() && !world.job.split.done_groups.contains(&group))
        }),
        Message::Complete(_) => false,
    };
    protocol.sweeper && !is_running && changes
}

/// Gives up the work of a dead letter. The items of a chunk fail, by the steps of a worker; the job of a splitter
/// fails.
pub(crate) fn give_up(protocol: &Protocol, world: &mut World, dead_letter: Message) {
    match dead_letter {
        Message::Chunk(chunk) => {
            let step = worker::start(protocol, world, chunk, Mode::GiveUp);
            world.runs.extend(step.map(|step| Run { message: dead_letter, step, gives_up: true }));
        }
        Message::Create(generation) => {
            world.job.stop(generation, &Stop { status: Status::Failed, error: None, at: world.now() });
            protocol.send_fifo(world, Message::Complete(generation), 0);
        }
        Message::Complete(_) => {}
    }
}
