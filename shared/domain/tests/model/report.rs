//! The report as completion builds it, and the expected results for the counts.
//!
//! Both are derived from a chunk's chain of work files, followed back from its cursor. Each rule places items
//! independently of the others, so that a lost or duplicated item is detected.

use longshore_domain::cursor::Cursor;
use longshore_domain::outcome::Counts;

use crate::item::{File, ItemEnd, Mark, Report};
use crate::world::World;

/// Returns the items of a round, in order: those of the chunk, or those that the previous round deferred.
pub(crate) fn items_of_round(chain: &[&File], own: &[u8], round: u32) -> Vec<u8> {
    let Some(previous) = round.checked_sub(1) else { return own.to_vec() };
    entries(chain, previous).filter(|(_, mark)| *mark == Mark::Transient).map(|(item, _)| item).collect()
}

/// Returns the files of the cursor's chain, first to last.
pub(crate) fn chain<'a>(world: &'a World, cursor: Option<&Cursor>) -> Vec<&'a File> {
    let mut files = Vec::new();
    let mut next = cursor.and_then(|c| c.file.clone());
    while let Some(file) = next.and_then(|token| world.files.get(&token)) {
        files.push(file);
        next = file.prev.clone();
    }
    files.reverse();
    files
}

/// Returns the outputs that the cursors reach, of all groups of all generations.
pub(crate) fn results(world: &World) -> Vec<(u8, &String)> {
    let cursors = world.groups.iter().flat_map(|group| group.cursors.values());
    let files = cursors.flat_map(|cursor| chain(world, Some(cursor)));
    files.flat_map(|file| file.outputs.iter().map(|(item, token)| (*item, token))).collect()
}

/// Places the items of one chunk by the cursor and its files.
pub(crate) fn place(report: &mut Report, own: &[u8], cursor: Option<&Cursor>, files: &[&File]) {
    let Some(cursor) = cursor else { return own.iter().for_each(|i| put(report, *i, ItemEnd::Unprocessed)) };
    for round in 0..=cursor.round {
        let items = items_of_round(files, own, round);
        let passed = if has_ended(cursor, round) { items.len() } else { cursor.position as usize };
        for item in &items[passed.min(items.len())..] {
            put(report, *item, ItemEnd::Unprocessed);
        }
        for item in &items[..passed.min(items.len())] {
            place_passed(report, *item, cursor, files, round);
        }
    }
}

fn has_ended(cursor: &Cursor, round: u32) -> bool {
    round < cursor.round || cursor.finished
}

fn place_passed(report: &mut Report, item: u8, cursor: &Cursor, files: &[&File], round: u32) {
    let mut has_entry = false;
    for (_, mark) in entries(files, round).filter(|(i, _)| *i == item) {
        has_entry = true;
        match mark {
            Mark::Failed => put(report, item, ItemEnd::Failed),
            Mark::Skipped => put(report, item, ItemEnd::Skipped),
            Mark::Transient if !has_ended(cursor, round) => put(report, item, ItemEnd::Unprocessed),
            Mark::Transient | Mark::Ok => {}
        }
    }
    if !has_entry {
        put(report, item, ItemEnd::Succeeded);
    }
}

/// Returns the counts if each item is in exactly one place; `None` if an item is missing or duplicated.
pub(crate) fn counts(report: &[Vec<ItemEnd>]) -> Option<Counts> {
    let mut counts = Counts::default();
    for places in report {
        match places.as_slice() {
            [ItemEnd::Succeeded] => counts.succeeded += 1,
            [ItemEnd::Failed] => counts.failed += 1,
            [ItemEnd::Skipped] => counts.skipped += 1,
            [ItemEnd::Unprocessed] => {}
            _ => return None,
        }
    }
    Some(counts)
}

fn entries<'a>(files: &'a [&File], round: u32) -> impl Iterator<Item = (u8, Mark)> + 'a {
    files.iter().filter(move |f| f.round == round).flat_map(|f| f.entries.iter().copied())
}

fn put(report: &mut Report, item: u8, place: ItemEnd) {
    report[item as usize].push(place);
}
