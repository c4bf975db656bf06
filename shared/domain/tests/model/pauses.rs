//! Pauses: an operator pauses the job and resumes it, and functions acknowledge their messages meanwhile.
//!
//! A worker uses the pauses that its process has read up to two seconds ago. So after a pause or a resume, each function
//! may see the pauses as they were before, until every such view has expired. The sweeper sends a chunk again only after
//! a stall time, which is longer: it waits for that here.
//!
//! A pause ends by itself, so a resume is always possible.

use longshore_domain::ids::ChunkId;

use crate::protocol::{Flaw, Protocol};
use crate::step::{Message, Run, Step};
use crate::worker;
use crate::world::World;

/// The pauses, as functions see them.
#[derive(Clone, Eq, PartialEq, Hash, Debug, Default)]
pub(crate) struct Pauses {
    /// True while the job is paused.
    pub(crate) in_force: bool,
    /// True while a function may see the pauses as they were before the last change.
    pub(crate) has_old_views: bool,
}

/// What a function may do before it passes items to a handler, by what it may see of the pauses.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ways {
    pub(crate) can_begin: bool,
    pub(crate) can_end_paused: bool,
}

/// Returns true if the job may be paused.
pub(crate) fn may_pause(world: &World) -> bool {
    world.left.pauses > 0 && !world.pauses.in_force && world.job.is_live()
}

/// Pauses the job.
pub(crate) fn pause(world: &mut World) {
    world.left.pauses -= 1;
    world.pauses = Pauses { in_force: true, has_old_views: true };
}

/// Ends the pause.
pub(crate) fn resume(world: &mut World) {
    world.pauses = Pauses { in_force: false, has_old_views: true };
}

/// Returns the ways of a function that receives this message. Only one with work to begin looks at the pauses.
pub(crate) fn ways_to_start(protocol: &Protocol, world: &World, message: Message) -> Ways {
    let job = &world.job;
    match message {
        Message::Create(generation) if job.is_live() && job.generation == generation && !job.split.ended => {
            ways(&world.pauses)
        }
        Message::Chunk(chunk) if has_items(world, chunk) => ways_of_worker(protocol, world),
        _ => Ways { can_begin: true, can_end_paused: false },
    }
}

/// Returns the ways of a worker between two of its runs of items.
pub(crate) fn ways_of_worker(protocol: &Protocol, world: &World) -> Ways {
    match protocol.flaw {
        Flaw::PauseIgnoredByWorker => Ways { can_begin: true, can_end_paused: false },
        _ => ways(&world.pauses),
    }
}

fn ways(pauses: &Pauses) -> Ways {
    Ways {
        can_begin: !pauses.in_force || pauses.has_old_views,
        can_end_paused: pauses.in_force || pauses.has_old_views,
    }
}

fn has_items(world: &World, ChunkId { group, chunk }: ChunkId) -> bool {
    let is_finished = |chunk| world.groups[group as usize].cursors.get(&chunk).is_some_and(|cursor| cursor.finished);
    worker::workable(world, group).is_some() && !is_finished(chunk)
}

/// Records that a worker passes items to a handler, if every function sees the pause.
pub(crate) fn note_items(world: &mut World, message: Message) {
    let Message::Chunk(chunk) = message else { return };
    let Pauses { in_force, has_old_views } = world.pauses;
    world.record.started_while_paused |= in_force && !has_old_views && has_items(world, chunk);
}

/// Acknowledges a message: the function sees the pause. It first resets the count of pushes, if it has seen that there
/// were any.
pub(crate) fn end_paused(protocol: &Protocol, world: &mut World, message: Message) {
    let (seen, is_reset) = match message {
        Message::Chunk(chunk) => (world.groups[chunk.group as usize].resends, protocol.flaw != Flaw::HeldChunkCounts),
        Message::Create(_) | Message::Complete(_) => (world.job.resends, protocol.flaw != Flaw::HeldSplitCounts),
    };
    if seen > 0 && is_reset {
        world.runs.push(Run { message, step: Step::Paused { seen }, gives_up: false });
    }
}

/// Resets the count of pushes after a message arrived during a pause. A push that was counted after the read is reset
/// too, because its message may be the one that arrived.
pub(crate) fn reset(protocol: &Protocol, world: &mut World, message: Message, seen: u32) {
    let is_accepted = |stored: u32| protocol.flaw != Flaw::ResetOnlyIfUnchanged || stored == seen;
    match message {
        Message::Chunk(chunk) => {
            let group = &mut world.groups[chunk.group as usize];
            if is_accepted(group.resends) {
                group.reset_resends();
            }
        }
        Message::Create(generation) if is_accepted(world.job.resends) => world.job.reset_split_resends(generation),
        Message::Create(_) | Message::Complete(_) => {}
    }
}
