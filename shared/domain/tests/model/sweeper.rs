//! The sweeper: whatever the ledger says is unfinished while nothing is in flight is sent again.
//!
//! It needs nothing but the ledger and the queues. Its death between two sends needs no step of its own: the next
//! sweep finds what is left. A send before the queue is idle is the duplicate that every message may have.

use longshore_domain::job::Stage;

use crate::protocol::Protocol;
use crate::world::{Message, World};

/// One pass over the job.
pub(crate) fn sweep(protocol: &Protocol, world: &mut World) {
    world.record.sweeps += 1;
    match world.job.stage {
        Stage::Queued => world.send(Message::Create),
        Stage::Stopping => complete(world),
        Stage::Splitting => {
            world.send(Message::Create);
            chunks(protocol, world);
        }
        _ => chunks(protocol, world),
    }
}

/// Rolls up full groups, sends the unfinished chunks of the others, and the complete message if all is done.
fn chunks(protocol: &Protocol, world: &mut World) {
    for g in 0..world.groups.len() {
        if world.groups[g].is_done() {
            world.job.group_done(g as u32, world.now());
            continue;
        }
        for c in 0..protocol.file[g].len() as u32 {
            if !world.groups[g].cursors.get(&c).is_some_and(|cursor| cursor.finished) {
                world.send(Message::Chunk(g as u32, c));
            }
        }
    }
    if protocol.all_done(&world.job) {
        complete(world);
    }
}

/// A re-send has a deduplication id of its own, so it is never swallowed.
fn complete(world: &mut World) {
    world.job.resends += 1;
    world.send(Message::Complete);
}
