//! Replanning: the remaining items of a generation, planned chunk by chunk into groups of the next.
//!
//! Each chunk with remaining items makes a group of its own: a chunk of the items that no worker passed, and a chunk
//! that is a work file of the others, whose cursor is at the beginning of round 1.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest, Replanned, Source};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;

use crate::flaw::Flaw;
use crate::item::{File, Mark};
use crate::protocol::{ITEM_BYTES, Protocol, chunk_plan};
use crate::report::{chain, items_of_round};
use crate::world::World;

/// The remaining items of a chunk: neither succeeded nor skipped.
#[derive(Default)]
struct Remaining {
    /// Items that no worker has passed, by their range.
    unread: Vec<u8>,
    /// Items that failed or were deferred.
    entries: Vec<(u8, Mark)>,
}

/// Returns the next chunk of an older generation whose remaining items are not replanned yet.
pub(crate) fn next(world: &World, job: &Job) -> Option<ChunkId> {
    let chunks =
        |group: u32| (0..world.manifests[group as usize].len() as u32).map(move |chunk| ChunkId { group, chunk });
    let mut places = (job.retry.replanned.group..job.retry.carried_over.groups)
        .flat_map(chunks)
        .filter(|place| *place >= job.retry.replanned);
    places.find(|place| {
        let remaining = remaining(world, *place);
        !remaining.unread.is_empty() || !remaining.entries.is_empty()
    })
}

/// Plans the group for this chunk's remaining items, and the items of its chunks. Its work file is written before the
/// commit.
pub(crate) fn plan(
    protocol: &Protocol,
    world: &mut World,
    (generation, group): (u32, u32),
    (from, place): (ChunkId, ChunkId),
) -> (GroupPlan, Vec<Vec<u8>>) {
    let Remaining { unread, mut entries } = remaining(world, place);
    if protocol.flaw == Flaw::ReplansAll {
        entries.extend(succeeded(world, place).into_iter().map(|item| (item, Mark::Ok)));
    }
    let again = protocol.flaw == Flaw::ReplayRunsAll
        || world.job.retry.selected_chunks.as_ref().is_none_or(|selected_chunks| selected_chunks.contains(&place));
    for (_, mark) in &mut entries {
        *mark = if *mark == Mark::Failed && !again { Mark::Failed } else { Mark::Transient };
    }
    let (mut items, mut replanned) = (Vec::new(), Vec::new());
    items.extend(Some(unread).filter(|unread| !unread.is_empty()));
    let mut chunks: Vec<_> = items.iter().map(|items| chunk_plan(items)).collect();
    if !entries.is_empty() {
        let chunk = chunks.len() as u32;
        items.push(entries.iter().map(|(item, _)| *item).collect());
        let first = u64::from(entries[0].0) + 1;
        chunks.push(ChunkPlan { first, items: entries.len() as u32, start: 0, end: 0, oversize: false });
        replanned.push((chunk, file(world, (group, chunk), entries)));
    }
    let upto = ChunkId { group: place.group, chunk: place.chunk + 1 };
    let (manifest, replanned) = (Manifest { group, chunks }, replanned.into_iter().collect());
    (GroupPlan { generation, manifest, replanned, source: Source::Replanned { from, upto } }, items)
}

fn file(world: &mut World, chunk: (u32, u32), entries: Vec<(u8, Mark)>) -> Replanned {
    let failed = entries.iter().filter(|(_, mark)| *mark == Mark::Failed).count();
    let (finished, bytes) = (failed == entries.len(), entries.len() as u64 * ITEM_BYTES);
    let token = world.free_token();
    world.files.insert(token.clone(), File { chunk, round: 0, prev: None, entries });
    let file = Some(token.clone());
    let cursor = Cursor {
        round: u32::from(!finished),
        position: 0,
        token,
        file,
        deferred: 0,
        due: None,
        finished,
        by_sweeper: false,
    };
    Replanned { cursor, failed: failed as u64, bytes }
}

fn remaining(world: &World, place: ChunkId) -> Remaining {
    let own = &world.manifests[place.group as usize][place.chunk as usize];
    let Some(cursor) = world.groups[place.group as usize].cursors.get(&place.chunk) else {
        return Remaining { unread: own.clone(), ..Remaining::default() };
    };
    let (chain, mut remaining) = (chain(world, Some(cursor)), Remaining::default());
    let deferred_in = |round| chain.iter().filter(move |f| f.round == round).flat_map(|f| f.entries.iter().copied());
    let mut waiting = Vec::new();
    if !cursor.finished {
        let open = items_of_round(&chain, own, cursor.round).into_iter().skip(cursor.position as usize);
        if cursor.round == 0 {
            remaining.unread.extend(open)
        } else {
            waiting.extend(open)
        }
        let transient = deferred_in(cursor.round).filter(|(_, mark)| *mark == Mark::Transient);
        waiting.extend(transient.map(|(item, _)| item));
    }
    remaining.entries.extend(waiting.into_iter().map(|item| (item, Mark::Transient)));
    let failed = chain.iter().flat_map(|f| f.entries.iter().copied()).filter(|(_, mark)| *mark == Mark::Failed);
    remaining.entries.extend(failed);
    remaining.entries.sort_unstable();
    remaining
}

/// Returns the items of a finished chunk that are in none of its files: only a flawed retry replans them.
fn succeeded(world: &World, place: ChunkId) -> Vec<u8> {
    let cursor = world.groups[place.group as usize].cursors.get(&place.chunk);
    let files = chain(world, cursor.filter(|cursor| cursor.finished));
    let replanned = |item: &u8| files.iter().flat_map(|f| &f.entries).any(|(replanned, _)| replanned == item);
    let own = &world.manifests[place.group as usize][place.chunk as usize];
    own.iter().copied().filter(|item| cursor.is_some_and(|c| c.finished) && !replanned(item)).collect()
}
