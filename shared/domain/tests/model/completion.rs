//! Completion: closes open groups if the job is stopping, writes the report, and sets the final status once.
//!
//! It acts on the job as read, and on the groups that this image names. If the final write is refused, it reads again:
//! a stop may have come first. A message of an earlier generation has no effect.

use longshore_domain::ids::ChunkId;
use longshore_domain::job::{Finish, Job, Stage, Status, Transition};
use longshore_domain::outcome::Counts;

use crate::flaw::Flaw;
use crate::item::{ItemEnd, Report};
use crate::protocol::Protocol;
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
        Step::Finish { totals, status, view } => finish(protocol, world, (status, totals), view),
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

fn finish(protocol: &Protocol, world: &mut World, (status, totals): (Status, Counts), view: View) -> Option<Step> {
    let generation = if protocol.flaw == Flaw::AnyGeneration { world.job.generation } else { view.generation };
    let report = Some(report_name(protocol, status, view));
    let finish = Finish { generation, status, totals, report, error: None, at: world.now() };
    if protocol.flaw == Flaw::StatusTwice && world.job.status.is_final() {
        world.job = Job { status: Status::Running, stage: Stage::Processing, ..world.job.clone() };
    }
    match world.job.finish(&finish) {
        Transition::Made(_) => {
            world.record.finishes += 1;
            world.record.reports.extend(world.job.completion.report.clone());
            world.record.sealed.get_or_insert(world.readable());
            close_from(view.carried_over.groups, view).filter(|_| protocol.flaw == Flaw::StatusBeforeClose)
        }
        Transition::Refused => (protocol.flaw != Flaw::CompletionGivesUp).then_some(Step::Read),
    }
}

/// Returns the name of a report. Invocations with the same view write the same report, so they may share a name here.
/// The attempt alone is not enough: over a checkpoint it continues across a stop.
fn report_name(protocol: &Protocol, status: Status, view: View) -> String {
    let attempt = if protocol.flaw == Flaw::ReportsShareNames { String::new() } else { format!(" {status:?}") };
    format!("{}{attempt}", view.generation)
}

/// Places every item of the file by the cursors and their chains, as read for this generation.
pub(crate) fn build(protocol: &Protocol, world: &World, view: &View) -> Report {
    place_all(protocol, world, view, false)
}

fn write(protocol: &Protocol, world: &World, view: &View) -> Report {
    place_all(protocol, world, view, protocol.flaw == Flaw::UnvouchedFiles)
}

fn place_all(protocol: &Protocol, world: &World, view: &View, unvouched: bool) -> Report {
    let mut report = vec![vec![]; protocol.item_count()];
    for (g, chunks) in (0..view.groups).zip(&world.manifests) {
        for (c, own) in (0..).zip(chunks) {
            let cursor = world.groups[g as usize].cursors.get(&c);
            let files = if unvouched {
                world.files.values().filter(|file| file.chunk == (g, c)).collect()
            } else {
                chain(world, cursor)
            };
            let mut placed = vec![vec![]; report.len()];
            place(&mut placed, own, cursor, &files);
            for (all, places) in report.iter_mut().zip(placed) {
                all.extend(places.into_iter().filter_map(|place| seen_by(view, (g, c), place)));
            }
        }
    }
    unsplit(&mut report, view);
    report
}

/// Returns the place of an item in this generation, given its place in a chunk. An item that ended for good in an older
/// generation keeps its place; a replanned item is in another chunk; any other has not been processed.
fn seen_by(view: &View, (group, chunk): (u32, u32), place: ItemEnd) -> Option<ItemEnd> {
    let ended = matches!(place, ItemEnd::Succeeded | ItemEnd::Skipped);
    if ended || group >= view.carried_over.groups {
        return Some(place);
    }
    (ChunkId { group, chunk } >= view.replanned).then_some(ItemEnd::Unprocessed)
}

/// Adds the items after the last part of the file that was split.
fn unsplit(report: &mut Report, view: &View) {
    let split = (view.split_offset / crate::protocol::ITEM_BYTES) as usize;
    for places in report.iter_mut().skip(split) {
        places.push(ItemEnd::Unprocessed);
    }
}
