//! What a generation has left, filed again chunk by chunk into groups of the next.
//!
//! Each chunk that has left something makes a group of its own: a chunk of the items that nobody passed, and a chunk that
//! is a work file of the others, whose cursor stands at the beginning of round 1.

use longshore_domain::cursor::Cursor;
use longshore_domain::group::{ChunkPlan, Filed, GroupPlan, Manifest, Source};
use longshore_domain::job::{Job, Place};

use crate::flaw::Flaw;
use crate::protocol::{ITEM_BYTES, Protocol};
use crate::report::{chain, items_of_round};
use crate::splitter::chunk_plan;
use crate::world::{File, Mark, World};

/// The items of a chunk that neither succeeded nor were skipped.
#[derive(Default)]
struct Rest {
    /// Those that no worker has passed, by their range.
    unread: Vec<u8>,
    /// Those that failed, or waited for another round.
    entries: Vec<(u8, Mark)>,
}

/// The next chunk of an older generation that has left something which this one has not filed yet.
pub(crate) fn next(world: &World, job: &Job) -> Option<Place> {
    let chunks =
        |group: u32| (0..world.manifests[group as usize].len() as u32).map(move |chunk| Place { group, chunk });
    let mut places = (job.refiled.group..job.base.groups).flat_map(chunks).filter(|place| *place >= job.refiled);
    places.find(|place| {
        let rest = rest(world, *place);
        !rest.unread.is_empty() || !rest.entries.is_empty()
    })
}

/// The group for what this chunk has left, and the items of its chunks. Its work file is written before it is committed.
pub(crate) fn plan(
    protocol: &Protocol,
    world: &mut World,
    (generation, group): (u32, u32),
    (from, place): (Place, Place),
) -> (GroupPlan, Vec<Vec<u8>>) {
    let Rest { unread, mut entries } = rest(world, place);
    if protocol.flaw == Flaw::RefilesAll {
        entries.extend(succeeded(world, place).into_iter().map(|item| (item, Mark::Ok)));
    }
    let again =
        protocol.flaw == Flaw::ReplayRunsAll || world.job.only.as_ref().is_none_or(|only| only.contains(&place));
    for (_, mark) in &mut entries {
        *mark = if *mark == Mark::Failed && !again { Mark::Failed } else { Mark::Transient };
    }
    let (mut items, mut filed) = (Vec::new(), Vec::new());
    items.extend(Some(unread).filter(|unread| !unread.is_empty()));
    let mut chunks: Vec<_> = items.iter().map(|items| chunk_plan(items)).collect();
    if !entries.is_empty() {
        let chunk = chunks.len() as u32;
        items.push(entries.iter().map(|(item, _)| *item).collect());
        let first = u64::from(entries[0].0) + 1;
        chunks.push(ChunkPlan { first, items: entries.len() as u32, start: 0, end: 0, oversize: false });
        filed.push((chunk, file(world, (group, chunk), entries)));
    }
    let upto = Place { group: place.group, chunk: place.chunk + 1 };
    let (manifest, filed) = (Manifest { group, chunks }, filed.into_iter().collect());
    (GroupPlan { generation, manifest, filed, source: Source::Refiled { from, upto } }, items)
}

fn file(world: &mut World, chunk: (u32, u32), entries: Vec<(u8, Mark)>) -> Filed {
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
        filed: 0,
        due: None,
        finished,
        by_sweeper: false,
    };
    Filed { cursor, failed: failed as u64, bytes }
}

fn rest(world: &World, place: Place) -> Rest {
    let own = &world.manifests[place.group as usize][place.chunk as usize];
    let Some(cursor) = world.groups[place.group as usize].cursors.get(&place.chunk) else {
        return Rest { unread: own.clone(), ..Rest::default() };
    };
    let (chain, mut rest) = (chain(world, Some(cursor)), Rest::default());
    let filed_in = |round| chain.iter().filter(move |f| f.round == round).flat_map(|f| f.entries.iter().copied());
    let mut waiting = Vec::new();
    if !cursor.finished {
        let open = items_of_round(&chain, own, cursor.round).into_iter().skip(cursor.position as usize);
        if cursor.round == 0 {
            rest.unread.extend(open)
        } else {
            waiting.extend(open)
        }
        let transient = filed_in(cursor.round).filter(|(_, mark)| *mark == Mark::Transient);
        waiting.extend(transient.map(|(item, _)| item));
    }
    rest.entries.extend(waiting.into_iter().map(|item| (item, Mark::Transient)));
    let failed = chain.iter().flat_map(|f| f.entries.iter().copied()).filter(|(_, mark)| *mark == Mark::Failed);
    rest.entries.extend(failed);
    rest.entries.sort_unstable();
    rest
}

/// The items of a finished chunk that are in none of its files: only a broken retry takes them.
fn succeeded(world: &World, place: Place) -> Vec<u8> {
    let cursor = world.groups[place.group as usize].cursors.get(&place.chunk);
    let files = chain(world, cursor.filter(|cursor| cursor.finished));
    let filed = |item: &u8| files.iter().flat_map(|f| &f.entries).any(|(filed, _)| filed == item);
    let own = &world.manifests[place.group as usize][place.chunk as usize];
    own.iter().copied().filter(|item| cursor.is_some_and(|c| c.finished) && !filed(item)).collect()
}
