//! Completion: close what is still open if the job stops, report, and give the final status once.
//!
//! It acts on the job as it reads it, and on as many groups as that very image says. Refused at the end, it reads
//! again: a stop may have come first.

use longshore_domain::job::{Finish, Stage, Status, Transition};
use longshore_domain::progress::counts;

use crate::bounds::Flaw;
use crate::protocol::Protocol;
use crate::report::{chain, place};
use crate::world::{Report, Step, World};

/// The step after this one; `None` if the message is acknowledged.
pub(crate) fn next(protocol: &Protocol, world: &mut World, step: &Step) -> Option<Step> {
    match *step {
        Step::Read => read(protocol, world),
        Step::Close { group, groups } => {
            close(world, group);
            Some(if group + 1 < groups { Step::Close { group: group + 1, groups } } else { stopped(world) })
        }
        Step::Report { status } => {
            world.report = Some(write(protocol, world));
            world.reported = (protocol.flaw == Flaw::ReportNamesStatus).then_some(status);
            Some(Step::Finish { totals: counts(&world.job, &world.groups), status })
        }
        Step::Finish { totals, status } => {
            let finish = Finish { generation: 0, status, totals, error: None, at: world.now() };
            match world.job.finish(&finish) {
                Transition::Made(_) => {
                    world.record.finishes += 1;
                    world.record.sealed = Some(world.readable());
                    None
                }
                Transition::Refused => (protocol.flaw != Flaw::CompletionGivesUp).then_some(Step::Read),
            }
        }
        _ => None,
    }
}

fn read(protocol: &Protocol, world: &World) -> Option<Step> {
    let job = &world.job;
    let groups = job.groups;
    match job.stage {
        Stage::Done => None,
        Stage::Stopping if groups == 0 => Some(stopped(world)),
        Stage::Stopping => Some(Step::Close { group: 0, groups }),
        _ => protocol.all_done(job).then_some(Step::Report { status: Status::Completed }),
    }
}

fn stopped(world: &World) -> Step {
    Step::Report { status: world.job.stop.as_ref().map_or(Status::Failed, |stop| stop.status) }
}

fn close(world: &mut World, number: u32) {
    let group = &mut world.groups[number as usize];
    group.open = false;
    world.record.closed.entry(number).or_insert(group.counts);
}

/// Every item of the file where the cursors and their chains say.
pub(crate) fn build(protocol: &Protocol, world: &World) -> Report {
    place_all(protocol, world, false)
}

fn write(protocol: &Protocol, world: &World) -> Report {
    place_all(protocol, world, protocol.flaw == Flaw::UnvouchedFiles)
}

fn place_all(protocol: &Protocol, world: &World, unvouched: bool) -> Report {
    let mut report = vec![vec![]; protocol.item_count()];
    for (g, chunks) in (0..).zip(&protocol.file) {
        for (c, _) in (0..).zip(chunks) {
            let cursor = world.groups.get(g as usize).and_then(|group| group.cursors.get(&c));
            let files = if unvouched {
                world.files.values().filter(|file| file.chunk == (g, c)).collect()
            } else {
                chain(world, cursor)
            };
            place(&mut report, &protocol.items(g, c), cursor, &files);
        }
    }
    report
}
