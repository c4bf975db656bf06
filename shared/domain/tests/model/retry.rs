//! A retry, by the client or by the replay of a dead letter: the next generation over the remaining items.
//!
//! A dead letter that is replayed while the job runs is sent again. After the end it opens a generation in which the
//! failed items of its chunk run, and all others stay failed.

use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Reopen, Transition};
use longshore_domain::time_stamp::Timestamp;

use crate::completion::build;
use crate::protocol::Protocol;
use crate::step::{Message, View};
use crate::world::{ItemEnd, World};

/// Returns true if the client may retry the job.
pub(crate) fn may_retry(world: &World) -> bool {
    world.left.retries > 0 && world.job.has_remaining()
}

/// Returns true if the replay of this dead letter would have an effect: the job runs, or items of its chunk have
/// failed.
pub(crate) fn may_replay(world: &World, dead_letter: Message) -> bool {
    let repairs = match dead_letter {
        Message::Chunk(group, chunk) => world.job.owns(group) && has_failed(world, (group, chunk)),
        Message::Create(generation) => generation == world.job.generation,
        Message::Complete(_) => false,
    };
    world.left.replays > 0 && (!world.job.status.is_final() || (repairs && world.job.has_remaining()))
}

/// Opens the next generation. `sent` if the API then lived to send its message.
pub(crate) fn retry(protocol: &Protocol, world: &mut World, sent: bool) {
    world.left.retries -= 1;
    if !sent {
        world.left.losses -= 1;
        world.record.losses += 1;
    }
    reopen(protocol, world, None, sent);
}

/// Takes the dead letter out of the dead-letter queue, and replays it.
pub(crate) fn replay(protocol: &Protocol, world: &mut World, dead_letter: Message) {
    world.left.replays -= 1;
    world.dead.remove(&dead_letter);
    match dead_letter {
        dead_letter if !world.job.status.is_final() => world.send(dead_letter),
        Message::Chunk(group, chunk) => reopen(protocol, world, Some((group, chunk)), true),
        Message::Create(_) | Message::Complete(_) => reopen(protocol, world, None, true),
    }
}

fn reopen(protocol: &Protocol, world: &mut World, selected_chunks: Option<(u32, u32)>, sent: bool) {
    let left_failed = selected_chunks.map_or(0, |selected_chunks| failed_beside(protocol, world, selected_chunks));
    let (generation, deadline_at) = (world.job.generation, Timestamp(i64::MAX));
    let at = Timestamp(i64::from(generation + 1) * 2);
    let selected_chunks = selected_chunks.map(|(group, chunk)| [ChunkId { group, chunk }].into());
    if world.job.reopen(&Reopen { generation, at, deadline_at, corrected: None, selected_chunks })
        == Transition::Refused
    {
        return;
    }
    world.record.left_failed = left_failed;
    world.record.finishes = 0;
    world.record.sealed = None;
    world.record.history = Some(world.history());
    if sent {
        protocol.send_fifo(world, Message::Create(generation + 1), world.job.split.groups);
    }
}

fn has_failed(world: &World, (group, chunk): (u32, u32)) -> bool {
    let items = &world.manifests[group as usize][chunk as usize];
    world.report().is_some_and(|(report, _)| items.iter().any(|item| report[*item as usize].contains(&ItemEnd::Failed)))
}

/// Returns the failed items of other chunks, as bits.
fn failed_beside(protocol: &Protocol, world: &World, (group, chunk): (u32, u32)) -> u64 {
    let own = &world.manifests[group as usize][chunk as usize];
    let report = build(protocol, world, &View::new(&world.job));
    let failed = (0..).zip(&report).filter(|(item, places)| places.contains(&ItemEnd::Failed) && !own.contains(item));
    failed.fold(0, |bits, (item, _)| bits | 1 << item)
}
