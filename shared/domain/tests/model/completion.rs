//! Completion: closes open groups if the job is stopping, writes the report, and sets the final status once.
//!
//! It acts on the job that it has read, and on the groups that this job names. If the final write is refused, it reads
//! the job again: a stop may have come first. A message of an earlier generation has no effect.

use longshore_domain::cursor::Cursor;
use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Finish, Job, Stage, Status, Transition};

use crate::item::{File, ItemEnd, Report};
use crate::protocol::{Flaw, Protocol};
use crate::report::{chain, place};
use crate::step::{Step, View};
use crate::world::World;

/// Returns the next step; `None` if the message is acknowledged.
pub(crate) fn next(protocol: &Protocol, world: &mut World, generation: u32, step: &Step) -> Option<Step> {
    match *step {
        Step::Read => read(protocol, world, generation),
        Step::Close { group, view } => {
            close(world, group);
            close_from(group + 1, view).or_else(|| (!world.job.status.is_final()).then(|| stopped(world, view)))
        }
        Step::Report { status, view } => {
            world.reports.insert(report_name(protocol, status, view), (write(protocol, world, &view), status));
            Some(Step::Finish { totals: view.counts(&world.job, &world.groups), status, view })
        }
        Step::Finish { totals, status, view } => {
            let is_unchecked = protocol.flaw == Flaw::AnyGeneration;
            let generation = if is_unchecked { world.job.generation } else { view.generation };
            let report = Some(report_name(protocol, status, view));
            let end = Finish { generation, report, ..Finish::new(status, totals, world.now()) };
            finish(protocol, world, &end, view)
        }
        _ => None,
    }
}

fn read(protocol: &Protocol, world: &World, generation: u32) -> Option<Step> {
    let (job, view) = (&world.job, View::new(&world.job));
    match job.stage {
        _ if job.generation != generation => None,
        Stage::Done => None,
        Stage::Stopping if protocol.flaw == Flaw::StatusBeforeClose => Some(stopped(world, view)),
        Stage::Stopping => close_from(view.carried_over.groups, view).or_else(|| Some(stopped(world, view))),
        _ => protocol.all_done(job).then_some(Step::Report { status: Status::Completed, view }),
    }
}

fn close_from(group: u32, view: View) -> Option<Step> {
    (group < view.groups).then_some(Step::Close { group, view })
}

fn stopped(world: &World, view: View) -> Step {
    Step::Report { status: world.job.stop.as_ref().map_or(Status::Failed, |stop| stop.status), view }
}

fn close(world: &mut World, number: u32) {
    let group = &mut world.groups[number as usize];
    group.open = false;
    world.record.closed.entry(number).or_insert(group.counts);
}

fn finish(protocol: &Protocol, world: &mut World, end: &Finish, view: View) -> Option<Step> {
    if protocol.flaw == Flaw::StatusTwice && world.job.status.is_final() {
        world.job = Job { status: Status::Running, stage: Stage::Processing, ..world.job.clone() };
    }
    match world.job.finish(end) {
        Transition::Made(_) => {
            world.record.finishes += 1;
            world.record.reports.extend(world.job.completion.report.clone());
            world.record.sealed.get_or_insert(world.readable());
            close_from(view.carried_over.groups, view).filter(|_| protocol.flaw == Flaw::StatusBeforeClose)
        }
        Transition::Refused => (protocol.flaw != Flaw::CompletionGivesUp).then_some(Step::Read),
    }
}

/// Returns the name of a report. Invocations with the same view write the same report, so they can share a name here.
/// The attempt alone is not enough: an attempt that resumes from a checkpoint continues across a stop.
fn report_name(protocol: &Protocol, status: Status, view: View) -> String {
    let attempt = if protocol.flaw == Flaw::ReportsShareNames { String::new() } else { format!(" {status:?}") };
    format!("{}{attempt}", view.generation)
}

/// Places every item of the file by the cursors and the work files that they name.
pub(crate) fn build(protocol: &Protocol, world: &World, view: &View) -> Report {
    place_all(protocol, world, view, |_, cursor| chain(world, cursor))
}

fn write(protocol: &Protocol, world: &World, view: &View) -> Report {
    if protocol.flaw != Flaw::UnvouchedFiles {
        return build(protocol, world, view);
    }
    place_all(protocol, world, view, |id, _| world.files.values().filter(|file| file.chunk == id).collect())
}

/// Places every item of the file. `files` returns the work files of a chunk with this cursor.
fn place_all<'a>(
    protocol: &Protocol,
    world: &World,
    view: &View,
    files: impl Fn(ChunkId, Option<&Cursor>) -> Vec<&'a File>,
) -> Report {
    let mut report = vec![vec![]; protocol.item_count()];
    for (group, chunks) in (0..view.groups).zip(&world.manifests) {
        for (chunk, own) in (0..).zip(chunks) {
            let id = ChunkId { group, chunk };
            let cursor = world.cursor(id);
            let mut places_in_chunk = vec![vec![]; report.len()];
            place(&mut places_in_chunk, own, cursor, &files(id, cursor));
            for (places, in_chunk) in report.iter_mut().zip(places_in_chunk) {
                places.extend(in_chunk.into_iter().filter_map(|place| place_in_generation(view, id, place)));
            }
        }
    }
    add_unsplit(&mut report, view);
    report
}

/// Returns the place of an item in this generation, given its place in a chunk.
///
/// An item that succeeded or was skipped in an older generation keeps its place. A replanned item is in another chunk.
/// Any other item of an older generation is unprocessed.
fn place_in_generation(view: &View, chunk: ChunkId, place: ItemEnd) -> Option<ItemEnd> {
    let is_final = matches!(place, ItemEnd::Succeeded | ItemEnd::Skipped);
    if is_final || chunk.group >= view.carried_over.groups {
        return Some(place);
    }
    (chunk >= view.replanned).then_some(ItemEnd::Unprocessed)
}

/// Adds the items after the split position.
fn add_unsplit(report: &mut Report, view: &View) {
    let split = (view.split_offset / crate::protocol::ITEM_BYTES) as usize;
    for places in report.iter_mut().skip(split) {
        places.push(ItemEnd::Unprocessed);
    }
}
