//! Replanning: the remaining items of a generation, planned chunk by chunk into groups of the next.
//!
//! Each chunk with remaining items becomes a group of its own with up to two chunks: the range of the items that no
//! worker has processed, and a work file of the others, with a cursor at the beginning of round 1.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, GroupPlan, Manifest, Replanned, SplitStep};
use longshore_domain::ids::ChunkId;
use longshore_domain::job::Job;

use crate::flaw::Flaw;
use crate::item::{File, Mark};
use crate::protocol::{ITEM_BYTES, Protocol, chunk_plan};
use crate::report::{chain, items_of_round};
use crate::step::Replan;
use crate::world::World;

/// A group to commit: its number, and the generation that commits it.
#[derive(Clone, Copy)]
pub(crate) struct NewGroup {
    pub(crate) generation: u32,
    pub(crate) number: u32,
}

/// The remaining items of a chunk: neither succeeded nor skipped.
#[derive(Default)]
struct Remaining {
    /// Items that no worker has processed.
    unread: Vec<u8>,
    /// Items that failed or were deferred.
    entries: Vec<(u8, Mark)>,
}

/// Returns the next chunk of an older generation whose remaining items are not replanned yet.
pub(crate) fn next(world: &World, job: &Job) -> Option<ChunkId> {
    let chunks =
        |group: u32| (0..world.manifests[group as usize].len() as u32).map(move |chunk| ChunkId { group, chunk });
    let mut candidates = (job.retry.replanned.group..job.retry.carried_over.groups)
        .flat_map(chunks)
        .filter(|chunk| *chunk >= job.retry.replanned);
    candidates.find(|chunk| {
        let remaining = remaining(world, *chunk);
        !remaining.unread.is_empty() || !remaining.entries.is_empty()
    })
}

/// Plans the group of a chunk's remaining items. Returns the plan, and the items of each of its chunks. The work file
/// is written before the commit.
pub(crate) fn plan(
    protocol: &Protocol,
    world: &mut World,
    NewGroup { generation, number: group }: NewGroup,
    Replan { from, chunk: source }: Replan,
) -> (GroupPlan, Vec<Vec<u8>>) {
    let Remaining { unread, mut entries } = remaining(world, source);
    if protocol.flaw == Flaw::ReplansAll {
        entries.extend(succeeded(world, source).into_iter().map(|item| (item, Mark::Ok)));
    }
    let is_selected = protocol.flaw == Flaw::ReplayRunsAll
        || world.job.retry.selected_chunks.as_ref().is_none_or(|selected| selected.contains(&source));
    for (_, mark) in &mut entries {
        *mark = if *mark == Mark::Failed && !is_selected { Mark::Failed } else { Mark::Transient };
    }
    let (mut items, mut replanned) = (Vec::new(), Vec::new());
    items.extend(Some(unread).filter(|unread| !unread.is_empty()));
    let mut chunks: Vec<_> = items.iter().map(|items| chunk_plan(items)).collect();
    if !entries.is_empty() {
        let chunk = chunks.len() as u32;
        items.push(entries.iter().map(|(item, _)| *item).collect());
        let first = u64::from(entries[0].0) + 1;
        chunks.push(ChunkPlan { first, items: entries.len() as u32, start: 0, end: 0, oversize: false });
        replanned.push((chunk, write_file(world, ChunkId { group, chunk }, entries)));
    }
    let upto = ChunkId { group: source.group, chunk: source.chunk + 1 };
    let (manifest, replanned) = (Manifest { group, chunks }, replanned.into_iter().collect());
    (GroupPlan { generation, manifest, replanned, step: SplitStep::Replanned { from, upto } }, items)
}

fn write_file(world: &mut World, chunk: ChunkId, entries: Vec<(u8, Mark)>) -> Replanned {
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

fn remaining(world: &World, chunk: ChunkId) -> Remaining {
    let own = world.items(chunk);
    let Some(cursor) = world.cursor(chunk) else {
        return Remaining { unread: own.to_vec(), ..Remaining::default() };
    };
    let (chain, mut remaining) = (chain(world, Some(cursor)), Remaining::default());
    let entries_of = |round| chain.iter().filter(move |f| f.round == round).flat_map(|f| f.entries.iter().copied());
    let mut deferred = Vec::new();
    if !cursor.finished {
        let open = items_of_round(&chain, own, cursor.round).into_iter().skip(cursor.position as usize);
        if cursor.round == 0 {
            remaining.unread.extend(open)
        } else {
            deferred.extend(open)
        }
        let transient = entries_of(cursor.round).filter(|(_, mark)| *mark == Mark::Transient);
        deferred.extend(transient.map(|(item, _)| item));
    }
    remaining.entries.extend(deferred.into_iter().map(|item| (item, Mark::Transient)));
    let failed = chain.iter().flat_map(|f| f.entries.iter().copied()).filter(|(_, mark)| *mark == Mark::Failed);
    remaining.entries.extend(failed);
    remaining.entries.sort_unstable();
    remaining
}

/// Returns the items of a finished chunk that are in none of its files: only a flawed retry replans them.
fn succeeded(world: &World, chunk: ChunkId) -> Vec<u8> {
    let cursor = world.cursor(chunk);
    let files = chain(world, cursor.filter(|cursor| cursor.finished));
    let is_in_a_file = |item: &u8| files.iter().flat_map(|f| &f.entries).any(|(entry, _)| entry == item);
    let own = world.items(chunk);
    own.iter().copied().filter(|item| cursor.is_some_and(|c| c.finished) && !is_in_a_file(item)).collect()
}
