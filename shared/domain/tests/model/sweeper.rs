//! The sweeper: sends again whatever the ledger shows as unfinished while nothing is in flight, and gives up the work
//! of dead letters.
//!
//! It needs only the ledger and the queues. A crash between two of its sends is not modelled: the next sweep sends the
//! rest. A send before the queue is idle is not modelled either: it is a duplicate, which every message can have. A
//! dead letter is read and never deleted.
//!
//! Pushes are counted only where pauses are possible. A push is counted after its send, and its message can be received
//! in between.

use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Stage, Status, Stop};

use crate::protocol::{Flaw, Protocol};
use crate::step::{Message, Mode, Run};
use crate::worker;
use crate::world::World;

/// Pushes without effect before work is given up. The first one can be counted after the worker that holds its message
/// has read the count, so one push alone does not show that a message is lost.
const PUSHES: u32 = 2;

/// A push that is not counted yet, with the count that the sweeper has read.
#[derive(Clone, Copy, Eq, PartialEq, Hash, Debug)]
pub(crate) enum Push {
    /// The create message of this generation.
    Create { generation: u32, seen: u32 },
    /// The unfinished chunks of this group.
    Chunks { group: u32, seen: u32 },
}

/// Returns true if a sweep would change something.
pub(crate) fn may_sweep(protocol: &Protocol, world: &World) -> bool {
    let is_stalled = world.is_idle() && world.uncounted.is_empty() && !world.pauses.has_old_views;
    let is_unmarked =
        |number: u32| world.groups[number as usize].is_done() && !world.job.split.done_groups.contains(&number);
    let needs_no_worker =
        || world.job.stage == Stage::Stopping || protocol.all_done(&world.job) || own_groups(world).any(is_unmarked);
    let is_needed = !is_paused(protocol, world) || needs_no_worker();
    protocol.sweeper && is_stalled && !world.job.status.is_final() && is_needed
}

/// Returns true if the sweeper sees that the job is paused.
fn is_paused(protocol: &Protocol, world: &World) -> bool {
    world.pauses.in_force && protocol.flaw != Flaw::PauseIgnoredBySweeper
}

fn own_groups(world: &World) -> std::ops::Range<u32> {
    world.job.retry.carried_over.groups..world.groups.len() as u32
}

/// One pass over the job.
pub(crate) fn sweep(protocol: &Protocol, world: &mut World) {
    world.record.sweeps += 1;
    match world.job.stage {
        Stage::Queued => push_create(protocol, world),
        Stage::Stopping => complete(world),
        Stage::Splitting if protocol.counts_pushes() && world.job.resends >= PUSHES && !is_paused(protocol, world) => {
            world.record.gave_up = true;
            give_up(protocol, world, Message::Create(world.job.generation));
        }
        Stage::Splitting => {
            push_create(protocol, world);
            chunks(protocol, world);
        }
        _ => chunks(protocol, world),
    }
}

fn push_create(protocol: &Protocol, world: &mut World) {
    if is_paused(protocol, world) {
        return;
    }
    let (generation, seen) = (world.job.generation, world.job.resends);
    world.send(Message::Create(generation));
    world.uncounted.extend(protocol.counts_pushes().then_some(Push::Create { generation, seen }));
}

/// Counts the first push that is not counted yet, unless the count has changed since it was read.
pub(crate) fn count_push(world: &mut World) {
    match world.uncounted.remove(0) {
        Push::Create { generation, seen } => {
            let job = &mut world.job;
            let is_current = (job.generation, job.resends) == (generation, seen) && !job.status.is_final();
            job.resends += u32::from(is_current);
        }
        Push::Chunks { group, seen } => {
            let group = &mut world.groups[group as usize];
            group.resends += u32::from(group.resends == seen);
        }
    }
}

/// Rolls up done groups, sends the unfinished chunks of the others, and the complete message if all is done.
fn chunks(protocol: &Protocol, world: &mut World) {
    for group in own_groups(world) {
        if world.groups[group as usize].is_done() {
            world.job.group_done(group, world.now());
        } else if !is_paused(protocol, world) {
            push_group(protocol, world, group);
        }
    }
    if protocol.all_done(&world.job) {
        complete(world);
    }
}

/// Sends the unfinished chunks of a group, or gives them up after too many pushes.
fn push_group(protocol: &Protocol, world: &mut World, group: u32) {
    let seen = world.groups[group as usize].resends;
    let is_given_up = protocol.counts_pushes() && seen >= PUSHES;
    for chunk in 0..world.manifests[group as usize].len() as u32 {
        let id = ChunkId { group, chunk };
        if world.cursor(id).is_some_and(|cursor| cursor.finished) {
            continue;
        }
        if is_given_up {
            give_up(protocol, world, Message::Chunk(id));
        } else {
            world.send(Message::Chunk(id));
        }
    }
    world.record.gave_up |= is_given_up;
    let is_counted = protocol.counts_pushes() && !is_given_up;
    world.uncounted.extend(is_counted.then_some(Push::Chunks { group, seen }));
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

/// Gives up the work of a dead letter, or of a message that was pushed too often. The items of a chunk fail, by the steps of a worker; the job of a splitter
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
